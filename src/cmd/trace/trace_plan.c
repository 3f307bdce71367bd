#include "cmd/trace/trace_plan.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/trace/trace_dry_run.h"
#include "model/class/javasig.h"
#include "model/class/type_name.h"
#include "wire/glob.h"

#define CANDIDATES_MAX 400    /* an error text lists methods until the list has this many bytes */
#define EDITS_MAX 2           /* maximum edit distance from a misspelt name to a suggestion */
/* maximum number of methods that are compared with a pattern to find suggestions */
#define COMPARED_MAX 20000
/* the method id that the dry run inserts; the code for any other id is as long or shorter */
#define LONGEST_ID UINT32_MAX

int trace_plan_init(struct trace_plan *plan, char *const *patterns, size_t n, struct err *err)
{
	*plan = (struct trace_plan){ .wanted = xcalloc(n, sizeof(*plan->wanted)), .n_wanted = n };
	for (size_t i = 0; i < n; i++) {
		const char *why = method_pattern_parse(&plan->wanted[i].pattern, patterns[i]);

		if (why)
			return err_set(err, EXIT_USAGE,
				       "invalid method pattern '%.300s', %s: expected "
				       "CLASS.METHOD, for example 'com.acme.Foo.*'",
				       patterns[i], why);
		plan->wanted[i].near =
			(struct suggestions)SUGGEST_INIT(plan->wanted[i].pattern.name);
	}
	return 0;
}

void trace_plan_release(struct trace_plan *plan)
{
	for (size_t i = 0; i < plan->n_wanted; i++) {
		method_pattern_release(&plan->wanted[i].pattern);
		suggest_release(&plan->wanted[i].near);
		buf_release(&plan->wanted[i].candidates);
	}
	free(plan->wanted);
	free(plan->numbers);
	trace_release(&plan->trace);
	skipped_release(&plan->skipped);
	skipped_release(&plan->lambdas);
	*plan = (struct trace_plan){ 0 };
}

char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "%s%s", class, *class ? "." : "");
	javasig_text(&text, name);
	buf_addc(&text, '(');
	method_pattern_parameters(&text, descriptor, ", ");
	buf_addc(&text, ')');
	return buf_take(&text);
}

/* Adds a method to the suggestions for a pattern that has not matched any method so far. */
static void add_suggestion(struct trace_wanted *wanted, const struct cf_member *method)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_free_ char *text = NULL;

	if (wanted->n_candidates == COMPARED_MAX)
		return;
	text = trace_plan_name("", method->name, method->descriptor);
	javasig_text(&name, method->name);
	if (suggest_distance(buf_str(&name), wanted->pattern.name) <= EDITS_MAX)
		suggest_add(&wanted->near, text);
	else
		suggest_offer(&wanted->near, text);
	if (wanted->n_candidates++ > 0 && wanted->candidates.len < CANDIDATES_MAX)
		buf_adds(&wanted->candidates, ", ");
	if (wanted->candidates.len < CANDIDATES_MAX)
		buf_addf(&wanted->candidates, "%.200s", text);
}

/*
 * Returns true if the method matches one of the patterns.  matched[i] says whether the class part
 * of pattern i matches the method's class.
 */
static bool is_wanted(struct trace_plan *plan, const bool *matched, const struct cf_member *method)
{
	bool matches = false;

	if (!method->name.data || !method->descriptor.data)
		return false;
	for (size_t i = 0; i < plan->n_wanted; i++) {
		struct trace_wanted *wanted = &plan->wanted[i];

		if (!matched[i])
			continue;
		if (method_pattern_matches(&wanted->pattern, method->name, method->descriptor)) {
			wanted->found = true;
			matches = true;
		} else if (!wanted->found) {
			add_suggestion(wanted, method);
		}
	}
	return matches;
}

static void skip_method(struct trace_plan *plan, const struct class_row *row, const char *why,
			const struct cf_member *method)
{
	_cleanup_free_ char *name = trace_plan_name(row->name, method->name, method->descriptor);

	skipped_add(&plan->skipped, why, name, NULL);
}

static size_t count_methods(const struct cf_class *class)
{
	struct cf_members methods = cf_methods(class);

	return methods.left;
}

/*
 * Fills in an element of `probes` for each method of the class that matches a pattern; skips native
 * and abstract methods.  Returns the number of elements.
 */
static size_t find_methods(struct trace_plan *plan, const struct class_row *row,
			   const bool *matched, const struct cf_class *class,
			   struct cf_probe *probes)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;
	size_t n = 0;

	while (cf_next_member(&methods, &method)) {
		if (!is_wanted(plan, matched, &method))
			continue;
		if (method.access & CF_ACC_NATIVE)
			skip_method(plan, row, "native", &method);
		else if (method.access & CF_ACC_ABSTRACT)
			skip_method(plan, row, "abstract (trace a class that implements it)",
				  &method);
		else
			probes[n++] = (struct cf_probe){ .name = method.name,
							 .descriptor = method.descriptor,
							 .id = LONGEST_ID,
							 .values = plan->values };
	}
	return n;
}

