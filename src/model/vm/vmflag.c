/* The type, kind and value of one flag. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "model/vm/vmflags.h"

static const struct vmflag_type {
	const char *name;
	enum vmflag_form form;
	bool is_int; /* the type has 32 bits; other integer types are as wide as a machine word */
} types[] = {
	{ "bool", VMFLAG_BOOL, false },
	{ "int", VMFLAG_SIGNED, true },
	{ "intx", VMFLAG_SIGNED, false },
	{ "uint", VMFLAG_UNSIGNED, true },
	{ "uintx", VMFLAG_UNSIGNED, false },
	{ "size_t", VMFLAG_UNSIGNED, false },
	{ "uint64_t", VMFLAG_UNSIGNED, false },
	{ "double", VMFLAG_DOUBLE, false },
	{ "ccstr", VMFLAG_TEXT, false },
};

static const struct vmflag_type *type_of(const struct vmflag *flag)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(types) - 1 && strcmp(types[i].name, flag->type) != 0)
		i++;
	return &types[i];
}

enum vmflag_form vmflag_form(const struct vmflag *flag)
{
	return type_of(flag)->form;
}

/*
 * Returns whether the attach listener can set the flag.  Flags of the kind "product rw" do not
 * count, because the attach listener of JDK 8 does not set them.
 */
bool vmflag_is_manageable(const struct vmflag *flag)
{
	return strstr(flag->kind, "manageable") != NULL;
}

void vmflag_append_option(const struct vmflag *flag, struct buf *out)
{
	if (vmflag_form(flag) == VMFLAG_BOOL) {
		buf_addf(out, "-XX:%c%s", strcmp(flag->value, "true") == 0 ? '+' : '-',
			 flag->name);
		return;
	}
	buf_addf(out, "-XX:%s=", flag->name);
	/* The values of a ccstrlist are separated by newlines: write one option for each value. */
	for (const char *p = flag->value; *p; p++) {
		if (*p == '\n')
			buf_addf(out, " -XX:%s=", flag->name);
		else
			buf_addc(out, *p);
	}
}

/* Appends "1" or "0", because the JVM of JDK 8 accepts only numbers for a bool. */
static int add_bool(const char *value, struct buf *out)
{
	bool on = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;

	if (!on && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0)
		return -EINVAL;
	buf_addc(out, on ? '1' : '0');
	return 0;
}

static unsigned unit_shift(char unit)
{
	switch (unit | 0x20) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	case 't':
		return 40;
	default:
		return 0;
	}
}

static int add_number(const char *value, uint64_t max, struct buf *out)
{
	char *rest;
	uint64_t n;
	unsigned shift = 0;

	if (*value < '0' || *value > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(value, &rest, 10);
	if (*rest) {
		shift = unit_shift(*rest++);
		if (shift == 0 || *rest)
			return -EINVAL;
	}
	if (errno || n > max >> shift)
		return -ERANGE;
	buf_addf(out, "%" PRIu64, n << shift);
	return 0;
}

static int add_signed(const struct vmflag *flag, const char *value, struct buf *out)
{
	uint64_t max = type_of(flag)->is_int ? INT_MAX : INT64_MAX;

	if (*value != '-')
		return add_number(value, max, out);
	buf_addc(out, '-');
	return add_number(value + 1, max + 1, out);
}

static int add_double(const char *value, struct buf *out)
{
	size_t len = strlen(value);
	char *rest;

	/* Reject hexadecimal numbers, inf and nan, which strtod(3) accepts. */
	if (len == 0 || strspn(value, "0123456789.-+eE") != len)
		return -EINVAL;
	(void)strtod(value, &rest);
	if (*rest)
		return -EINVAL;
	buf_adds(out, value);
	return 0;
}

int vmflag_wire_value(const struct vmflag *flag, const char *value, struct buf *out,
		      struct err *err)
{
	static const char *const wants[] = {
		[VMFLAG_BOOL] = "true or false",
		[VMFLAG_SIGNED] = "a whole number",
		[VMFLAG_UNSIGNED] = "a whole number of at least 0",
		[VMFLAG_DOUBLE] = "a number",
		[VMFLAG_TEXT] = "text",
	};
	enum vmflag_form form = vmflag_form(flag);
	int rc = 0;

	switch (form) {
	case VMFLAG_BOOL:
		rc = add_bool(value, out);
		break;
	case VMFLAG_SIGNED:
		rc = add_signed(flag, value, out);
		break;
	case VMFLAG_UNSIGNED:
		rc = add_number(value, type_of(flag)->is_int ? UINT_MAX : UINT64_MAX, out);
		break;
	case VMFLAG_DOUBLE:
		rc = add_double(value, out);
		break;
	case VMFLAG_TEXT:
		buf_adds(out, value);
		break;
	}
	if (rc == -ERANGE)
		return err_set(err, EXIT_ANSWER,
			       "invalid value '%s' for %s (%s): expected a number in the range of "
			       "its type", value, flag->name, flag->type);
	if (rc < 0)
		return err_set(err, EXIT_ANSWER, "invalid value '%s' for %s (%s): expected %s",
			       value, flag->name, flag->type, wants[form]);
	return 0;
}
