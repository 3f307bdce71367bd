/* SHA-256 digests as text. */
#ifndef JTOOL_BASE_SHA256_H
#define JTOOL_BASE_SHA256_H

#include <stddef.h>

#define SHA256_HEX_LEN 64 /* hexadecimal digits */

/* Returns `text`, filled as sha256sum(1) prints it. */
const char *sha256_hex(const void *data, size_t len, char text[static SHA256_HEX_LEN + 1]);

#define SHA256_BASE64_LEN 44
/* Returns `text`, filled with base64 (RFC 4648), as a Content-Security-Policy needs it. */
const char *sha256_base64(const void *data, size_t len, char text[static SHA256_BASE64_LEN + 1]);

#endif
