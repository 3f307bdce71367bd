/* SHA-256 of a file's bytes, as sha256sum(1) prints it. */
#ifndef JTOOL_BASE_DIGEST_H
#define JTOOL_BASE_DIGEST_H

#include <stddef.h>

#define DIGEST_LEN 64 /* hexadecimal digits */

const char *digest_of(const void *data, size_t len, char text[static DIGEST_LEN + 1]);

/* The same as RFC 4648 has it, as web pages name what may run in them. */
#define DIGEST_BASE64_LEN 44

const char *digest_base64(const void *data, size_t len, char text[static DIGEST_BASE64_LEN + 1]);

#endif
