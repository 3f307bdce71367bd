/*
 * Replaces secrets in texts about a JVM: properties, environment, command lines, logs.  Pure.
 *
 * A value is a secret if its name contains password, passwd, passphrase, secret, token, credential,
 * apikey, private, or the word key: NAME=VALUE, NAME: VALUE, "NAME":"VALUE", --NAME VALUE.  User
 * information in URLs is a secret, too: //user:password@host.  What has another name is not found.
 *
 * Values that were found once can be found again without their names, in logs for example.
 */
#ifndef JTOOL_MODEL_VM_SECRETS_H
#define JTOOL_MODEL_VM_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SECRETS_MASK "********"

/* Appends the text with each secret replaced by SECRETS_MASK.  Returns how many were replaced. */
size_t secrets_mask(struct buf *out, const char *text, size_t len);
/* The same for user information in URLs only. */
size_t secrets_mask_urls(struct buf *out, const char *text, size_t len);
/* Returns whether the value of this name is a secret. */
bool secrets_is_name(const char *name, size_t len);

struct secret {
	char *text;
	size_t len;
};

/* Values that are secrets; zero-initialised: none.  Those of less than 6 bytes are not added. */
struct secrets {
	struct secret *values;
	size_t n, cap;
	bool begins[256]; /* whether a value begins with this byte */
};
void secrets_release(struct secrets *s);

/* Adds a value; of user:password, also the password. */
void secrets_add(struct secrets *s, const char *value, size_t len);
/* Adds the values that secrets_mask() would replace. */
void secrets_learn(struct secrets *s, const char *text, size_t len);
/* The same for user information in URLs only. */
void secrets_learn_urls(struct secrets *s, const char *text, size_t len);
/* The same for arguments, or NAME=VALUE; each ends with a NUL, the last one maybe at args[len]. */
void secrets_learn_args(struct secrets *s, const char *args, size_t len);
/*
 * Overwrites each known value with asterisks, in place, so that a binary file keeps its structure.
 * Returns how many were overwritten.
 */
size_t secrets_overwrite(const struct secrets *s, char *data, size_t len);

#endif
