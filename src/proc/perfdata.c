#include "proc/perfdata.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * For formats 1.0 and 2.0: lengths in bytes of the file's prologue and of an entry's header.
 * The prologues of 1.0 and 2.0 begin with magic, byte order (0: big), major, minor, one byte
 * (`accessible` in 2.0), used, overflow and mod_time_stamp.  The prologue of 2.0 adds entry_offset
 * and num_entries.
 */
enum {
	PROLOGUE_V1 = 24,
	PROLOGUE_V2 = 32,
	ENTRY_V1 = 16,
	ENTRY_V2 = 20,
};

/* Types of values: JNI type descriptors in 2.0, HotSpot's enum BasicType in 1.0. */
enum {
	TYPE_BYTE_V1 = 8,
	TYPE_LONG_V1 = 11,
	TYPE_BYTE_V2 = 'B',
	TYPE_LONG_V2 = 'J',
};

struct image {
	char *data;
	size_t len;
	bool big_endian;
};

/*
 * Parts of an entry.  All offsets count from the start of the data, and were checked against the
 * length of the data.
 */
struct layout {
	size_t next; /* offset of the next entry */
	size_t name, name_end;
	size_t value;
	uint32_t vector_len; /* number of elements of a vector; 0: a single number */
	uint8_t type, units, variability;
};

static int64_t get_i64(const struct image *im, size_t at)
{
	uint64_t n;

	memcpy(&n, im->data + at, sizeof(n));
	return (int64_t)(im->big_endian ? be64toh(n) : le64toh(n));
}

static uint32_t get_u32(const struct image *im, size_t at)
{
	uint32_t n;

	memcpy(&n, im->data + at, sizeof(n));
	return im->big_endian ? be32toh(n) : le32toh(n);
}

/* Reads the fields of an entry that have the same offset in both versions. */
static void read_common(const struct image *im, size_t at, struct layout *e)
{
	e->vector_len = get_u32(im, at + 8);
	e->type = (uint8_t)im->data[at + 12];
	e->units = (uint8_t)im->data[at + 14];
	e->variability = (uint8_t)im->data[at + 15];
}

/*
 * Sets the offsets of an entry in format 1.0.  The name is directly after the header.  The value is
 * directly after the name if it is a string, and at the end of the entry if it is a number.
 */
static bool layout_v1(const struct image *im, size_t at, uint32_t len, struct layout *e)
{
	uint32_t name_len = get_u32(im, at + 4);

	if (name_len == 0 || name_len > len - ENTRY_V1)
		return false;
	e->name = at + ENTRY_V1;
	e->name_end = e->name + name_len;
	if (e->vector_len > len - ENTRY_V1 - name_len ||
	    (e->vector_len == 0 && len - ENTRY_V1 - name_len < sizeof(int64_t)))
		return false;
	e->value = e->vector_len ? e->name_end : e->next - sizeof(int64_t);
	return true;
}

/* Sets the offsets of an entry in format 2.0, whose header has the offsets of name and value. */
static bool layout_v2(const struct image *im, size_t at, uint32_t len, struct layout *e)
{
	uint32_t name = get_u32(im, at + 4);
	uint32_t value = get_u32(im, at + 16);
	uint32_t value_len = e->vector_len ? e->vector_len : sizeof(int64_t);

	if (name < ENTRY_V2 || name >= len || value > len || value_len > len - value)
		return false;
	e->name = at + name;
	e->name_end = value > name ? at + value : e->next;
	e->value = at + value;
	return true;
}

/* Returns false if there is no consistent entry at this offset. */
static bool layout_read(const struct image *im, int version, size_t at, struct layout *e)
{
	uint32_t header = version == 1 ? ENTRY_V1 : ENTRY_V2;
	uint32_t len;

	if (at > im->len || im->len - at < header)
		return false;
	len = get_u32(im, at);
	if (len < header || len > im->len - at)
		return false;
	e->next = at + len;
	read_common(im, at, e);
	return version == 1 ? layout_v1(im, at, len, e) : layout_v2(im, at, len, e);
}

static bool entry_read(const struct image *im, const struct layout *e, struct perf_entry *out)
{
	bool is_text = e->type == TYPE_BYTE_V1 || e->type == TYPE_BYTE_V2;
	bool is_number = e->type == TYPE_LONG_V1 || e->type == TYPE_LONG_V2;
	const char *name = im->data + e->name;
	const char *name_end = memchr(name, '\0', e->name_end - e->name);

	if (!name_end)
		return false;
	out->name = name;
	out->name_len = (uint32_t)(name_end - name); /* less than the entry's length */
	out->units = e->units;
	out->variability = e->variability;
	out->text = NULL;
	out->number = 0;
	if (is_number && e->vector_len == 0) {
		out->number = get_i64(im, e->value);
		return true;
	}
	if (!is_text || e->vector_len == 0)
		return false;
	if (!memchr(im->data + e->value, '\0', e->vector_len))
		im->data[e->value + e->vector_len - 1] = '\0';
	out->text = im->data + e->value;
	return true;
}

