#include "cmd/default_path.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"

#define NAME_BYTES 64

/*
 * Appends the last component of `main`, which is a main class or the path of a jar.  Replaces the
 * characters that are not safe in a file name.
 */
static void add_name(struct buf *out, const char *main)
{
	const char *name = main ? main : "java";
	size_t len;

	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	len = strlen(name);
	if (len > 4 && strcmp(name + len - 4, ".jar") == 0)
		len -= 4;
	else
		name = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	for (size_t i = 0; i < len && name[i] && i < NAME_BYTES; i++)
		buf_addc(out, isalnum((unsigned char)name[i]) || strchr("-_.", name[i]) ? name[i]
										       : '_');
}

char *default_path(const struct jvm *jvm, const char *kind, const char *suffix)
{
	struct buf path = BUF_INIT;
	time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		/* If strftime() fails, the name has no date. */
		(void)strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm);
	buf_addf(&path, "%s-", kind);
	add_name(&path, jvm->main);
	buf_addf(&path, "-%d-%s%s", (int)jvm->pid, date, suffix);
	return buf_take(&path);
}
