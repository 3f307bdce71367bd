/*
 * Replaces secrets in texts about a JVM: properties, environment, command lines, logs.  Does
 * no I/O.
 *
 * A value is a secret if its name contains password, passwd, passphrase, secret, token, credential,
 * apikey, private, authorization, or the word key, or ends with pass or pwd.  These forms are
 * recognised: NAME=VALUE, NAME: VALUE, "NAME":"VALUE", --NAME VALUE, NAME: Bearer VALUE, NAME:
 * Basic VALUE.  User information in URLs (//user:password@host) is a secret without a name.  A
 * secret under another name is not found.
 *
 * A value that was found once can be learned (struct secrets), and is then found without its name,
 * for example in logs.
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
	struct secret *values;
	size_t n, cap;
	bool begins[256]; /* begins[b]: one of the values begins with byte b */
};
void secrets_release(struct secrets *s);

/* Adds a value.  If it is user:password, adds the password as a second value. */
void secrets_add(struct secrets *s, const char *value, size_t len);
/* Adds the values in a text that secrets_mask() would replace. */
void secrets_learn(struct secrets *s, const char *text, size_t len);
/* As secrets_learn(), but adds only user information in URLs. */
void secrets_learn_urls(struct secrets *s, const char *text, size_t len);
/*
 * As secrets_learn(), for arguments or NAME=VALUE texts.  Each text ends with a NUL, which `len`
 * need not count for the last text.
 */
void secrets_learn_args(struct secrets *s, const char *args, size_t len);
/*
 * Overwrites each known value in `data` with asterisks of the same length, so that a binary file
 * stays valid.  Returns the number of values.
 */
size_t secrets_overwrite(const struct secrets *s, char *data, size_t len);

#endif
