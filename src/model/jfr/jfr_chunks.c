#include "model/jfr/jfr_chunks.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

struct head {
	char magic[4];
	uint16_t major, minor;
	uint64_t size; /* bytes of the complete chunk, big-endian; 0 while the JVM is writing it */
};

int64_t jfr_chunks_count(jfr_read_fn *read, void *arg, uint64_t size)
{
	uint64_t at = 0, chunk;
	int64_t n = 0;

	for (; at < size; at += chunk, n++) {
		struct head head;
		int rc;

		if (size - at < JFR_HEADER_LEN)
			return -EBADMSG;
		rc = read(arg, at, &head, sizeof(head));
		if (rc < 0)
			return rc;
		chunk = be64toh(head.size);
		if (memcmp(head.magic, "FLR", sizeof(head.magic)) != 0 || chunk < JFR_HEADER_LEN ||
		    chunk > size - at)
			return -EBADMSG;
	}
	return n > 0 ? n : -EBADMSG;
}
