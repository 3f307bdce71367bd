/*
 * flags: the flags of the JVM (-XX): list them, show one, set one while it runs.
 */
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/answer.h"
#include "model/near.h"
#include "model/vmflags.h"
#include "render/vmflags_show.h"

#define ANSWER_MAX (64u * 1024 * 1024)

/* What is asked for, in any of the spellings: NAME, GLOB, NAME=VALUE, +NAME, -XX:+NAME, … */
struct wish {
	char *name;        /* NULL: all */
	const char *value; /* to set it to; NULL: do not */
	char sign;         /* '+' or '-' in front: value is "true" or "false" */
};

static struct wish understand(const struct ctx *ctx)
{
	const char *word = ctx->n_args > 0 ? ctx->args[0] : NULL, *equals;
	struct wish wish = { NULL, NULL, '\0' };

	if (!word)
		return wish;
	if (strncmp(word, "-XX:", 4) == 0)
		word += 4;
	if (*word == '+' || *word == '-') {
		wish.sign = *word++;
		wish.value = wish.sign == '+' ? "true" : "false";
		wish.name = xstrdup(word);
		return wish;
	}
	equals = strchr(word, '=');
	wish.value = equals ? equals + 1 : NULL;
	wish.name = equals ? xstrndup(word, (size_t)(equals - word)) : xstrdup(word);
	return wish;
}

static int check(const struct ctx *ctx, struct err *err)
{
	struct wish wish = understand(ctx);
	int rc = 0;

	if (wish.name && !wish.name[0])
		rc = err_set(err, EXIT_USAGE, "'%s' names no flag", ctx->args[0]);
	else if (wish.sign && strchr(wish.name, '='))
		rc = err_set(err, EXIT_USAGE, "'%s' has both a sign and a value", ctx->args[0]);
	else if (wish.value && glob_is_pattern(wish.name))
		rc = err_set(err, EXIT_USAGE, "'%s' is a pattern: set one flag at a time",
			     wish.name);
	else if (wish.value && ctx->all)
		rc = err_set(err, EXIT_USAGE, "flags are set in one JVM at a time, not in all");
	free(wish.name);
	return rc;
}

/*
 * All of them, for one alone, too: VM.flags -all tells type, kind and origin, and from JDK 27 on
 * flags that the operation printflag denies because they are locked.
 */
static int ask(const struct ctx *ctx, struct vmflags *flags, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (answer_jcmd(ctx, "VM.flags -all", ANSWER_MAX, &text, err) < 0)
		return -1;
	if (vmflags_parse(flags, buf_str(&text), text.len) < 0)
		return err_set(err, EXIT_PARTIAL, "the JVM's answer is no whole list of flags");
	return 0;
}

static int unknown(const struct vmflags *flags, const char *name, struct err *err)
{
	struct near near = NEAR_INIT(name);
	int rc;

	for (size_t i = 0; i < flags->n; i++)
		near_offer(&near, flags->items[i].name);
	rc = err_set(err, EXIT_ANSWER,
		     "this JVM has no flag %s, or it is locked (-XX:+UnlockDiagnosticVMOptions, "
		     "-XX:+UnlockExperimentalVMOptions)%s", name, near_hint(&near));
	near_release(&near);
	return rc;
}

static int list(const struct ctx *ctx, struct vmflags *flags, const char *glob, struct err *err)
{
	if (glob)
		vmflags_filter(flags, glob);
	if (flags->n == 0)
		return err_set(err, EXIT_ANSWER, "no flag of this JVM matches '%s'", glob);
	if (ctx->json)
		json_print_take(vmflags_json(flags, ctx->jvm->pid), ctx->out);
	else
		vmflags_print(flags, ctx->out);
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
	vmflag_spell(flag, &spelled);
	line = text_printable_str(buf_str(&spelled));
	fprintf(ctx->out, "%s\n", line);
}

