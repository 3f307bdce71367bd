/*
 * The command flags: lists the JVM's -XX flags, shows one, or sets a manageable one in the running
 * JVM.
 */
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "base/suggest.h"
#include "model/vm/vmflags.h"
#include "render/vm/vmflags_table.h"
#include "wire/glob.h"

#define ANSWER_MAX (64u * 1024 * 1024)

/* The parsed argument: NAME, GLOB, NAME=VALUE, +NAME or -NAME, each also with "-XX:" before it. */
struct flag_request {
	char *name;        /* name or glob; NULL: list all flags */
	const char *value; /* the new value; NULL: show the flag */
	char sign; /* the '+' (value "true") or '-' (value "false") before the name; '\0': none */
};

static struct flag_request parse_request(const struct ctx *ctx)
{
	const char *word = ctx->n_args > 0 ? ctx->args[0] : NULL, *equals;
	struct flag_request request = { NULL, NULL, '\0' };

	if (!word)
		return request;
	if (strncmp(word, "-XX:", 4) == 0)
		word += 4;
	if (*word == '+' || *word == '-') {
		request.sign = *word++;
		request.value = request.sign == '+' ? "true" : "false";
		request.name = xstrdup(word);
		return request;
	}
	equals = strchr(word, '=');
	request.value = equals ? equals + 1 : NULL;
	request.name = equals ? xstrndup(word, (size_t)(equals - word)) : xstrdup(word);
	return request;
}

static int check(const struct ctx *ctx, struct err *err)
{
	struct flag_request request = parse_request(ctx);
	int rc = 0;

	if (!request.name)
		return 0;
	if (!request.name[0])
		rc = err_set(err, EXIT_USAGE,
			     "invalid flag '%s': the name is missing; expected NAME, +NAME, -NAME "
			     "or NAME=VALUE", ctx->args[0]);
	else if (request.sign && strchr(request.name, '='))
		rc = err_set(err, EXIT_USAGE,
			     "invalid flag '%s': it has both a sign and a value; give only one of "
			     "them", ctx->args[0]);
	else if (request.value && glob_is_pattern(request.name))
		rc = err_set(err, EXIT_USAGE, "cannot set '%s': it is a pattern; set one flag at "
			     "a time", request.name);
	else if (request.value && ctx->implied)
		rc = err_set(err, EXIT_USAGE, "missing TARGET: name the JVM in which the flag is "
			     "set; jtool list shows the JVMs");
	else if (request.value && ctx->all)
		rc = err_set(err, EXIT_USAGE, "a flag can only be set in one JVM at a time: give "
			     "its pid or main class instead of 'all'");
	free(request.name);
	return rc;
}

/* Up to JDK 26, VM.flags omits locked flags, so the error mentions them. */
static int unknown(const struct vmflags *flags, const char *name, struct err *err)
{
	struct suggestions near = SUGGEST_INIT(name);
	int rc;

	for (size_t i = 0; i < flags->n; i++)
		suggest_offer(&near, flags->items[i].name);
	rc = err_set(err, EXIT_ANSWER,
		     "this JVM has no flag %s, or it is locked (-XX:+UnlockDiagnosticVMOptions, "
		     "-XX:+UnlockExperimentalVMOptions)%s",
		     name, suggest_hint(&near));
	suggest_release(&near);
	return rc;
}

static int list(const struct ctx *ctx, struct vmflags *flags, const char *glob, struct err *err)
{
	if (glob)
		vmflags_filter(flags, glob);
	if (flags->n == 0)
		return err_set(err, EXIT_ANSWER, "no flag of this JVM matches '%s'; without a "
			       "pattern, all are listed", glob);
	vmflags_output(flags, ctx->jvm->pid, ctx->json, ctx->out);
	return 0;
}

static void show(const struct ctx *ctx, const struct vmflag *flag)
{
	_cleanup_buf_ struct buf spelled = BUF_INIT;
	_cleanup_free_ char *line = NULL;

	if (ctx->json) {
		json_print_take(vmflag_json(flag, NULL, ctx->jvm->pid), ctx->out);
		return;
	}
	vmflag_append_option(flag, &spelled);
	line = printable_add_str(buf_str(&spelled));
	fprintf(ctx->out, "%s\n", line);
}

static void show_change(const struct ctx *ctx, const struct vmflag *old, const struct vmflag *new)
{
	_cleanup_free_ char *before = printable_add_str(old->value);
	_cleanup_free_ char *after = printable_add_str(new->value);

	if (ctx->json)
		json_print_take(vmflag_json(new, old, ctx->jvm->pid), ctx->out);
	else if (strcmp(before, after) == 0)
		fprintf(ctx->out, "%s: %s, unchanged\n", new->name, *after ? after : "empty");
	else
		fprintf(ctx->out, "%s: %s -> %s\n", new->name, *before ? before : "empty",
			*after ? after : "empty");
}

