#include "model/class/class_set_internal.h"

#include <string.h>
#include <strings.h>

#include "base/strview.h"
#include "base/xalloc.h"
#include "archive/zip.h"

/* Limit in bytes for a nested jar that is compressed, because it is unpacked into memory. */
#define INNER_MAX (256u << 20)

static struct strview name_of(const struct zip_entry *entry)
{
	return (struct strview){ entry->name, entry->name + entry->name_len };
}

/*
 * Returns true if the main section of the manifest has the line "Multi-Release: true".  The main
 * section ends at the first empty line.
 */
static bool says_multi_release(const struct buf *manifest)
{
	static const char line_start[] = "Multi-Release: true";
	const size_t len = sizeof(line_start) - 1;
	struct strview text = { buf_str(manifest), buf_str(manifest) + manifest->len }, line;

	while (strview_line(&text, &line)) {
		if (line.end > line.at && line.end[-1] == '\r')
			line.end--;
		if (strview_len(line) == 0)
			return false;
		if (strview_len(line) == len && strncasecmp(line.at, line_start, len) == 0)
			return true;
	}
	return false;
}

static bool is_multi_release(const struct zip *zip)
{
	static const char name[] = "META-INF/MANIFEST.MF";
	_cleanup_buf_ struct buf manifest = BUF_INIT;
	struct zip_entry entry;

	for (size_t at = 0; zip_next(zip, &at, &entry);) {
		if (entry.name_len == sizeof(name) - 1 &&
		    strncasecmp(entry.name, name, entry.name_len) == 0)
			return !zip_read(zip, &entry, CLASS_SET_CLASS_MAX, &manifest) &&
			       says_multi_release(&manifest);
	}
	return false;
}

/*
 * Returns N for an entry below META-INF/versions/N, if N is at least 9; 0 for an entry outside of
 * META-INF; and -1 for other entries of META-INF, which are not on the class path.
 */
static int64_t entry_release(const struct zip_entry *entry)
{
	static const char versions[] = "META-INF/versions/";
	const char *p = entry->name + sizeof(versions) - 1;
	const char *end = entry->name + entry->name_len;
	int64_t n = 0;

	if (!strview_starts_with(name_of(entry), "META-INF/"))
		return 0;
	if (!strview_starts_with(name_of(entry), versions))
		return -1;
	for (; p < end && *p >= '0' && *p <= '9' && n < 10000; p++)
		n = 10 * n + (*p - '0');
	return p < end && *p == '/' && n >= 9 ? n : -1;
}

static char *entry_path(const char *where, const struct zip_entry *entry)
{
	return xasprintf("%s!/%.*s", where, (int)entry->name_len, entry->name);
}

static int add_entry(struct class_set *set, const struct zip *zip, const char *where,
		     const struct zip_entry *entry, struct err *err)
{
	_cleanup_free_ char *path = entry_path(where, entry);
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	const char *why = zip_read(zip, entry, CLASS_SET_CLASS_MAX, &bytes);

	if (why)
		return err_set(err, EXIT_USAGE, "cannot read '%s': %s", path, why);
	return class_set_take(set, path, &bytes, err);
}

/* Returns true if the jar has class files below META-INF/versions. */
static bool has_versions(const struct zip *zip)
{
	struct zip_entry entry;

	for (size_t at = 0; zip_next(zip, &at, &entry);) {
		if (entry_release(&entry) > 0 && strview_ends_with(name_of(&entry), ".class"))
			return true;
	}
	return false;
}

/*
 * Adds the classes of a jar.  Of several classes with one name, the set keeps the first.  So this
 * function starts with the highest release that is at most `release`, continues with the lower
 * releases, and ends with the classes outside of META-INF.
 */
static int add_classes(struct class_set *set, const struct zip *zip, const char *where,
		       unsigned release, struct err *err)
{
	bool is_multi = (release == 0 || release >= 9) && has_versions(zip) &&
			is_multi_release(zip);
	int64_t now = is_multi ? release : 0, next;
	struct zip_entry entry;

	if (is_multi && release == 0)
		return err_set(err, EXIT_ANSWER,
			       "'%s' has classes for several JDK releases, and the JVM's release "
			       "is unknown; unpack it, and give the class files of the JVM's "
			       "release", where);
	for (; now >= 0; now = next) {
		next = now > 0 ? 0 : -1;
		for (size_t at = 0; zip_next(zip, &at, &entry);) {
			int64_t n = entry_release(&entry);

			if (n < now && n > next)
				next = n;
			if (n == now && strview_ends_with(name_of(&entry), ".class") &&
			    add_entry(set, zip, where, &entry, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int add_inner_jar(struct class_set *set, const struct zip *outer, const char *where,
			 const struct zip_entry *entry, unsigned release, struct err *err)
{
	_cleanup_free_ char *path = entry_path(where, entry);
	struct zip zip;
	const char *why = zip_open_inner(&zip, outer, entry, INNER_MAX);
	int rc;

	if (why)
		return err_set(err, EXIT_USAGE, "cannot read '%s': %s", path, why);
	rc = add_classes(set, &zip, path, release, err);
	zip_release(&zip);
	return rc;
}

/*
 * Returns true if Spring Boot or a servlet container would load the entry as a nested jar.  Jars
 * within a nested jar are ignored.
 */
static bool is_inner_jar(const struct zip_entry *entry)
{
	return strview_ends_with(name_of(entry), ".jar") &&
	       (strview_starts_with(name_of(entry), "BOOT-INF/lib/") ||
		strview_starts_with(name_of(entry), "WEB-INF/lib/"));
}

static int add_zip(struct class_set *set, const struct zip *zip, const char *where,
		   unsigned release, struct err *err)
{
	struct zip_entry entry;

	if (add_classes(set, zip, where, release, err) < 0)
		return -1;
	for (size_t at = 0; zip_next(zip, &at, &entry);) {
		if (is_inner_jar(&entry) &&
		    add_inner_jar(set, zip, where, &entry, release, err) < 0)
			return -1;
	}
	return 0;
}

int class_set_add_jar(struct class_set *set, const char *path, int fd, uint64_t len,
		      unsigned release, struct err *err)
{
	const struct zip_bytes bytes = { .fd = fd, .len = len };
	struct zip zip;
	const char *why = zip_open(&zip, &bytes);
	int rc;

	if (why)
		return err_set(err, EXIT_USAGE, "'%s' is neither a class file nor a jar: %s", path,
			       why);
	rc = add_zip(set, &zip, path, release, err);
	zip_release(&zip);
	return rc;
}
