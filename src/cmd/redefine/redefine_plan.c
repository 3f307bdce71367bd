/*
 * redefine: which classes are meant, and whether the JVM would take what is to be put in their
 * place.
 */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/redefine.h"
#include "model/codediff.h"

#define CANDIDATES_MAX 500 /* bytes of an error */

void redefine_plan_release(struct redefine_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		buf_release(&plan->items[i].why);
		buf_release(&plan->items[i].notes);
	}
	free(plan->items);
	*plan = (struct redefine_plan){ 0 };
}

static void set_result(struct redefine_plan *plan, struct redefine_item *item,
		       enum redefine_result result)
{
	item->result = result;
	plan->n_of[result]++;
}

/* The first row of this name; the rows are sorted by it. */
static size_t first_of(const struct classes *classes, const char *name)
{
	size_t low = 0, high = classes->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(classes->rows[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int refuse_several(const struct classes *classes, size_t first, size_t n, struct err *err)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (size_t i = first; i < first + n && names.len < CANDIDATES_MAX; i++)
		buf_addf(&names, "%s%s", i > first ? ", " : "",
			 places_loader(&classes->places, classes->rows[i].loader));
	return err_set(err, EXIT_ANSWER,
		       "%zu classes are called '%.200s', of the loaders %s; choose with --loader",
		       n, classes->rows[first].name, buf_str(&names));
}

static int match(struct redefine_plan *plan, struct redefine_item *item,
		 const struct classes *classes, struct err *err)
{
	size_t first = first_of(classes, item->file->name), n = 0;

	while (first + n < classes->n &&
	       strcmp(classes->rows[first + n].name, item->file->name) == 0)
		n++;
	if (n > 1)
		return refuse_several(classes, first, n, err);
	if (n == 1)
		item->row = &classes->rows[first];
	else
		set_result(plan, item, REDEFINE_NOT_LOADED);
	return 0;
}

/* The roster knows which names are like the first one. */
static int refuse_all(const struct ctx *ctx, const struct redefine_plan *plan,
		      struct roster *roster, struct err *err)
{
	char *const name[] = { plan->items[0].file->name };

	if (roster_select(ctx, roster, name, 1, NULL, err) < 0)
		return -1;
	return err_set(err, EXIT_ANSWER, "no class is loaded that one of the files is for");
}

int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct classset *set,
		   struct roster *roster, const char *loader, struct err *err)
{
	plan->items = xcalloc(set->n, sizeof(*plan->items));
	plan->n = set->n;
	if (loader && roster_select(ctx, roster, NULL, 0, loader, err) < 0)
		return -1;
	for (size_t i = 0; i < set->n; i++) {
		struct redefine_item *item = &plan->items[i];
		const struct buf *bytes = &set->files[i].bytes;

		item->file = &set->files[i];
		(void)digest_of(bytes->data, bytes->len, item->digest);
		if (match(plan, item, &roster->classes, err) < 0)
			return -1;
	}
	return plan->n_of[REDEFINE_NOT_LOADED] < plan->n ? 0 :
							   refuse_all(ctx, plan, roster, err);
}

/* What speaks against it before the class files are compared; NULL: nothing. */
static const char *cannot_be_had(const struct captured *captured)
{
	switch (captured->outcome) {
	case WIRE_CAPTURED_FILE:
		return NULL;
	case WIRE_CAPTURED_ERROR:
		return redefinition_error(captured->code);
	default:
		return "the JVM lets nobody change this class";
	}
}

/*
 * The files of a directory or a jar are mostly those that run already.  One that is named is
 * meant: for its line numbers, annotations or constant fields, which are not looked at.
 */
static bool is_same(const struct captured *captured, const struct cf_class *new)
{
	struct codediff diff = { 0 };
	bool same = !codediff_compare(&diff, captured, new) && diff.n == 0;

	codediff_release(&diff);
	return same;
}

/*
 * Up to JDK 17 HotSpot keeps the bytes of a class that was once retransformed, and goes back to
 * them whenever it is retransformed again, also where somebody has redefined it since.
 */
static void note_stale(const struct captured *captured, const struct redefinition_jvm *jvm,
		       struct buf *notes)
{
	if (jvm->release > 0 && jvm->release <= 17 && captured_differences(captured, NULL) > 0)
		buf_adds(notes, "another agent has redefined it, and the JVM keeps what it was "
				"before: that is what it will be behind restore\n");
}

static void compare_files(struct redefine_plan *plan, struct redefine_item *item,
			  const struct captured *captured, const struct cf_class *running,
			  const struct cf_class *new)
{
	struct redefinition_jvm jvm = plan->jvm;

	jvm.unverified |= item->row->loader == 0 && jvm.release <= 21;
	if (captured->memory)
		jvm.pool_count = captured->pool_count;
	if (redefinition_check(running, new, &jvm, &item->why) != 0) {
		set_result(plan, item, REDEFINE_REFUSED);
	} else if (!item->file->named && is_same(captured, new)) {
		set_result(plan, item, REDEFINE_SAME);
	} else {
		redefinition_notes(running, new, &item->notes);
		note_stale(captured, &jvm, &item->notes);
		set_result(plan, item, REDEFINE_FITS);
	}
}

static void refuse(struct redefine_plan *plan, struct redefine_item *item, const char *whose,
		   const char *why)
{
	buf_addf(&item->why, "%s%s\n", whose, why);
	set_result(plan, item, REDEFINE_REFUSED);
}

static void compare(struct redefine_plan *plan, struct redefine_item *item,
		    const struct captured *captured)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	const struct buf *file = &item->file->bytes;
	struct cf_class running, new;
	const char *why = cannot_be_had(captured);

	if (why) {
		refuse(plan, item, "", why);
		return;
	}
	why = cf_open(&new, file->data, file->len, &mem);
	if (why) {
		refuse(plan, item, "it is no class file: ", why);
		return;
	}
	why = cf_open(&running, captured->file.data, captured->file.len, &mem);
	if (why) {
		refuse(plan, item, "what the JVM runs cannot be read: ", why);
	} else {
		compare_files(plan, item, captured, &running, &new);
		cf_release(&running);
	}
	cf_release(&new);
}

static int take(const struct class_row *row, struct captured *captured, void *arg, struct err *err)
{
	struct redefine_plan *plan = arg;

	(void)row, (void)err;
	while (!plan->items[plan->next].row)
		plan->next++;
	compare(plan, &plan->items[plan->next++], captured);
	return 0;
}

int redefine_compare(struct redefine_plan *plan, struct roster *roster, struct err *err)
{
	_cleanup_free_ struct class_row *rows = xcalloc(plan->n, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->items[i].row)
			rows[n++] = *plan->items[i].row;
	}
	plan->next = 0;
	return roster_capture(roster, rows, n, 0, take, plan, err);
}
