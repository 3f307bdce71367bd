/*
 * The flags of a JVM (-XX), as its VM.flags -all lists them.
 */
#ifndef JTOOL_MODEL_VMFLAGS_H
#define JTOOL_MODEL_VMFLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What the JVM's type names come to. */
enum vmflag_form {
	VMFLAG_BOOL,
	VMFLAG_SIGNED,   /* int, intx */
	VMFLAG_UNSIGNED, /* uint, uintx, size_t, uint64_t */
	VMFLAG_DOUBLE,
	VMFLAG_TEXT,     /* ccstr, ccstrlist, and types to come */
};

struct vmflag {
	char *type;   /* "bool", "uintx", "ccstr", … */
	char *name;
	char *value;  /* "true", "42", "0.950000", or a text, whose blanks at the end are lost */
	char *kind;   /* "product", "manageable", "C2 diagnostic", … */
	char *origin; /* "default", "command line", "ergonomic", …; JDK 8 knows just "changed" */
};

struct vmflags {
	struct vmflag *items; /* as the JVM lists them */
	size_t n, cap;
};

/*
 * Read the text of VM.flags -all, JDK 8 to 27.  -EBADMSG when it is none, or was cut off.
 * `flags` is empty before, and to be released in any case.
 */
int vmflags_parse(struct vmflags *flags, const char *text, size_t len) _must_check_;
void vmflags_release(struct vmflags *flags);

/* Keep those whose name matches. */
void vmflags_filter(struct vmflags *flags, const char *glob);

/* NULL: there is none of this name. */
const struct vmflag *vmflags_find(const struct vmflags *flags, const char *name);

/*
 * The flag for which the JVM will write an archive of its classes (CDS, AOT), mostly as it ends;
 * NULL: it will write none.
 */
const struct vmflag *vmflags_archiving(const struct vmflags *flags);

enum vmflag_form vmflag_form(const struct vmflag *flag);

/* May it be set while the JVM runs? */
bool vmflag_is_manageable(const struct vmflag *flag);

/* As on a java command line: "-XX:+Foo", "-XX:Foo=42". */
void vmflag_spell(const struct vmflag *flag, struct buf *out);

/*
 * A value to set, as the attach operation setflag wants it: 1 and 0 for a bool, plain digits for
 * a number that may have the units of -XX (k, m, g, t).  HotSpot itself takes from a number what
 * sscanf(3) can make of it: 512m would become 512.  -1 with err set (EXIT_ANSWER): the value is
 * none of this flag's type.
 */
int vmflag_wire_value(const struct vmflag *flag, const char *value, struct buf *out,
		      struct err *err) _must_check_;

#endif