static void add_method(struct trace_plan *plan, const struct class_row *row,
		       const struct cf_probe *probe)
{
	_cleanup_free_ char *name = xstrndup(probe->name.data, probe->name.len);
	_cleanup_free_ char *descriptor = xstrndup(probe->descriptor.data, probe->descriptor.len);
	uint32_t i = trace_add(&plan->trace, row->name, name, descriptor);

	plan->numbers = xgrow(plan->numbers, i, &plan->cap_numbers, sizeof(*plan->numbers));
	plan->numbers[i] = row->number;
}

/*
 * Rewrites the methods in a dry run (trace_dry_run.h).  Adds each method that can be instrumented
 * to plan->trace, each other method to plan->skipped.
 */
static void add_methods(struct trace_plan *plan, const struct class_row *row,
			const struct cf_class *class, struct cf_probe *probes, size_t n)
{
	_cleanup_buf_ struct buf why = BUF_INIT;
	size_t added = 0;

	if (trace_dry_run(class, row->loader == 0, &plan->jvm, probes, n, &why) < 0) {
		skipped_add(&plan->skipped, buf_str(&why), row->name, NULL);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct cf_member method = { .name = probes[i].name,
						  .descriptor = probes[i].descriptor };

		if (probes[i].refused) {
			skip_method(plan, row, cf_refusal_text(probes[i].refused), &method);
			continue;
		}
		if (plan->n_methods < plan->max_methods)
			add_method(plan, row, &probes[i]);
		plan->n_methods++;
		added++;
	}
	plan->n_classes += added > 0;
}

static void read_class(struct trace_plan *plan, const struct class_row *row, const bool *matched,
		       const struct cf_class *class)
{
	_cleanup_free_ struct cf_probe *probes =
		xcalloc(count_methods(class) + 1, sizeof(*probes));
	size_t n = find_methods(plan, row, matched, class, probes);

	if (n == 0)
		return;
	if (plan->n_methods < plan->max_methods) {
		add_methods(plan, row, class, probes, n);
	} else { /* more than --max-methods: the error text needs only the numbers */
		plan->n_methods += n;
		plan->n_classes++;
	}
}

/* Returns a new array: element i says whether the class part of pattern i matches the class. */
static bool *match_patterns(struct trace_plan *plan, const struct class_row *row)
{
	bool *matched = xcalloc(plan->n_wanted, sizeof(*matched));

	for (size_t i = 0; i < plan->n_wanted; i++) {
		matched[i] = type_name_matches(row->name, plan->wanted[i].pattern.class);
		plan->wanted[i].n_classes += matched[i];
	}
	return matched;
}

/*
 * Returns true if a skipped class must be reported.  If only globs match the class, two sorts of
 * classes are not reported: lambda classes, because their code is in a method of the enclosing
 * class; and TypeSwitch classes, because they contain only a table.
 */
static bool is_reported(const struct trace_plan *plan, const struct class_row *row,
			const bool *matched)
{
	if (strcmp(class_kind(row), "lambda") != 0 && !strstr(row->name, "$$TypeSwitch/"))
		return true;
	for (size_t i = 0; i < plan->n_wanted; i++) {
		if (matched[i] && !glob_is_pattern(plan->wanted[i].pattern.class))
			return true;
	}
	return false;
}

static void skip_class(struct trace_plan *plan, const struct class_row *row, const bool *matched,
		       const char *why)
{
	skipped_add(is_reported(plan, row, matched) ? &plan->skipped : &plan->lambdas, why,
		    row->name, NULL);
	for (size_t i = 0; i < plan->n_wanted; i++)
		plan->wanted[i].unread |= matched[i];
}

static int take(const struct class_row *row, struct class_capture *captured, void *arg,
		struct err *err)
{
	struct trace_plan *plan = arg;
	struct ag_mem mem = { .budget = SIZE_MAX };
	_cleanup_free_ bool *matched = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct cf_class class;
	const char *why = class_index_why_no_file(row, captured, &text);

	(void)err;
	if (class_is_array(row))
		return 0;
	matched = match_patterns(plan, row);
	if (captured->outcome == WIRE_CAPTURED_HIDDEN)
		why = "classes that are hidden or not modifiable";
	if (!why)
		why = cf_open(&class, captured->file.data, captured->file.len, &mem);
	if (why) {
		skip_class(plan, row, matched, why);
		return 0;
	}
	read_class(plan, row, matched, &class);
	cf_release(&class);
	return 0;
}