static void show_change(const struct ctx *ctx, const struct vmflag *old, const struct vmflag *new)
{
	_cleanup_free_ char *before = text_printable_str(old->value);
	_cleanup_free_ char *after = text_printable_str(new->value);

	if (ctx->json)
		json_print_take(vmflag_json(new, old, ctx->jvm->pid), ctx->out);
	else if (strcmp(before, after) == 0)
		fprintf(ctx->out, "%s: %s, as before\n", new->name, *after ? after : "empty");
	else
		fprintf(ctx->out, "%s: %s -> %s\n", new->name, *before ? before : "empty",
			*after ? after : "empty");
}

/* How to start a JVM with this value. */
static char *spelled_with(const struct vmflag *flag, const char *value)
{
	bool on = vmflag_form(flag) == VMFLAG_BOOL && strcmp(value, "1") == 0;
	const struct vmflag wanted = {
		.type = flag->type,
		.name = flag->name,
		.value = on ? (char *)"true" : (char *)value,
	};
	struct buf spelled = BUF_INIT;

	vmflag_spell(&wanted, &spelled);
	return buf_take(&spelled);
}

/* The JVM decides whether it can be set: it says why not. */
static int send(const struct ctx *ctx, const struct vmflag *flag, const char *value,
		struct err *err)
{
	const char *const args[] = { flag->name, value };
	const struct attach_request req = { "setflag", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *spelled = NULL;
	struct err why = { .code = EXIT_DONE };

	if (answer_text(ctx, &req, ANSWER_MAX, &text, &why) == 0)
		return 0;
	if (why.code != EXIT_ANSWER || vmflag_is_manageable(flag)) {
		*err = why;
		return -1;
	}
	spelled = spelled_with(flag, value);
	return err_set(err, why.code, "%s; it is not manageable, and takes a restart with %s",
		       why.text, spelled);
}

static int set(const struct ctx *ctx, const struct vmflag *flag, const struct wish *wish,
	       struct err *err)
{
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct vmflags now = { 0 };
	const struct vmflag *new;
	int rc;

	if (wish->sign && vmflag_form(flag) != VMFLAG_BOOL)
		return err_set(err, EXIT_ANSWER, "%s is not on or off, but a value (%s): %s=VALUE",
			       flag->name, flag->type, flag->name);
	if (vmflag_wire_value(flag, wish->value, &value, err) < 0 ||
	    send(ctx, flag, buf_str(&value), err) < 0)
		return -1;
	rc = ask(ctx, &now, err);
	new = rc == 0 ? vmflags_find(&now, flag->name) : NULL;
	if (new)
		show_change(ctx, flag, new);
	else if (rc == 0)
		rc = err_set(err, EXIT_PARTIAL, "the JVM took the value, but shows no %s any more",
			     flag->name);
	vmflags_release(&now);
	return rc;
}

static int fulfil(const struct ctx *ctx, struct vmflags *flags, const struct wish *wish,
		  struct err *err)
{
	const struct vmflag *flag;

	if (!wish->name || glob_is_pattern(wish->name))
		return list(ctx, flags, wish->name, err);
	flag = vmflags_find(flags, wish->name);
	if (!flag)
		return unknown(flags, wish->name, err);
	if (wish->value)
		return set(ctx, flag, wish, err);
	show(ctx, flag);
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	struct wish wish = understand(ctx);
	struct vmflags flags = { 0 };
	int rc = ask(ctx, &flags, err);

	if (rc == 0)
		rc = fulfil(ctx, &flags, &wish, err);
	vmflags_release(&flags);
	free(wish.name);
	return rc;
}

const struct cmd cmd_flags = {
	.name = "flags",
	.synopsis = "TARGET [NAME|GLOB|NAME=VALUE|+NAME|-NAME]",
	.summary = "flags of the JVM (-XX): list them, show one, set a manageable one",
	.details =
		"Without a NAME all are listed with type, kind, origin and value; with one it is\n"
		"printed as java takes it.  NAME=VALUE, +NAME and -NAME set it while the JVM runs\n"
		"and print its old and new value; -XX:NAME=VALUE and so on are the same.  Sizes\n"
		"may have units: 512m.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.dash_words = true,
	.check = check,
	.run = run,
};
