/*
 * Replaces secrets in texts about a JVM: properties, environment, command lines, logs.  Does
 * no I/O.
 *
 * A value is a secret in these cases:
 *   its name contains password, passwd, passphrase, secret, token, credential, apikey (or api_key,
 *   api-key), private, authorization, or the word key;
 *   its name ends with key, keys, pass, auth or pwd (but is not PWD or OLDPWD in capitals);
 *   it is the user information of a URL (//user:password@host); it then has no name.
 * A secret with another name is not found.  A name and its value have one of these forms:
 *   NAME=VALUE    NAME: VALUE    NAME: Bearer VALUE    NAME: Basic VALUE
 *   "NAME":"VALUE"    --NAME VALUE
 *
 * A value that was found once can be added to a struct secrets.  It is then found wherever it
 * occurs without its name, for example in logs.
 */
#ifndef JTOOL_MODEL_VM_SECRETS_H
#define JTOOL_MODEL_VM_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SECRETS_MASK "********"

/*
 * Appends the text with SECRETS_MASK in the place of each secret.  Returns the number of secrets.
 */
size_t secrets_mask(struct buf *out, const char *text, size_t len);
/* As secrets_mask(), but masks only user information in URLs. */
size_t secrets_mask_urls(struct buf *out, const char *text, size_t len);
/* Returns whether a value with this name is a secret. */
bool secrets_is_name(const char *name, size_t len);

struct secret {
	char *text;
	size_t len;
};

/*
 * A set of secret values; a zero-initialised one is empty.  Values of less than 6 bytes are not
 * added.
 */
struct secrets {
	struct secret *values; /* in ascending order */
	size_t n, cap;
	bool begins[256]; /* begins[b]: at least one of the values begins with byte b */
};
void secrets_release(struct secrets *s);

/* Adds a value.  If it is user:password, adds the password as a second value. */
void secrets_add(struct secrets *s, const char *value, size_t len);
/* Adds each value that secrets_mask() would mask in this text. */
void secrets_learn(struct secrets *s, const char *text, size_t len);
/* As secrets_learn(), but adds only user information in URLs. */
void secrets_learn_urls(struct secrets *s, const char *text, size_t len);
/*
 * As secrets_learn(), for a list of command-line arguments or of NAME=VALUE texts.  Each of them
 * ends with a NUL; `len` need not include the last NUL.
 */
void secrets_learn_args(struct secrets *s, const char *args, size_t len);
/*
 * Overwrites each occurrence of a known value in `data` with as many asterisks as it has bytes, so
 * that a binary file stays valid.  Of a longer value, also overwrites its first bytes where these
 * are at least 256.  Returns the number of occurrences.
 */
size_t secrets_overwrite(const struct secrets *s, char *data, size_t len);

#endif
