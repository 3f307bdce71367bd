/* SHA-256 of a file's bytes, as sha256sum(1) prints it. */
#ifndef JTOOL_BASE_DIGEST_H
#define JTOOL_BASE_DIGEST_H

#include <stddef.h>

#define DIGEST_LEN 64 /* hexadecimal digits */

const char *digest_of(const void *data, size_t len, char text[static DIGEST_LEN + 1]);

#endif
