#include "cmd/trace_plan.h"

#include <string.h>

#include "base/glob.h"
#include "base/xalloc.h"
#include "cmd/trace_rehearse.h"
#include "model/javasig.h"
#include "model/typename.h"

#define HAS_MAX 400 /* bytes of an error */
#define SLIPS 2
#define OFFERED_MAX 20000 /* methods that are compared with what is wanted */
#define LONG_ID UINT32_MAX /* the agent's own may take as much code: what fits with it, fits */

int trace_plan_init(struct trace_plan *plan, char *const *words, size_t n, struct err *err)
{
	*plan = (struct trace_plan){ .wanted = xcalloc(n, sizeof(*plan->wanted)), .n_wanted = n };
	for (size_t i = 0; i < n; i++) {
		const char *why = methodpattern_parse(&plan->wanted[i].pattern, words[i]);

		if (why)
			return err_set(err, EXIT_USAGE,
				       "'%.300s' is no pattern for methods, %s: write "
				       "a.b.Class.method; * stands for any characters",
				       words[i], why);
		plan->wanted[i].near = (struct near)NEAR_INIT(plan->wanted[i].pattern.name);
	}
	return 0;
}

void trace_plan_release(struct trace_plan *plan)
{
	for (size_t i = 0; i < plan->n_wanted; i++) {
		methodpattern_release(&plan->wanted[i].pattern);
		near_release(&plan->wanted[i].near);
		buf_release(&plan->wanted[i].has);
	}
	free(plan->wanted);
	free(plan->numbers);
	trace_release(&plan->trace);
	leftout_release(&plan->left);
	leftout_release(&plan->lambdas);
	*plan = (struct trace_plan){ 0 };
}

char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "%s%s", class, *class ? "." : "");
	javasig_text(&text, name);
	buf_addc(&text, '(');
	methodpattern_parameters(&text, descriptor, ", ");
	buf_addc(&text, ')');
	return buf_take(&text);
}

/* What may be meant instead, as long as nothing else is. */
static void offer(struct trace_wanted *wanted, const struct cf_member *method)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_free_ char *text = NULL;

	if (wanted->n_has == OFFERED_MAX)
		return;
	text = trace_plan_name("", method->name, method->descriptor);
	javasig_text(&name, method->name);
	if (near_distance(buf_str(&name), wanted->pattern.name) <= SLIPS)
		near_add(&wanted->near, text);
	else
		near_offer(&wanted->near, text);
	if (wanted->n_has++ > 0 && wanted->has.len < HAS_MAX)
		buf_adds(&wanted->has, ", ");
	if (wanted->has.len < HAS_MAX)
		buf_addf(&wanted->has, "%.200s", text);
}

/* Is it meant by one of the patterns that mean its class? */
static bool is_wanted(struct trace_plan *plan, const bool *of_class, const struct cf_member *method)
{
	bool meant = false;

	if (!method->name.data || !method->descriptor.data)
		return false;
	for (size_t i = 0; i < plan->n_wanted; i++) {
		struct trace_wanted *wanted = &plan->wanted[i];

		if (!of_class[i])
			continue;
		if (methodpattern_matches(&wanted->pattern, method->name, method->descriptor)) {
			wanted->found = true;
			meant = true;
		} else if (!wanted->found) {
			offer(wanted, method);
		}
	}
	return meant;
}

static void leave_out(struct trace_plan *plan, const struct class_row *row, const char *why,
		      const struct cf_member *method)
{
	_cleanup_free_ char *name = trace_plan_name(row->name, method->name, method->descriptor);

	leftout_add(&plan->left, why, name);
}

static size_t count_methods(const struct cf_class *class)
{
	struct cf_members methods = cf_methods(class);

	return methods.left;
}

/* The methods that are meant and have code. */
static size_t find_methods(struct trace_plan *plan, const struct class_row *row,
			   const bool *of_class, const struct cf_class *class,
			   struct cf_probe *probes)
{
	struct cf_members methods = cf_methods(class);
	struct cf_member method;
	size_t n = 0;

