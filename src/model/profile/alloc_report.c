#include "model/profile/alloc_report.h"

#include <errno.h>
#include <string.h>

#include "base/intern.h"
#include "base/strview.h"
#include "model/class/javasig.h"

#define FIRST_LINE "# jtool allocations 1"
#define NS_PER_MS 1000000u

struct report_reader {
	struct alloc *a;
	struct strview text;
	size_t line;
	struct intern kinds, frames;
	bool live, has_mode;
	bool has_site; /* `site` is valid, and further frames belong to it */
	struct alloc_site site;
	uint32_t numbers[WIRE_ALLOC_DEPTH];
};

bool alloc_report_is(const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;

	return strview_line(&rest, &line) && strview_is(line, FIRST_LINE);
}

/* Reads a word, and skips the space after it. */
static struct strview take_word(struct strview *line)
{
	const char *blank = memchr(line->at, ' ', strview_len(*line));
	struct strview word = { line->at, blank ? blank : line->end };

	line->at = blank ? blank + 1 : line->end;
	return word;
}

static int read_digits(struct strview word, uint64_t *n)
{
	*n = 0;
	if (word.at == word.end)
		return -EBADMSG;
	for (; word.at < word.end; word.at++) {
		if (*word.at < '0' || *word.at > '9' || __builtin_mul_overflow(*n, 10u, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(*word.at - '0'), n))
			return -EBADMSG;
	}
	return 0;
}

static int take_number(struct strview *line, uint64_t *n)
{
	return read_digits(take_word(line), n);
}

static int take_u32(struct strview *line, uint32_t *n)
{
	uint64_t number;

	if (take_number(line, &number) < 0 || number > UINT32_MAX)
		return -EBADMSG;
	*n = (uint32_t)number;
	return 0;
}

/* Parses seconds with three decimals, "12.345", into ns. */
static int take_seconds(struct strview *line, uint64_t *ns)
{
	struct strview word = take_word(line), s = word, ms = word;
	uint64_t seconds, millis;

	s.end = memchr(word.at, '.', strview_len(word));
	if (!s.end)
		return -EBADMSG;
	ms.at = s.end + 1;
	if (strview_len(ms) != 3 || read_digits(s, &seconds) < 0 || read_digits(ms, &millis) < 0 ||
	    __builtin_mul_overflow(seconds, 1000 * (uint64_t)NS_PER_MS, ns) ||
	    __builtin_add_overflow(*ns, millis * NS_PER_MS, ns))
		return -EBADMSG;
	return 0;
}

static int take_mode(struct report_reader *r, struct strview *line)
{
	if (strview_is(*line, "exact"))
		r->a->flags |= WIRE_ALLOC_EXACT;
	else if (!strview_is(*line, "sampled"))
		return -EBADMSG;
	line->at = line->end;
	r->has_mode = true;
	return 0;
}

static int take_live(struct report_reader *r, struct strview *line)
{
	uint64_t age;

	r->live = true;
	r->a->flags |= WIRE_ALLOC_LIVE;
	return take_number(line, &age);
}

static int take_classes(struct report_reader *r, struct strview *line)
{
	int rc = take_u32(line, &r->a->hooked);

	return rc < 0 ? rc : take_u32(line, &r->a->refused);
}

static int take_note(struct report_reader *r, struct strview *line)
{
	uint32_t note;
	uint64_t n;

	if (take_u32(line, &note) < 0 || take_number(line, &n) < 0)
		return -EBADMSG;
	return alloc_add_note(r->a, note, line->at, strview_len(*line), n);
}

/* Reads the number of sites in the file and the number of all sites, and stores only the second. */
static int take_sites(struct report_reader *r, struct strview *line)
{
	uint64_t follow;

	if (take_number(line, &follow) < 0)
		return -EBADMSG;
	return take_u32(line, &r->a->state.sites);
}

/* Reads a header line after its "# ".  An unknown key comes from a later version and is ignored. */
static int take_header(struct report_reader *r, struct strview *line)
{
	struct alloc_state *state = &r->a->state;
	struct strview key = take_word(line);

	if (strview_is(key, "mode"))
		return take_mode(r, line);
	if (strview_is(key, "interval"))
		return take_number(line, &state->interval);
	if (strview_is(key, "depth"))
		return take_u32(line, &r->a->depth);
	if (strview_is(key, "live"))
		return take_live(r, line);
	if (strview_is(key, "begin"))
		return take_seconds(line, &r->a->begin_ns);
	if (strview_is(key, "seconds"))
		return take_seconds(line, &state->ns);
	if (strview_is(key, "samples"))
		return take_number(line, &state->samples);
	if (strview_is(key, "bytes"))
		return take_number(line, &state->bytes);
	if (strview_is(key, "dropped"))
		return take_number(line, &state->dropped);
	if (strview_is(key, "collections"))
		return take_u32(line, &state->collections);
	if (strview_is(key, "classes"))
		return take_classes(r, line);
	if (strview_is(key, "paused"))
		return take_seconds(line, &r->a->live_ns);
	if (strview_is(key, "note"))
		return take_note(r, line);
	if (strview_is(key, "sites"))
		return take_sites(r, line);
	return 0;
}

