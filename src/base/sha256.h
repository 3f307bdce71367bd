/* SHA-256 digests as text. */
#ifndef JTOOL_BASE_SHA256_H
#define JTOOL_BASE_SHA256_H

#include <stddef.h>

#define SHA256_HEX_LEN 64 /* hexadecimal digits */

/* Stores the digest of `data` in hexadecimal, as sha256sum(1) prints it.  Returns `text`. */
const char *sha256_hex(const void *data, size_t len, char text[static SHA256_HEX_LEN + 1]);

#define SHA256_BASE64_LEN 44
/* Stores the digest in base64 (RFC 4648), for a Content-Security-Policy.  Returns `text`. */
const char *sha256_base64(const void *data, size_t len, char text[static SHA256_BASE64_LEN + 1]);

#endif
