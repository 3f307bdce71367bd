#include "startup/report.h"

#include <string.h>

#include "util/text.h"
#include "jvm/frame_names.h"
#include "startup/report_file.h"

#define FRAMES_MAX (1u << 18)        /* maximum number of distinct stack frames */
#define FRAMES_FIRST (1u << 12)      /* initial capacity of `known` */
#define TEXTS ((size_t)32 << 20)     /* bytes reserved for the texts of stack frames */
#define NAME_MAX 1000                /* maximum bytes of a class, method or file name */
#define FRAME_MAX (3 * NAME_MAX + 64)
#define CLASS_MAX 4000
#define LINE_MAX 8192
#define UNKNOWN "(unloaded).?(Unknown Source)" /* for a stack frame that is not in `known` */

#ifndef AG_BUILD
#define AG_BUILD ""
#endif

const char *ag_report_try(const char *path, uint32_t pid)
{
	struct ag_report_file file;

	if (ag_report_file_open(&file, path, pid) != 0)
		return ag_report_file_why(file.error);
	ag_report_file_drop(&file);
	return NULL;
}

int ag_report_init(struct ag_jvm *jvm, struct ag_report *report)
{
	if (ag_hash_map_init(&report->known, jvm->mem, FRAMES_FIRST) != 0 ||
	    ag_arena_init(&report->texts, jvm->mem, TEXTS) != 0)
		return ag_fail_memory(jvm);
	return 0;
}

void ag_report_release(struct ag_jvm *jvm, struct ag_report *report)
{
	ag_hash_map_release(&report->known, jvm->mem);
	ag_arena_release(&report->texts, jvm->mem);
}

static void put_location(struct ag_text *t, const struct ag_frame_names *f)
{
	ag_text_put(t, "(");
	if (f->line == WIRE_LINE_NATIVE)
		ag_text_put(t, "Native Method");
	else if (!f->source)
		ag_text_put(t, "Unknown Source");
	else
		ag_text_name(t, f->source, NAME_MAX);
	if (f->line >= 0 && f->source) {
		ag_text_put(t, ":");
		ag_text_number(t, (uint64_t)f->line);
	}
	ag_text_put(t, ")");
}

static void put_frame(struct ag_text *t, const struct ag_frame_names *f)
{
	if (f->class)
		ag_text_class(t, f->class, NAME_MAX);
	else
		ag_text_put(t, "(unloaded)");
	ag_text_put(t, ".");
	ag_text_name(t, f->method ? f->method : "?", NAME_MAX);
	put_location(t, f);
}

static uint64_t key_of(const struct ag_alloc_site *site, uint32_t i)
{
	uint64_t id = site->methods[i];

	return id >> 48 ? 0 : id << 16 | site->bcis[i];
}

/* Stores the text of a stack frame.  If memory is short, the report shows UNKNOWN instead. */
static void add_frame(struct ag_jvm *jvm, struct ag_report *report, uint64_t key,
		      const jvmtiFrameInfo *frame)
{
	struct ag_frame_names names;
	char data[FRAME_MAX], *stored;
	struct ag_text text = ag_text_init(data, sizeof(data));
	size_t offset;

	if (report->known.n == report->known.max &&
	    ag_hash_map_grow(&report->known, jvm->mem, FRAMES_MAX) != 0)
		return;
	ag_frame_names_get(jvm, frame, &names);
	if (names.method && frame->location >= 0)
		names.line = ag_frame_line(jvm, frame);
	put_frame(&text, &names);
	ag_frame_names_free(jvm, &names);
	stored = ag_arena_take(&report->texts, text.len + 1);
	if (!stored)
		return;
	memcpy(stored, data, text.len + 1);
	offset = (size_t)(stored - (char *)report->texts.base) / 8;
	(void)ag_hash_map_add(&report->known, key, (uint32_t)offset); /* cannot fail: has room */
}

static void add_frames(struct ag_jvm *jvm, struct ag_report *report,
		       const struct ag_alloc_site *site)
{
	for (uint32_t i = 0; i < site->n_frames; i++) {
		const jvmtiFrameInfo frame = {
			.method = (jmethodID)(uintptr_t)site->methods[i],
			.location = site->bcis[i] == AG_NATIVE ? -1 : site->bcis[i],
		};
		uint64_t key = key_of(site, i);

		if (key != 0 && ag_hash_map_probe(&report->known, key)->key != key)
			add_frame(jvm, report, key, &frame);
	}
}

