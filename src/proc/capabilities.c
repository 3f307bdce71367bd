#include "proc/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The capget(2) and capset(2) arguments: two structs for 64 capabilities, the lower 32 first. */
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

bool capabilities_any(void)
{
	struct sets own;

	return read_own(&own) && (own.data[0].permitted | own.data[1].permitted) != 0;
}

void capabilities_limit_bounding(uint64_t max)
{
	/*
	 * prctl(2) fails with EINVAL if `i` is above the kernel's last capability, and with EPERM
	 * if the thread lacks CAP_SETPCAP.  In both cases nothing is left to do.
	 */
	for (int i = 0; i < 64; i++) {
		if (!(max & UINT64_C(1) << i) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return;
	}
}

int capabilities_limit(const struct capability_sets *max)
{
	struct sets own;

	capabilities_limit_bounding(max->bounding);
	/* EINVAL: Linux before 4.3 has no ambient set. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -errno;
	if (!read_own(&own))
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		own.data[i].inheritable &= (uint32_t)(max->inheritable >> 32 * i);
		own.data[i].permitted &= (uint32_t)(max->permitted >> 32 * i);
		own.data[i].effective &= (uint32_t)(max->effective >> 32 * i) &
					 own.data[i].permitted;
	}
	return syscall(SYS_capset, &own.head, own.data) < 0 ? -errno : 0;
}
