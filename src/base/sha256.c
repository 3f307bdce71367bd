#include "base/sha256.h"

#include <sha2.h>
#include <stdint.h>

_Static_assert(SHA256_HEX_LEN + 1 == SHA256_DIGEST_STRING_LENGTH, "as libmd writes it");

const char *sha256_hex(const void *data, size_t len, char text[static SHA256_HEX_LEN + 1])
{
	return SHA256Data(data, len, text);
}

const char *sha256_base64(const void *data, size_t len, char text[static SHA256_BASE64_LEN + 1])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	/* one byte more than the digest, because base64 encodes groups of 3 bytes */
	uint8_t digest[SHA256_DIGEST_LENGTH + 1] = { 0 };
	SHA2_CTX sha;
	char *out = text;

	SHA256Init(&sha);
	SHA256Update(&sha, data, len);
	SHA256Final(digest, &sha);
	for (size_t i = 0; i < sizeof(digest); i += 3) {
		uint32_t bits = (uint32_t)digest[i] << 16 | digest[i + 1] << 8 | digest[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			*out++ = digits[bits >> shift & 0x3f];
	}
	out[-1] = '='; /* padding: the last digit has only bits of the extra byte */
	*out = '\0';
	return text;
}