void ag_report_resolve(struct ag_jvm *jvm, struct ag_report *report, int64_t until_ns)
{
	struct ag_alloc_site site;

	for (; ag_alloc_site(report->profile, report->next_site, &site); report->next_site++) {
		if (ag_now_ns() >= until_ns)
			break;
		add_frames(jvm, report, &site);
	}
}

static const char *frame_text(const struct ag_report *report, uint64_t key)
{
	const struct ag_hash_entry *slot = key ? ag_hash_map_probe(&report->known, key) : NULL;

	if (!slot || slot->key != key)
		return UNKNOWN;
	return (const char *)report->texts.base + (size_t)slot->number * 8;
}

struct rank {
	uint64_t bytes;
	uint32_t site;
};

static bool is_before(const struct rank *a, const struct rank *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes : a->site < b->site;
}

/* Sifts element i down in a binary heap whose root is the element that comes last in sort order. */
static void sift(struct rank *ranks, uint32_t n, uint32_t i)
{
	const struct rank moved = ranks[i];

	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_before(&ranks[child], &ranks[child + 1]))
			child++;
		if (!is_before(&moved, &ranks[child]))
			break;
		ranks[i] = ranks[child];
	}
	ranks[i] = moved;
}

static void sort(struct rank *ranks, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift(ranks, n, i);
	while (n > 1) {
		const struct rank last = ranks[0];

		ranks[0] = ranks[--n];
		sift(ranks, n, 0);
		ranks[n] = last;
	}
}

/* Returns the sites that have allocations, sorted; the caller frees the array.  NULL: no memory. */
static struct rank *rank_sites(struct ag_jvm *jvm, const struct ag_report *report, uint32_t *n)
{
	struct ag_alloc_profile_state state = { 0 };
	struct ag_alloc_site site;
	struct rank *ranks;

	ag_alloc_profile_state(report->profile, &state);
	ranks = ag_jvm_alloc(jvm, (size_t)state.sites + 1, sizeof(*ranks));
	*n = 0;
	for (uint32_t i = 0; ranks && i < state.sites; i++) {
		if (!ag_alloc_site(report->profile, i, &site))
			break;
		if (site.objects + site.bytes + site.samples > 0)
			ranks[(*n)++] = (struct rank){ site.bytes, i };
	}
	if (ranks)
		sort(ranks, *n);
	return ranks;
}

struct output {
	const struct ag_report *report;
	struct ag_report_file *file;
	bool live;
	char data[LINE_MAX];
	struct ag_text line;
};

static struct ag_text *begin_line(struct output *w, const char *key)
{
	w->line = ag_text_init(w->data, sizeof(w->data));
	ag_text_put(&w->line, key);
	return &w->line;
}

static void end_line(struct output *w)
{
	ag_report_file_put(w->file, w->data, w->line.len);
	ag_report_file_put(w->file, "\n", 1);
}

static void write_text(struct output *w, const char *key, const char *text)
{
	ag_text_put(begin_line(w, key), text);
	end_line(w);
}

static void write_number(struct output *w, const char *key, uint64_t n)
{
	ag_text_number(begin_line(w, key), n);
	end_line(w);
}

static void write_numbers(struct output *w, const char *key, uint64_t n, uint64_t other)
{
	struct ag_text *line = begin_line(w, key);

	ag_text_number(line, n);
	ag_text_put(line, " ");
	ag_text_number(line, other);
	end_line(w);
}

static void write_seconds(struct output *w, const char *key, uint64_t ns)
{
	ag_text_seconds(begin_line(w, key), ns);
	end_line(w);
}

static int write_note(void *output, uint32_t note, const char *text, uint64_t n)
{
	struct output *w = output;
	struct ag_text *line = begin_line(w, "# note ");

	ag_text_number(line, note);
	ag_text_put(line, " ");
	ag_text_number(line, n);
	ag_text_put(line, " ");
	ag_text_name(line, text, CLASS_MAX);
	end_line(w);
	return 0;
}

static void write_mode(struct output *w, const struct ag_alloc_profile_state *state)
{
	if (w->report->wanted.flags & WIRE_ALLOC_EXACT) {
		write_text(w, "# mode ", "exact");
		return;
	}
	write_text(w, "# mode ", "sampled");
	write_number(w, "# interval ", state->interval);
	write_text(w, "# estimator ",
		   "a sample stands for 1/p objects, p = 1 - exp(-size/interval)");
}