/*
 * Returns -1 with err set if the complete pattern `word` is the name of a loaded class, because
 * such a pattern names no method; else 0.
 */
static int refuse_class(const struct class_index *index, const char *word, struct err *err)
{
	for (size_t i = 0; i < index->classes.n; i++) {
		if (strcmp(index->classes.rows[i].name, word) == 0)
			return err_set(err, EXIT_ANSWER,
				       "%.200s is a class: name a method of it, or '%.200s.*' for "
				       "all", word, word);
	}
	return 0;
}

/*
 * If the class part of a pattern is the simple name of one loaded class, replaces it by the full
 * name of this class.  Returns 0; or -1 with err set if the class part is the simple name of
 * several loaded classes.
 */
static int qualify(const struct class_index *index, struct method_pattern *pattern,
		   struct err *err)
{
	const char *name = class_index_resolve(index, pattern->class, err);
	char *old = pattern->class;

	if (!name)
		return -1;
	if (name == old)
		return 0;
	pattern->class = xstrdup(name);
	free(old);
	return 0;
}

static int select_classes(const struct ctx *ctx, struct trace_plan *plan,
			  struct class_index *index, const char *loader, struct err *err)
{
	_cleanup_free_ char **patterns = xcalloc(plan->n_wanted, sizeof(*patterns));

	for (size_t i = 0; i < plan->n_wanted; i++) {
		if (refuse_class(index, plan->wanted[i].pattern.word, err) < 0 ||
		    qualify(index, &plan->wanted[i].pattern, err) < 0)
			return -1;
		patterns[i] = plan->wanted[i].pattern.class;
	}
	return class_index_select(ctx, index, patterns, plan->n_wanted, loader, err);
}

/* Appends the part of a pattern that names the method: "save*" or "m(int)". */
static void add_name(struct buf *out, const struct method_pattern *p)
{
	buf_addf(out, "%.200s", p->name);
	if (p->parameters)
		buf_addf(out, "(%.200s)", p->parameters);
}

/* Sets the error for a pattern that matches loaded classes, but none of their methods. */
static int refuse_method(struct trace_wanted *wanted, struct err *err)
{
	const struct method_pattern *p = &wanted->pattern;
	_cleanup_buf_ struct buf name = BUF_INIT;

	add_name(&name, p);
	if (wanted->n_classes == 0)
		return err_set(err, EXIT_ANSWER, "'%.200s' matches only arrays, which have no "
						 "methods", p->class);
	if (wanted->n_classes > 1)
		return err_set(err, EXIT_ANSWER,
			       "none of the %zu classes '%.200s' has a method '%s'%s",
			       wanted->n_classes, p->class, buf_str(&name),
			       wanted->near.n > 0 ? suggest_hint(&wanted->near) : "");
	if (wanted->near.n > 0)
		return err_set(err, EXIT_ANSWER, "class %.200s has no method '%s'%s", p->class,
			       buf_str(&name), suggest_hint(&wanted->near));
	return err_set(err, EXIT_ANSWER,
		       "class %.200s declares no method '%s'; it declares %s%s; trace an inherited "
		       "method in the class that declares it", p->class, buf_str(&name),
		       wanted->n_candidates > 0 ? buf_str(&wanted->candidates) : "none",
		       wanted->candidates.len >= CANDIDATES_MAX ? ", ..." : "");
}

static int check_plan(const struct ctx *ctx, struct trace_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_wanted; i++) {
		if (!plan->wanted[i].found && !plan->wanted[i].unread)
			return refuse_method(&plan->wanted[i], err);
	}
	if (plan->n_methods > plan->max_methods)
		return err_set(err, EXIT_ANSWER,
			       "the patterns match %zu methods in %zu classes: name fewer, or "
			       "raise --max-methods", plan->n_methods, plan->n_classes);
	if (plan->n_methods == 0)
		return skipped_refuse(ctx, plan->skipped.n > 0 ? &plan->skipped : &plan->lambdas,
				      "none of these methods can be traced", err);
	skipped_print(ctx, &plan->skipped);
	if (ctx->steps)
		skipped_print(ctx, &plan->lambdas);
	return 0;
}

int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct class_index *index,
		    const char *loader, struct err *err)
{
	plan->n_loaded = index->classes.n;
	if (select_classes(ctx, plan, index, loader, err) < 0 ||
	    class_index_capture(index, index->classes.rows, index->classes.n, 0, take, plan,
				err) < 0)
		return -1;
	verbose_step(ctx->steps, "%zu classes were read, %.1f us each", index->classes.n,
		     (double)index->capture_ns / 1e3 / (double)(index->classes.n + 1));
	return check_plan(ctx, plan, err);
}
