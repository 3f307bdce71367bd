/* Parses the agent's frames of a trace, frame by frame, and prints the results. */
#include "base/xalloc.h"
#include "render/profile/trace_call.h"
#include "render/profile/trace_summary.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct shown {
	struct trace_text text;
	struct trace_summary summary;
	struct buf out;
};

static void show_call(const struct trace *t, const struct trace_call *call, void *arg)
{
	struct shown *shown = arg;

	buf_reset(&shown->out);
	trace_text_add(&shown->text, &shown->out, t, call);
	/* Only a stack has further lines. */
	for (size_t i = 0, lines = 0; i < shown->out.len; i++) {
		lines += shown->out.data[i] == '\n';
		if (lines > call->n_frames + 1)
			abort();
	}
	trace_json_add(&shown->out, t, call);
}

static void show_sums(const struct trace *t, struct shown *shown)
{
	static const struct terminal terminals[] = { { 24, 80 }, { 5, 20 }, { 1, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(terminals); i++) {
		buf_reset(&shown->out);
		trace_summary_draw(&shown->summary, &shown->out, t, terminals[i]);
	}
	trace_summary_add_json(&shown->out, t);
	trace_summary_end(&shown->summary, &shown->out, t, terminals[0]);
	buf_release(&shown->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace t = { 0 };
	struct shown shown = { 0 };
	struct wire_header header;
	int rc = 0;

	(void)trace_add(&t, "a.b.Shop", "order", "(ILjava/lang/String;)Z");
	(void)trace_add(&t, "a.b.Shop", "order", "([Ljava/lang/Object;D)V");
	(void)trace_add(&t, "a.b.Shop", "pay", "()J");
	while (rc == 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = trace_take(&t, header.type, &payload, show_call, &shown);
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	show_sums(&t, &shown);
	trace_release(&t);
	return 0;
}
