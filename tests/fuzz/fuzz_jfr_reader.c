/* Reads flight recordings: files from untrusted sources; prints all events, views and profiles. */
#include <string.h>

#include "model/jfr/profile/jfr_profile.h"
#include "model/jfr/query/jfr_views.h"
#include "render/jfr/jfr_event_json.h"
#include "render/jfr/jfr_table.h"
#include "render/profile/profile_view.h"
#include "unit/support/jfr_memory_ahead.h"

#define MEMORY_MAX (64u << 20)
#define AHEAD_BLOCK 40
#define EVENTS_MAX 200 /* that are printed; each can be large, as constants refer to others */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
	struct memory_ahead ahead;
};

static int read_input(void *arg, uint64_t at, void *to, size_t len)
{
	const struct input *in = arg;

	if (at > in->size || len > in->size - at)
		abort();
	memcpy(to, in->data + at, len);
	return 0;
}

static void start_part(void *arg, uint64_t at, uint64_t end)
{
	struct input *in = arg;

	if (at > end || end > in->size)
		abort();
	memory_ahead_start(&in->ahead, at, end);
}

static const uint8_t *next_block(void *arg, const uint8_t *tail, size_t tail_len, size_t *len)
{
	return memory_ahead_next(&((struct input *)arg)->ahead, tail, tail_len, len);
}

static void print_events(struct input *in)
{
	struct jfr_reader *r = jfr_reader_new(read_input, in, in->size, MEMORY_MAX);
	struct err err = { .code = EXIT_DONE };
	struct jfr_event e;
	unsigned n = 0;

	while (jfr_next_chunk(r, &err) > 0) {
		while (jfr_next_event(r, &e) && n < EVENTS_MAX) {
			struct json *object;

			if (!e.type || !e.type->is_event)
				continue;
			object = json_object();
			jfr_event_put(&e, object);
			json_free(object);
			n++;
		}
	}
	(void)jfr_problems(r);
	jfr_reader_free(r);
}

static void print_views(struct input *in)
{
	struct jfr_reader *r = jfr_reader_new(read_input, in, in->size, MEMORY_MAX);
	struct jfr_queries *q = jfr_queries_new(MEMORY_MAX);
	struct jfr_query_run *runs[128];
	struct err err = { .code = EXIT_DONE };
	const struct jfr_query *view;
	size_t n;

	if (jfr_views_load(&err) < 0)
		abort();
	for (n = 0; n < ARRAY_SIZE(runs) && (view = jfr_view_at(n)); n++)
		runs[n] = jfr_queries_add(q, view);
	if (jfr_queries_run(q, r, INT64_MIN, &err) == 0) {
		for (size_t i = 0; i < n; i++) {
			_cleanup_buf_ struct buf text = BUF_INIT;
			size_t rows = jfr_query_rows(runs[i]);

			jfr_table_add(jfr_view_at(i), runs[i], rows, true, &text);
			json_free(jfr_table_json(jfr_view_at(i), runs[i], rows));
		}
	}
	jfr_queries_free(q);
	jfr_reader_free(r);
}

/* Returns the number of events. */
static uint64_t count_events(struct input *in, bool is_ahead)
{
	const struct jfr_ahead ahead = { .start = start_part, .next = next_block };
	struct jfr_reader *r = jfr_reader_new(read_input, in, in->size, MEMORY_MAX);
	struct err err = { .code = EXIT_DONE };
	struct jfr_summary s;
	uint64_t n = 0;

	if (is_ahead)
		jfr_read_ahead(r, &ahead);
	if (jfr_summary_read(r, INT64_MIN, &s, &err) == 0 && s.n > 0 && s.chunks == 0)
		abort();
	for (size_t i = 0; i < s.n; i++)
		n += s.types[i].count;
	jfr_summary_release(&s);
	jfr_reader_free(r);
	memory_ahead_release(&in->ahead);
	return n;
}

static void print_profiles(struct input *in)
{
	for (int kind = 0; kind < N_PROFILE_KINDS; kind++) {
		const struct jfr_profile_request req = {
			.kind = (enum profile_kind)kind, .by_thread = kind % 2, .depth = 100,
		};
		struct jfr_reader *r = jfr_reader_new(read_input, in, in->size, MEMORY_MAX);
		struct hot_methods methods;
		struct profile_view view = { .methods = &methods };
		struct err err = { .code = EXIT_DONE };
		struct profile p;

		if (jfr_profile_read(r, &req, &p, &err) == 0) {
			call_tree_sum(&p.tree);
			hot_methods_find(&methods, &p.tree, p.by_thread);
			view.profile = &p;
			view.n = methods.n;
			json_free(profile_json(&view));
			hot_methods_release(&methods);
		}
		profile_release(&p);
		jfr_reader_free(r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {
		.data = data, .size = size,
		.ahead = { .file = data, .block = AHEAD_BLOCK, .tail_max = AHEAD_BLOCK },
	};

	print_events(&in);
	print_views(&in);
	if (count_events(&in, false) != count_events(&in, true))
		abort();
	print_profiles(&in);
	return 0;
}
