/* Buffers heap stream records for the graph builder. */
#include <errno.h>
#include <inttypes.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

#define BUF_BYTES (256 * 1024)
#define RECORD_MAX (HEAP_STREAM_RECORD_MAX + HEAP_STREAM_TEXT_MAX)

void hprof_output_open(struct hprof_output *out)
{
	out->buf = xmalloc(BUF_BYTES);
}

int hprof_flush(struct hprof_reader *r, struct err *err)
{
	struct hprof_output *out = &r->out;
	int rc;

	if (out->len == 0)
		return 0;
	rc = graph_builder_take(r->wants.builder, out->buf, out->len);
	out->len = 0;
	if (rc == -EFBIG)
		return err_set(err, EXIT_PARTIAL,
			       "the analysis of the heap needs more memory than jtool's limit; "
			       "allow more with --max-memory SIZE");
	if (rc < 0)
		return hprof_invalid(r, err, "its objects are inconsistent");
	return 0;
}

int hprof_write(struct hprof_reader *r, const struct heap_stream_record *record, struct err *err)
{
	struct hprof_output *out = &r->out;

	if (!out->buf)
		return 0;
	if (record->address % HEAP_STREAM_WORD || record->address >= HEAP_STREAM_ADDRESS_MAX)
		return hprof_invalid(r, err, "0x%" PRIx64 " is not an object address",
				     record->address);
	if (out->len > BUF_BYTES - RECORD_MAX && hprof_flush(r, err) < 0)
		return -1;
	out->len = (size_t)(heap_stream_write(&out->state, out->buf + out->len, record) -
			    out->buf);
	return 0;
}
