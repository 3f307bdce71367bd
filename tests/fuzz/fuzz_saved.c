/* Reads the file of --diff: a histogram, collapsed stacks, or a profile of pprof. */
#include "model/profile/call_tree_diff.h"
#include "model/profile/pprof_read.h"
#include "render/histo/histo_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare_stacks(const char *text, size_t size)
{
	struct call_tree now, before, diff;

	call_tree_init(&now, "ns", NULL);
	call_tree_init(&before, "", NULL);
	before.ends_in_classes = size % 2;
	(void)call_tree_add_collapsed(&before, text, size); /* the lines before the defect count */
	call_tree_sum(&now);
	call_tree_sum(&before);
	call_tree_diff(&now, &before, &diff);
	call_tree_release(&diff);
	call_tree_release(&before);
	call_tree_release(&now);
}

static void read_pprof(const void *data, size_t size)
{
	struct buf out = BUF_INIT;
	struct call_tree t;

	call_tree_init(&t, "", NULL);
	(void)pprof_read(&t, data, size); /* the samples before the defect count */
	call_tree_sum(&t);
	call_tree_release(&t);
	(void)pprof_expand(&out, data, size, 1u << 20); /* most inputs are not gzip */
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *doc = json_parse((const char *)data, size);
	struct histo h = { 0 }, now = { 0 };

	if (histo_from_json(&h, doc) == 0) {
		histo_add(&now, "a.B", "app", NULL, 1, 16);
		histo_subtract(&now, &h);
		histo_sort(&now, HISTO_BY_COUNT);
	}
	compare_stacks((const char *)data, size);
	read_pprof(data, size);
	json_free(doc);
	histo_release(&h);
	histo_release(&now);
	return 0;
}