/* Appends a name as UTF-8.  Rejects a name with a NUL, which would truncate it. */
static int take_text(struct strview text, struct buf *out)
{
	if (text.at == text.end || memchr(text.at, '\0', strview_len(text)))
		return -EBADMSG;
	javasig_text(out, (struct cf_text){ text.at, strview_len(text) });
	return memchr(buf_str(out), '\0', out->len) ? -EBADMSG : 0;
}

/* Adds the current site, which is complete, to the profile. */
static int finish_site(struct report_reader *r)
{
	if (!r->has_site)
		return 0;
	r->has_site = false;
	r->site.frames = r->numbers;
	return alloc_add_site(r->a, &r->site);
}

static int take_class(struct report_reader *r, struct strview text)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (take_text(text, &name) < 0)
		return -EBADMSG;
	r->site.kind = intern_add(&r->kinds, buf_str(&name), name.len);
	if (r->site.kind < r->a->n_kinds)
		return 0;
	return alloc_add_class(r->a, buf_str(&name), name.len);
}

/* Reads a number of live objects or bytes, or "-" if live objects were not counted. */
static int take_live_number(struct report_reader *r, struct strview *line, uint64_t *n)
{
	if (r->live)
		return take_number(line, n);
	*n = 0;
	return strview_is(take_word(line), "-") ? 0 : -EBADMSG;
}

static int take_site(struct report_reader *r, struct strview *line)
{
	int rc = finish_site(r);

	r->site = (struct alloc_site){ 0 };
	if (rc < 0 || !r->has_mode || take_number(line, &r->site.objects) < 0 ||
	    take_number(line, &r->site.bytes) < 0 || take_number(line, &r->site.samples) < 0 ||
	    take_live_number(r, line, &r->site.live_objects) < 0 ||
	    take_live_number(r, line, &r->site.live_bytes) < 0)
		return -EBADMSG;
	r->has_site = true;
	return take_class(r, *line);
}

/* Reads a stack frame.  `text` is the part of the line after "\tat ". */
static int take_frame(struct report_reader *r, struct strview text)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	uint32_t number;

	if (!r->has_site || r->site.n_frames == WIRE_ALLOC_DEPTH || take_text(text, &name) < 0)
		return -EBADMSG;
	number = intern_add(&r->frames, buf_str(&name), name.len);
	r->numbers[r->site.n_frames++] = number;
	return number < r->a->frames.n ? 0
				       : frame_table_add(&r->a->frames, buf_str(&name), name.len);
}

static bool begins(struct strview *line, const char *with)
{
	if (!strview_starts_with(*line, with))
		return false;
	line->at += strlen(with);
	return true;
}

/* Reads the line "# end N" after N sites.  Returns 1; or -EBADMSG if N is wrong or lines follow. */
static int take_end(struct report_reader *r, struct strview *line)
{
	uint64_t n;

	if (finish_site(r) < 0 || !r->has_mode || take_number(line, &n) < 0 ||
	    line->at != line->end || n != r->a->n || r->text.at != r->text.end ||
	    r->text.end[-1] != '\n')
		return -EBADMSG;
	return 1;
}

static int take_line(struct report_reader *r, struct strview *line)
{
	if (begins(line, "\tat "))
		return take_frame(r, *line);
	if (begins(line, "# end "))
		return take_end(r, line);
	if (!begins(line, "# "))
		return take_site(r, line);
	if (r->has_site || r->a->n > 0)
		return -EBADMSG;
	return take_header(r, line);
}

int alloc_report_read(struct alloc *a, const char *text, size_t len, size_t *line)
{
	struct report_reader r = { .a = a, .text = { text, text + len } };
	struct strview next;
	int rc = alloc_report_is(text, len) ? 0 : -EBADMSG;

	for (*line = 1; rc == 0 && strview_line(&r.text, &next); *line += rc == 0)
		rc = take_line(&r, &next);
	intern_release(&r.kinds);
	intern_release(&r.frames);
	if (rc <= 0)
		return -EBADMSG;
	a->begun = a->ended = true;
	a->end = WIRE_ALLOCED_ON;
	return 0;
}
