/*
 * Replaces secrets in texts about a JVM: properties, environment, flags and command lines.  Pure.
 *
 * A value is a secret if its name contains password, passwd, secret, token, credential, apikey,
 * private, or ends in key: NAME=VALUE, NAME: VALUE, "NAME":"VALUE", --NAME VALUE.  User information
 * in URLs is a secret, too: //user:password@host.  Secrets with other names are not found.
 */
#ifndef JTOOL_MODEL_VM_SECRETS_H
#define JTOOL_MODEL_VM_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SECRETS_MASK "********"

/* Appends the text with each secret replaced by SECRETS_MASK.  Returns how many were replaced. */
size_t secrets_mask(struct buf *out, const char *text, size_t len);
/* Returns whether the value of this name is a secret. */
bool secrets_is_name(const char *name, size_t len);

#endif
