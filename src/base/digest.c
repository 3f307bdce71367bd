#include "base/digest.h"

#include <sha2.h>

_Static_assert(DIGEST_LEN + 1 == SHA256_DIGEST_STRING_LENGTH, "as libmd writes it");

const char *digest_of(const void *data, size_t len, char text[static DIGEST_LEN + 1])
{
	return SHA256Data(data, len, text);
}