static void write_header(struct output *w, uint32_t pid,
			 const struct ag_alloc_profile_state *state)
{
	write_text(w, "# jtool allocations 1", "");
	write_text(w, "# version ", AG_BUILD);
	write_number(w, "# pid ", pid);
	write_mode(w, state);
	write_number(w, "# depth ", w->report->wanted.depth);
	if (w->live)
		write_number(w, "# live ", w->report->wanted.age);
	write_seconds(w, "# begin ", state->begin_ns);
	write_seconds(w, "# seconds ", state->ns);
	write_number(w, "# samples ", state->samples);
	write_number(w, "# bytes ", state->bytes);
	write_number(w, "# dropped ", state->dropped);
	write_number(w, "# collections ", state->collections);
	write_numbers(w, "# classes ", state->hooked, state->refused);
	write_seconds(w, "# paused ", state->live_ns);
}

static void put_live(struct output *w, uint64_t n)
{
	if (w->live)
		ag_text_number(&w->line, n);
	else
		ag_text_put(&w->line, "-");
	ag_text_put(&w->line, " ");
}

static void write_site(struct output *w, const struct ag_alloc_site *site)
{
	const char *kind = ag_alloc_class(w->report->profile, site->kind);
	struct ag_text *line = begin_line(w, "");

	ag_text_number(line, site->objects);
	ag_text_put(line, " ");
	ag_text_number(line, site->bytes);
	ag_text_put(line, " ");
	ag_text_number(line, site->samples);
	ag_text_put(line, " ");
	put_live(w, site->live_objects);
	put_live(w, site->live_bytes);
	ag_text_class(line, kind ? kind : "", CLASS_MAX);
	end_line(w);
	for (uint32_t i = 0; i < site->n_frames; i++)
		write_text(w, "\tat ", frame_text(w->report, key_of(site, i)));
}

static void write_sites(struct output *w, const struct rank *ranks, uint32_t n, uint32_t all)
{
	struct ag_alloc_site site;

	write_numbers(w, "# sites ", n, all);
	write_text(w, "# OBJECTS BYTES SAMPLES LIVE_OBJECTS LIVE_BYTES CLASS", "");
	for (uint32_t i = 0; i < n; i++) {
		if (ag_alloc_site(w->report->profile, ranks[i].site, &site))
			write_site(w, &site);
	}
	write_number(w, "# end ", n);
}

static const char *write_to(struct ag_jvm *jvm, struct output *w, uint32_t pid,
			    const struct rank *ranks, uint32_t all)
{
	const struct ag_report *report = w->report;
	struct ag_alloc_profile_state state = { 0 };
	uint32_t n = report->sites > 0 && report->sites < all ? report->sites : all;

	if (ag_report_file_open(w->file, report->path, pid) != 0)
		return ag_report_file_why(w->file->error);
	ag_alloc_profile_state(report->profile, &state);
	write_header(w, pid, &state);
	if ((report->wanted.flags & WIRE_ALLOC_LIVE) && !w->live)
		(void)write_note(w, WIRE_ALLOC_NOT_LIVE, jvm->err.why ? jvm->err.why : "", 0);
	ag_clear_error(jvm);
	(void)ag_alloc_profile_notes(report->profile, write_note, w); /* cannot fail */
	write_sites(w, ranks, n, all);
	return ag_report_file_finish(w->file, report->path) == 0
		       ? NULL
		       : ag_report_file_why(w->file->error);
}

const char *ag_report_write(struct ag_jvm *jvm, struct ag_report *report, uint32_t pid, bool live)
{
	struct output *w = ag_jvm_alloc(jvm, 1, sizeof(*w));
	struct ag_report_file *file = ag_jvm_alloc(jvm, 1, sizeof(*file));
	uint32_t n = 0;
	struct rank *ranks = rank_sites(jvm, report, &n);
	const char *why = "no memory";

	if (w && file && ranks) {
		w->report = report;
		w->file = file;
		w->live = live;
		why = write_to(jvm, w, pid, ranks, n);
	}
	ag_free(jvm->mem, ranks);
	ag_free(jvm->mem, file);
	ag_free(jvm->mem, w);
	return why;
}