static void read_entries(const struct image *im, int version, size_t at, uint32_t max,
			 struct perfdata *out)
{
	struct layout e;

	for (uint32_t i = 0; i < max && layout_read(im, version, at, &e); i++, at = e.next) {
		out->entries = xgrow(out->entries, out->n, &out->cap, sizeof(*out->entries));
		if (entry_read(im, &e, &out->entries[out->n]))
			out->n++;
	}
}

/* Returns the major version, 1 or 2, or a negative errno. */
static int check_prologue(const uint8_t *data, size_t len)
{
	static const uint8_t magic[4] = { 0xca, 0xfe, 0xc0, 0xc0 }, zeros[4];
	int major;

	/* The JVM is still initialising the file: it extends the file before it writes to it. */
	if (len == 0 || (len >= sizeof(zeros) && memcmp(data, zeros, sizeof(zeros)) == 0))
		return -EAGAIN;
	if (len < PROLOGUE_V1 || memcmp(data, magic, sizeof(magic)) != 0 || data[4] > 1)
		return -EBADMSG;
	major = data[5];
	if (major != 1 && major != 2)
		return -EPROTONOSUPPORT;
	if (major == 1)
		return 1;
	if (len < PROLOGUE_V2)
		return -EBADMSG;
	return data[7] ? 2 : -EAGAIN;
}

/* Allocates all entries that the file declares, if it is long enough for them. */
static void reserve_entries(uint32_t declared, size_t len, struct perfdata *out)
{
	out->cap = declared < len / ENTRY_V2 ? declared : len / ENTRY_V2;
	out->entries = xreallocarray(NULL, out->cap, sizeof(*out->entries));
}

int perfdata_parse(struct buf *bytes, struct perfdata *out)
{
	int version = check_prologue((const uint8_t *)bytes->data, bytes->len);
	struct image im;

	*out = (struct perfdata){ 0 };
	if (version < 0)
		return version;
	im = (struct image){ bytes->data, bytes->len, bytes->data[4] == 0 };
	*bytes = (struct buf)BUF_INIT;
	out->data = im.data;
	out->len = im.len;
	out->modified = get_i64(&im, 16);
	if (version == 1) {
		read_entries(&im, version, PROLOGUE_V1, UINT32_MAX, out);
		return 0;
	}
	reserve_entries(get_u32(&im, 28), im.len, out);
	read_entries(&im, version, get_u32(&im, 24), get_u32(&im, 28), out);
	return 0;
}

void perfdata_release(struct perfdata *p)
{
	free(p->data);
	free(p->entries);
	*p = (struct perfdata){ 0 };
}

static void add_number(struct perfdata *p, const char *name, int64_t number)
{
	p->entries = xgrow(p->entries, p->n, &p->cap, sizeof(*p->entries));
	p->entries[p->n++] = (struct perf_entry){
		.name = name, .number = number, .name_len = (uint32_t)strlen(name),
	};
}

void perfdata_add_file_entries(struct perfdata *p)
{
	const struct image im = { p->data, p->len, p->data[4] == 0 };

	add_number(p, "sun.perfdata.majorVersion", (uint8_t)im.data[5]);
	add_number(p, "sun.perfdata.minorVersion", (uint8_t)im.data[6]);
	add_number(p, "sun.perfdata.used", get_u32(&im, 8));
	add_number(p, "sun.perfdata.overflow", get_u32(&im, 12));
	add_number(p, "sun.perfdata.timestamp", p->modified);
	if (p->len < PERFDATA_MAX)
		add_number(p, "sun.perfdata.size", (int64_t)p->len);
}

const struct perf_entry *perfdata_find(const struct perfdata *p, const char *name)
{
	size_t len = strlen(name);

	/* Most names have the same first words. */
	for (size_t i = 0; i < p->n; i++) {
		if (p->entries[i].name_len == len && memcmp(p->entries[i].name, name, len) == 0)
			return &p->entries[i];
	}
	return NULL;
}

const char *perfdata_text(const struct perfdata *p, const char *name)
{
	const struct perf_entry *e = perfdata_find(p, name);

	return e ? e->text : NULL;
}

const char *perfdata_nonempty_text(const struct perfdata *p, const char *name)
{
	const char *text = perfdata_text(p, name);

	return text && *text ? text : NULL;
}

int64_t perfdata_number(const struct perfdata *p, const char *name, int64_t absent)
{
	const struct perf_entry *e = perfdata_find(p, name);

	return e && !e->text ? e->number : absent;
}