	while (cf_next_member(&methods, &method)) {
		if (!is_wanted(plan, of_class, &method))
			continue;
		if (method.access & CF_ACC_NATIVE)
			leave_out(plan, row, "native", &method);
		else if (method.access & CF_ACC_ABSTRACT)
			leave_out(plan, row, "abstract (trace a class that implements it)",
				  &method);
		else
			probes[n++] = (struct cf_probe){ .name = method.name,
							 .descriptor = method.descriptor,
							 .id = LONG_ID,
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

/* Rewrite it as the agent will; what cannot be done exactly is left out. */
static void add_methods(struct trace_plan *plan, const struct class_row *row,
			const struct cf_class *class, struct cf_probe *probes, size_t n)
{
	_cleanup_buf_ struct buf why = BUF_INIT;
	size_t added = 0;

	if (trace_rehearse(class, row->loader == 0, &plan->jvm, probes, n, &why) < 0) {
		leftout_add(&plan->left, buf_str(&why), row->name);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct cf_member method = { .name = probes[i].name,
						  .descriptor = probes[i].descriptor };

		if (probes[i].refused) {
			leave_out(plan, row, cf_refusal_text(probes[i].refused), &method);
			continue;
		}
		if (plan->n_methods < plan->max_methods)
			add_method(plan, row, &probes[i]);
		plan->n_methods++;
		added++;
	}
	plan->n_classes += added > 0;
}

static void read_class(struct trace_plan *plan, const struct class_row *row, const bool *of_class,
		       const struct cf_class *class)
{
	_cleanup_free_ struct cf_probe *probes =
		xcalloc(count_methods(class) + 1, sizeof(*probes));
	size_t n = find_methods(plan, row, of_class, class, probes);

	if (n == 0)
		return;
	if (plan->n_methods < plan->max_methods) {
		add_methods(plan, row, class, probes, n);
	} else { /* too many anyway: how many is all that is wanted */
		plan->n_methods += n;
		plan->n_classes++;
	}
}

static bool *patterns_of(struct trace_plan *plan, const struct class_row *row)
{
	bool *of_class = xcalloc(plan->n_wanted, sizeof(*of_class));

	for (size_t i = 0; i < plan->n_wanted; i++) {
		of_class[i] = typename_matches(row->name, plan->wanted[i].pattern.class);
		plan->wanted[i].n_classes += of_class[i];
	}
	return of_class;
}

/*
 * A lambda is not missed by who writes 'com.acme.*.*': what it does stands in a method of the
 * class around it.  A switch over types has only a table in its class.
 */
static bool is_missed(const struct trace_plan *plan, const struct class_row *row,
		      const bool *of_class)
{
	if (strcmp(class_kind(row), "lambda") != 0 && !strstr(row->name, "$$TypeSwitch/"))
		return true;
	for (size_t i = 0; i < plan->n_wanted; i++) {
		if (of_class[i] && !glob_is_pattern(plan->wanted[i].pattern.class))
			return true;
	}
	return false;
}

static void leave_class(struct trace_plan *plan, const struct class_row *row, const bool *of_class,
			const char *why)
{
	leftout_add(is_missed(plan, row, of_class) ? &plan->left : &plan->lambdas, why, row->name);
	for (size_t i = 0; i < plan->n_wanted; i++)
		plan->wanted[i].unread |= of_class[i];
}

static int take(const struct class_row *row, struct captured *captured, void *arg, struct err *err)
{
	struct trace_plan *plan = arg;
	struct ag_mem mem = { .budget = SIZE_MAX };
	_cleanup_free_ bool *of_class = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct cf_class class;
	const char *why = roster_why_no_file(row, captured, &text);

	(void)err;
	if (class_is_array(row)) /* it has no methods */
		return 0;
	of_class = patterns_of(plan, row);
	if (captured->outcome == WIRE_CAPTURED_HIDDEN)
		why = "classes that are hidden, or that the JVM lets nobody change";
	if (!why)
		why = cf_open(&class, captured->file.data, captured->file.len, &mem);
	if (why) {
		leave_class(plan, row, of_class, why);
		return 0;
	}
	read_class(plan, row, of_class, &class);
	cf_release(&class);
	return 0;
}

/* The words alone name a class that is there: the method was forgotten. */
static int refuse_class(const struct roster *roster, const char *word, struct err *err)
{
	for (size_t i = 0; i < roster->classes.n; i++) {
		if (strcmp(roster->classes.rows[i].name, word) == 0)
			return err_set(err, EXIT_ANSWER,
				       "%.200s is a class: which method of it? '%.200s.*' means "
				       "all of them", word, word);
	}
	return 0;
}

static int select_classes(const struct ctx *ctx, const struct trace_plan *plan,
			  struct roster *roster, const char *loader, struct err *err)
{
	_cleanup_free_ char **words = xcalloc(plan->n_wanted, sizeof(*words));

	for (size_t i = 0; i < plan->n_wanted; i++) {
		words[i] = plan->wanted[i].pattern.class;
		if (refuse_class(roster, plan->wanted[i].pattern.word, err) < 0)
			return -1;
	}
	return roster_select(ctx, roster, words, plan->n_wanted, loader, err);
}

/* "save*", "m(int)" */
static void add_name(struct buf *out, const struct methodpattern *p)
{
	buf_addf(out, "%.200s", p->name);
	if (p->parameters)
		buf_addf(out, "(%.200s)", p->parameters);
}

/* There are classes as its class is called. */
static int refuse_method(struct trace_wanted *wanted, struct err *err)
{
	const struct methodpattern *p = &wanted->pattern;
	_cleanup_buf_ struct buf name = BUF_INIT;

	add_name(&name, p);
	if (wanted->n_classes == 0)
		return err_set(err, EXIT_ANSWER, "'%.200s' means arrays alone, which have no "
						 "methods", p->class);
	if (wanted->n_classes > 1)
		return err_set(err, EXIT_ANSWER,
			       "none of the %zu classes '%.200s' has a method '%s'%s",
			       wanted->n_classes, p->class, buf_str(&name),
			       wanted->near.n > 0 ? near_hint(&wanted->near) : "");
	if (wanted->near.n > 0)
		return err_set(err, EXIT_ANSWER, "class %.200s has no method '%s'%s", p->class,
			       buf_str(&name), near_hint(&wanted->near));
	return err_set(err, EXIT_ANSWER,
		       "class %.200s has no method '%s' of its own, but %s%s; what is inherited "
		       "is traced in the class that has it", p->class, buf_str(&name),
		       wanted->n_has > 0 ? buf_str(&wanted->has) : "none at all",
		       wanted->has.len >= HAS_MAX ? ", ..." : "");
}

static int judge(const struct ctx *ctx, struct trace_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_wanted; i++) {
		if (!plan->wanted[i].found && !plan->wanted[i].unread)
			return refuse_method(&plan->wanted[i], err);
	}
	if (plan->n_methods > plan->max_methods)
		return err_set(err, EXIT_ANSWER,
			       "that is %zu methods of %zu classes: name fewer, or let it be so "
			       "many with --max-methods", plan->n_methods, plan->n_classes);
	if (plan->n_methods == 0)
		return leftout_refuse(ctx, plan->left.n > 0 ? &plan->left : &plan->lambdas,
				      "no method of these can be traced", err);
	leftout_tell(ctx, &plan->left);
	if (ctx->steps)
		leftout_tell(ctx, &plan->lambdas);
	return 0;
}

int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct roster *roster,
		    const char *loader, struct err *err)
{
	plan->n_loaded = roster->classes.n;
	if (select_classes(ctx, plan, roster, loader, err) < 0 ||
	    roster_capture(roster, roster->classes.rows, roster->classes.n, 0, take, plan, err) < 0)
		return -1;
	steps_add(ctx->steps, "%zu classes were read, %.1f us each", roster->classes.n,
		  (double)roster->capture_ns / 1e3 / (double)(roster->classes.n + 1));
	return judge(ctx, plan, err);
}
