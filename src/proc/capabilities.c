#include "proc/capabilities.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Two structs for 64 capabilities, the lower ones first (capget(2)). */
struct sets {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static bool read_own(struct sets *sets)
{
	sets->head = (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
	return syscall(SYS_capget, &sets->head, sets->data) == 0;
}

bool capabilities_has(int capability)
{
	struct sets own;

	return read_own(&own) && own.data[CAP_TO_INDEX(capability)].effective &
					 CAP_TO_MASK(capability);
}
