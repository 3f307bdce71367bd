#include "cmd/heap/dump_output.h"

#include <zlib.h>

#include "base/xalloc.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"
#include "model/hprof/hprof_check.h"

/* limit in bytes for the memory in which the redactor stores names and classes */
#define NAMES_MAX ((size_t)1 << 30)
#define PACKED_BYTES (256 * 1024)
#define GZIP_WINDOW (15 + 16) /* for deflateInit2(): the largest window, and a gzip header */

struct dump_output {
	struct atomic_file *out;
	struct disk_room room;
	/* NULL: the dump is not redacted; `stream` only checks it */
	struct hprof_redactor *redactor;
	struct hprof_stream stream;
	/* a write to `out` has failed, so `out` is incomplete even if the JVM's dump is complete */
	bool cannot_write;
	bool gzip;
	z_stream packing;
	uint8_t *packed;
};

static int write_bytes(struct dump_output *o, const uint8_t *data, size_t len, struct err *err)
{
	int rc = disk_room_take(&o->room, len);

	if (rc == 0)
		rc = io_write_all(o->out->fd, data, len, DEADLINE_NEVER);
	if (rc == 0)
		return 0;
	o->cannot_write = true;
	return atomic_file_failed(o->out, rc, err);
}

/*
 * Compresses the bytes at packing.next_in and writes the result.  `flush` is Z_FINISH for the last
 * bytes of the dump, else Z_NO_FLUSH.
 */
static int pack(struct dump_output *o, int flush, struct err *err)
{
	do {
		o->packing.next_out = o->packed;
		o->packing.avail_out = PACKED_BYTES;
		/* deflate() cannot fail here, because its output buffer has room. */
		(void)deflate(&o->packing, flush);
		if (write_bytes(o, o->packed, PACKED_BYTES - o->packing.avail_out,
				err) < 0)
			return -1;
	} while (o->packing.avail_out == 0);
	return 0;
}

static int write_some(void *arg, const uint8_t *data, size_t len, struct err *err)
{
	struct dump_output *o = arg;

	if (!o->gzip)
		return write_bytes(o, data, len, err);
	for (size_t at = 0; at < len;) {
		const size_t n = len - at < PACKED_BYTES ? len - at : PACKED_BYTES;

		o->packing.next_in = (Bytef *)(uintptr_t)(data + at);
		o->packing.avail_in = (uInt)n;
		if (pack(o, Z_NO_FLUSH, err) < 0)
			return -1;
		at += n;
	}
	return 0;
}

struct dump_output *dump_output_new(struct atomic_file *out,
				    const struct dump_output_wanted *wanted)
{
	struct dump_output *o = xcalloc(1, sizeof(*o));

	o->out = out;
	o->room = disk_room_for_dump(out->fd);
	if (wanted->redact)
		o->redactor = hprof_redactor_new(wanted->redact, NAMES_MAX, write_some, o);
	if (!wanted->gzip)
		return o;
	if (deflateInit2(&o->packing, (int)wanted->gzip, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		xalloc_die();
	o->packed = xmalloc(PACKED_BYTES);
	o->gzip = true;
	return o;
}

void dump_output_free(struct dump_output *o)
{
	if (o->gzip)
		(void)deflateEnd(&o->packing); /* fails only if the gzip data is not complete */
	free(o->packed);
	hprof_redactor_free(o->redactor);
	free(o);
}

int dump_output_take(void *arg, uint8_t *data, size_t len, struct err *err)
{
	struct dump_output *o = arg;

	if (o->redactor)
		return hprof_redactor_take(o->redactor, data, len, err);
	if (hprof_stream_take(&o->stream, data, len) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "the data from the JVM is not a heap dump: its records are "
			       "inconsistent; nothing was saved; try again");
	return write_some(o, data, len, err);
}

int dump_output_end(struct dump_output *o, struct err *err)
{
	if (o->redactor && hprof_redactor_end(o->redactor, err) < 0)
		return -1;
	if (!o->redactor && !hprof_stream_is_complete(&o->stream))
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not complete: its end is missing; dump the heap again");
	return o->gzip ? pack(o, Z_FINISH, err) : 0;
}

bool dump_output_cannot_write(const struct dump_output *o)
{
	return o->cannot_write;
}
