#include "render/profile/alloc_view.h"

#include "render/units.h"

static void add_counted(struct buf *out, uint64_t n, const char *one, const char *more)
{
	units_count(out, n);
	buf_addf(out, " %s", n == 1 ? one : more);
}

static void add_old_code(struct buf *out, const struct alloc_note *note)
{
	bool one = note->n == 1;

	add_counted(out, note->n, "thread", "threads");
	buf_addf(out, " entered %s before its instrumentation: arrays that %s there are not "
		 "counted until %s", note->text, one ? "it allocates" : "they allocate",
		 one ? "it returns" : "they return");
}

static void add_refused(struct buf *out, const struct alloc_note *note)
{
	add_counted(out, note->n, "class was not instrumented", "classes were not instrumented");
	buf_addf(out, ", and arrays allocated there were not counted: %s", note->text);
}

void alloc_text_note(struct buf *out, const struct alloc_note *note)
{
	switch (note->note) {
	case WIRE_ALLOC_OLD_CODE:
		add_old_code(out, note);
		break;
	case WIRE_ALLOC_REFUSED:
		add_refused(out, note);
		break;
	case WIRE_ALLOC_FULL:
		units_count(out, note->n);
		buf_addf(out, "%s%s dropped: the memory limit is reached; raise it with --memory",
			 *note->text ? " " : "", note->text);
		break;
	case WIRE_ALLOC_NOT_LIVE:
		buf_addf(out, "live objects were not counted: %s", note->text);
		break;
	default: /* the note comes from a newer agent */
		buf_adds(out, note->text);
		if (note->n > 0) {
			buf_adds(out, ": ");
			units_count(out, note->n);
		}
		break;
	}
}

struct json *alloc_notes_json(const struct alloc *a)
{
	static const char *const names[] = {
		[WIRE_ALLOC_OLD_CODE] = "old_code",
		[WIRE_ALLOC_REFUSED] = "refused",
		[WIRE_ALLOC_FULL] = "full",
		[WIRE_ALLOC_NOT_LIVE] = "not_live",
	};
	struct json *list = json_array();

	for (size_t i = 0; i < a->n_notes; i++) {
		const struct alloc_note *note = &a->notes[i];
		struct json *json = json_object();

		json_put_text(json, "note",
			      note->note < ARRAY_SIZE(names) ? names[note->note] : NULL);
		json_put_text(json, "text", note->text);
		json_put_unsigned(json, "n", note->n);
		json_put(list, NULL, json);
	}
	return list;
}