/*
 * Returns the option of the java launcher that sets the flag to this value.  The caller frees it.
 */
static char *spelled_with(const struct vmflag *flag, const char *value)
{
	bool on = vmflag_form(flag) == VMFLAG_BOOL && strcmp(value, "1") == 0;
	const struct vmflag wanted = {
		.type = flag->type,
		.name = flag->name,
		.value = on ? (char *)"true" : (char *)value,
	};
	struct buf spelled = BUF_INIT;

	vmflag_append_option(&wanted, &spelled);
	return buf_take(&spelled);
}

/* Asks the JVM to set the flag.  If the JVM refuses, the error is the JVM's reason with a hint. */
static int send(const struct ctx *ctx, const struct vmflag *flag, const char *value,
		struct err *err)
{
	const char *const args[] = { flag->name, value };
	const struct attach_request req = { "setflag", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *spelled = NULL;
	struct err why = { .code = EXIT_DONE };

	if (attach_call_text(ctx, &req, ANSWER_MAX, &text, &why) == 0)
		return 0;
	if (why.code != EXIT_ANSWER || vmflag_is_manageable(flag)) {
		*err = why;
		return -1;
	}
	spelled = spelled_with(flag, value);
	return err_set(err, why.code, "%s; it is not manageable: restart with %s",
		       why.text, spelled);
}

static int set(const struct ctx *ctx, const struct vmflag *flag, const struct flag_request *request,
	       struct err *err)
{
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct vmflags now = { 0 };
	const struct vmflag *new;
	int rc;

	if (request->sign && vmflag_form(flag) != VMFLAG_BOOL)
		return err_set(err, EXIT_ANSWER,
			       "+ and - only set boolean flags, but %s has the type %s; use "
			       "%s=VALUE", flag->name, flag->type, flag->name);
	if (vmflag_wire_value(flag, request->value, &value, err) < 0 ||
	    send(ctx, flag, buf_str(&value), err) < 0)
		return -1;
	rc = attach_call_flags(ctx, &now, err);
	new = rc == 0 ? vmflags_find(&now, flag->name) : NULL;
	if (new)
		show_change(ctx, flag, new);
	else if (rc == 0)
		rc = err_set(err, EXIT_PARTIAL,
			     "cannot confirm the new value of %s: the JVM accepted it, but no "
			     "longer lists the flag; look for it with jtool flags %d", flag->name,
			     (int)ctx->jvm->pid);
	vmflags_release(&now);
	return rc;
}

static int execute(const struct ctx *ctx, struct vmflags *flags, const struct flag_request *request,
		   struct err *err)
{
	const struct vmflag *flag;

	if (!request->name || glob_is_pattern(request->name))
		return list(ctx, flags, request->name, err);
	flag = vmflags_find(flags, request->name);
	if (!flag)
		return unknown(flags, request->name, err);
	if (request->value)
		return set(ctx, flag, request, err);
	show(ctx, flag);
	return 0;
}

/*
 * Reads all flags, even if only one is shown, because the attach operation printflag, which reads
 * one flag, does not report its type, kind and origin.
 */
static int run(struct ctx *ctx, struct err *err)
{
	struct flag_request request = parse_request(ctx);
	struct vmflags flags = { 0 };
	int rc = attach_call_flags(ctx, &flags, err);

	if (rc == 0)
		rc = execute(ctx, &flags, &request, err);
	vmflags_release(&flags);
	free(request.name);
	return rc;
}

const struct cmd cmd_flags = {
	.name = "flags",
	.aliases = "jinfo",
	.synopsis = "[TARGET] [NAME|GLOB|NAME=VALUE|+NAME|-NAME]",
	.summary = "list flags of the JVM (-XX), show one, or set a manageable one",
	.examples = (const struct example[]){
		{ "flags 4711", "every flag with its origin" },
		{ "flags 4711 MaxHeapSize", "one flag" },
		{ "flags 4711 +HeapDumpOnOutOfMemoryError", "sets a manageable flag" },
		{ NULL, NULL },
	},
	.details =
		"Without NAME, lists all flags with type, kind, origin and value.  NAME prints\n"
		"one flag as an option of java.  NAME=VALUE, +NAME and -NAME set a flag in the\n"
		"running JVM, and print its old and new value.  A leading -XX: is accepted.\n"
		"Sizes may have a unit: 512m.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.dash_words = true,
	.check = check,
	.run = run,
};
