#include "cmd/heap/dump_sink.h"

#include <zlib.h>

#include "base/xalloc.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"
#include "model/hprof/hprof_check.h"

/* limit for names and classes that are held until the first object, in bytes */
#define NAMES_MAX ((size_t)1 << 30)
#define PACKED_BYTES (256 * 1024)
#define GZIP_WINDOW (15 + 16) /* for deflateInit2(): the largest window, and a gzip header */

struct dump_sink {
	struct atomic_file *out;
	struct disk_room room;
	struct hprof_redactor *redactor; /* redacts and checks the dump; NULL: `stream` checks it */
	struct hprof_stream stream;
	bool gzip;
	z_stream packing;
	uint8_t *packed;
};

static int write_bytes(struct dump_sink *sink, const uint8_t *data, size_t len, struct err *err)
{
	int rc = disk_room_take(&sink->room, len);

	if (rc == 0)
		rc = io_write_all(sink->out->fd, data, len, DEADLINE_NEVER);
	return rc < 0 ? atomic_file_failed(sink->out, rc, err) : 0;
}

/*
 * Compresses the input in packing.next_in and writes it.  `flush` is Z_NO_FLUSH, or Z_FINISH at the
 * end.
 */
static int pack(struct dump_sink *sink, int flush, struct err *err)
{
	do {
		sink->packing.next_out = sink->packed;
		sink->packing.avail_out = PACKED_BYTES;
		/* Cannot fail, because there is room for its output. */
		(void)deflate(&sink->packing, flush);
		if (write_bytes(sink, sink->packed, PACKED_BYTES - sink->packing.avail_out,
				err) < 0)
			return -1;
	} while (sink->packing.avail_out == 0);
	return 0;
}

static int write_some(void *arg, const uint8_t *data, size_t len, struct err *err)
{
	struct dump_sink *sink = arg;

	if (!sink->gzip)
		return write_bytes(sink, data, len, err);
	for (size_t at = 0; at < len;) {
		const size_t n = len - at < PACKED_BYTES ? len - at : PACKED_BYTES;

		sink->packing.next_in = (Bytef *)(uintptr_t)(data + at);
		sink->packing.avail_in = (uInt)n;
		if (pack(sink, Z_NO_FLUSH, err) < 0)
			return -1;
		at += n;
	}
	return 0;
}

struct dump_sink *dump_sink_new(struct atomic_file *out, const struct dump_sink_wanted *wanted)
{
	struct dump_sink *sink = xcalloc(1, sizeof(*sink));

	sink->out = out;
	sink->room = disk_room_begin(out->fd);
	if (wanted->redact)
		sink->redactor = hprof_redactor_new(wanted->redact, NAMES_MAX, write_some, sink);
	if (!wanted->gzip)
		return sink;
	if (deflateInit2(&sink->packing, (int)wanted->gzip, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		xalloc_die();
	sink->packed = xmalloc(PACKED_BYTES);
	sink->gzip = true;
	return sink;
}

void dump_sink_free(struct dump_sink *sink)
{
	if (sink->gzip)
		(void)deflateEnd(&sink->packing); /* the stream is complete or is not used */
	free(sink->packed);
	hprof_redactor_free(sink->redactor);
	free(sink);
}

int dump_sink_take(void *arg, uint8_t *data, size_t len, struct err *err)
{
	struct dump_sink *sink = arg;

	if (sink->redactor)
		return hprof_redactor_take(sink->redactor, data, len, err);
	if (hprof_stream_take(&sink->stream, data, len) < 0)
		return err_set(err, EXIT_PARTIAL, "not a heap dump: its records are inconsistent");
	return write_some(sink, data, len, err);
}

int dump_sink_end(struct dump_sink *sink, struct err *err)
{
	if (sink->redactor && hprof_redactor_end(sink->redactor, err) < 0)
		return -1;
	if (!sink->redactor && !hprof_stream_is_complete(&sink->stream))
		return err_set(err, EXIT_PARTIAL, "the dump is not complete");
	return sink->gzip ? pack(sink, Z_FINISH, err) : 0;
}
