/* The -XX flags of a JVM, from VM.flags -all. */
#ifndef JTOOL_MODEL_VM_VMFLAGS_H
#define JTOOL_MODEL_VM_VMFLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* The forms of a flag's value.  The flag's type determines the form. */
enum vmflag_form {
	VMFLAG_BOOL,
	VMFLAG_SIGNED,   /* int, intx */
	VMFLAG_UNSIGNED, /* uint, uintx, size_t, uint64_t */
	VMFLAG_DOUBLE,
	VMFLAG_TEXT,     /* ccstr, ccstrlist, and unknown types */
};

struct vmflag {
	char *type;   /* "bool", "uintx", "ccstr", … */
	char *name;
	char *value;  /* "true", "42", "0.950000", or a text without trailing spaces */
	char *kind;   /* "product", "manageable", "C2 diagnostic", … */
	char *origin; /* "default", "command line", "ergonomic", …; JDK 8: "default" or "changed" */
};

struct vmflags {
	struct vmflag *items; /* flags in the order in which the JVM prints them */
	size_t n, cap;
};

/*
 * Parses the text, which is the output of VM.flags -all, into an empty `flags`.  Returns 0, or
 * -EBADMSG if the text is invalid or truncated.  Release `flags` also after an error.
 */
int vmflags_parse(struct vmflags *flags, const char *text, size_t len) _must_check_;
void vmflags_release(struct vmflags *flags);

/* Removes the flags whose names do not match the glob. */
void vmflags_filter(struct vmflags *flags, const char *glob);

/* Returns the flag with this name, or NULL. */
const struct vmflag *vmflags_find(const struct vmflags *flags, const char *name);

/*
 * Returns the flag that makes the JVM write a CDS or AOT archive (usually at exit), or NULL if none
 * does.
 */
const struct vmflag *vmflags_archiving(const struct vmflags *flags);

enum vmflag_form vmflag_form(const struct vmflag *flag);

/* Returns whether the flag can be set while the JVM runs. */
bool vmflag_is_manageable(const struct vmflag *flag);

/* Appends the flag as an option of java: "-XX:+Foo", "-XX:Foo=42". */
void vmflag_append_option(const struct vmflag *flag, struct buf *out);

/*
 * Converts `value` to the form that the attach operation setflag needs: 1 or 0 for a bool, and
 * plain digits for a number with a unit (k, m, g, t).  HotSpot parses numbers with sscanf(3), and
 * would read 512m as 512.  Returns 0, or -1 with err set (EXIT_ANSWER) if the value does not fit
 * the flag's type.
 */
int vmflag_wire_value(const struct vmflag *flag, const char *value, struct buf *out,
		      struct err *err) _must_check_;

#endif
