/* Parses the agent's frames of an allocation profile, frame by frame, and prints the results. */
#include "base/xalloc.h"
#include "render/profile/alloc_view.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The number of lines depends only on sites and frames, not on their names. */
static void count_lines(const struct alloc_view *view, const struct buf *out)
{
	size_t lines = 0, most = 5 + 2 * view->n;

	for (size_t i = 0; i < view->n; i++)
		most += view->alloc->sites[view->sites[i]].n_frames;
	for (size_t i = 0; i < out->len; i++)
		lines += out->data[i] == '\n';
	if (lines > most)
		abort();
}

static void show(struct alloc *a, enum alloc_order order)
{
	_cleanup_free_ uint32_t *sites = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct alloc_view view = { .alloc = a, .order = order, .frames = 3, .pid = 1 };
	struct json *json;

	alloc_sort(a, order);
	sites = xcalloc(a->n + 1, sizeof(*sites));
	for (size_t i = 0; i < a->n; i++)
		sites[i] = (uint32_t)i;
	view.sites = sites;
	view.n = a->n;
	view.total = alloc_total(a);
	alloc_text_add(&out, &view);
	count_lines(&view, &out);
	for (size_t i = 0; i < a->n_notes; i++)
		alloc_text_note(&out, &a->notes[i]);
	json = alloc_json(&view);
	json_add(&out, json);
	json_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct alloc a = { 0 };
	struct wire_header header;
	int rc = 0;

	while (rc == 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = alloc_take(&a, header.type, &payload);
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	alloc_merge(&a);
	show(&a, ALLOC_BY_BYTES);
	show(&a, ALLOC_BY_LIVE_COUNT);
	alloc_release(&a);
	return 0;
}
