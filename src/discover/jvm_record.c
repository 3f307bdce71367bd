#include "discover/jvm_record.h"

#include <string.h>

#include "base/xalloc.h"

#define NO_TEXT UINT32_MAX

/*
 * The members of struct jvm that are not texts.  A record begins with this struct.  The texts
 * follow, each preceded by its length.
 */
struct fixed {
	int64_t pid, nspid, uid, gid;
	uint64_t start_ticks;
	double uptime;
	int64_t heap_used, heap_max, heap_committed, heap_bound, classes, listed_ns;
	uint32_t attach;
	uint32_t flags;
};

enum {
	HAS_PERFDATA = 1,
	IS_HOTSPOT = 2,
	NO_ATTACH = 4,
	STARTING = 8,
	INITIALISED = 16,
	ALL_FLAGS = 31,
};

static const size_t texts[] = {
	offsetof(struct jvm, version),	offsetof(struct jvm, vm),
	offsetof(struct jvm, gc),	offsetof(struct jvm, main),
	offsetof(struct jvm, args),	offsetof(struct jvm, flags),
	offsetof(struct jvm, container), offsetof(struct jvm, perfdata),
	offsetof(struct jvm, perfdata_link), offsetof(struct jvm, tmp),
	offsetof(struct jvm, hung),
};

static char **text_of(const struct jvm *jvm, size_t i)
{
	return (char **)((char *)jvm + texts[i]);
}

static uint32_t flags_of(const struct jvm *jvm)
{
	return (jvm->has_perfdata ? HAS_PERFDATA : 0u) | (jvm->is_hotspot ? IS_HOTSPOT : 0u) |
	       (jvm->no_attach ? NO_ATTACH : 0u) | (jvm->starting ? STARTING : 0u) |
	       (jvm->initialised ? INITIALISED : 0u);
}

void jvm_record_add(struct buf *out, const struct jvm *jvm)
{
	const struct fixed fixed = {
		.pid = jvm->pid, .nspid = jvm->nspid, .uid = jvm->uid, .gid = jvm->gid,
		.start_ticks = jvm->start_ticks, .uptime = jvm->uptime,
		.heap_used = jvm->heap_used, .heap_max = jvm->heap_max,
		.heap_committed = jvm->heap_committed, .heap_bound = jvm->heap_bound,
		.classes = jvm->classes,
		.listed_ns = jvm->listed_ns, .attach = jvm->attach, .flags = flags_of(jvm),
	};

	buf_add(out, &fixed, sizeof(fixed));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = *text_of(jvm, i);
		uint32_t len = text ? (uint32_t)strlen(text) : NO_TEXT;

		buf_add(out, &len, sizeof(len));
		if (text)
			buf_add(out, text, len);
	}
}

struct reader {
	const char *at;
	size_t left;
};

static bool take(struct reader *r, void *out, size_t len)
{
	if (len > r->left)
		return false;
	memcpy(out, r->at, len);
	r->at += len;
	r->left -= len;
	return true;
}

/* Reads a text of a record.  Returns false if the record is too short or the text has a NUL. */
static bool take_text(struct reader *r, char **text)
{
	uint32_t len;

	if (!take(r, &len, sizeof(len)))
		return false;
	if (len == NO_TEXT)
		return true;
	if (len > r->left || memchr(r->at, '\0', len))
		return false;
	*text = xstrndup(r->at, len);
	r->at += len;
	r->left -= len;
	return true;
}

static bool take_fixed(struct reader *r, struct jvm *jvm)
{
	struct fixed f;

	if (!take(r, &f, sizeof(f)) || f.pid <= 0 || f.pid > INT32_MAX || f.nspid <= 0 ||
	    f.nspid > INT32_MAX || f.uid < 0 || f.uid > UINT32_MAX || f.gid < 0 ||
	    f.gid > UINT32_MAX || f.attach > ATTACH_LAST || f.flags > ALL_FLAGS)
		return false;
	*jvm = (struct jvm){
		.pid = (pid_t)f.pid, .nspid = (pid_t)f.nspid, .uid = (uid_t)f.uid,
		.gid = (gid_t)f.gid, .start_ticks = f.start_ticks, .uptime = f.uptime,
		.heap_used = f.heap_used, .heap_max = f.heap_max,
		.heap_committed = f.heap_committed, .heap_bound = f.heap_bound,
		.classes = f.classes, .listed_ns = f.listed_ns,
		.attach = (enum attach_state)f.attach,
		.has_perfdata = f.flags & HAS_PERFDATA, .is_hotspot = f.flags & IS_HOTSPOT,
		.no_attach = f.flags & NO_ATTACH, .starting = f.flags & STARTING,
		.initialised = f.flags & INITIALISED,
	};
	return true;
}

struct jvm *jvm_record_parse(const char *data, size_t len)
{
	struct reader r = { data, len };
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));
	bool ok = take_fixed(&r, jvm);

	for (size_t i = 0; ok && i < ARRAY_SIZE(texts); i++)
		ok = take_text(&r, text_of(jvm, i));
	if (ok && r.left == 0)
		return jvm;
	jvm_free(jvm);
	return NULL;
}
