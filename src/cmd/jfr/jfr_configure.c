/*
 * jfr configure: the recorder's settings, shown, or changed and compared.
 */
#include <string.h>

#include "cmd/jfr.h"
#include "proc/procfs.h"
#include "render/json.h"

int jfr_ask_settings(const struct ctx *ctx, const char *words, struct jfr_settings *s,
		     struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct jfr_answer answer = JFR_ANSWER_INIT;
	int rc;

	buf_addf(&line, "JFR.configure%s", words);
	rc = jfr_ask(ctx, buf_str(&line), &answer, err);
	if (rc == 0 && answer.code != 0)
		rc = jfr_refusal(buf_str(&line), &answer, err);
	if (rc == 0)
		jfr_settings_parse(s, buf_str(&answer.text), answer.text.len);
	if (rc == 0 && words[0] == '\0' && !s->is_listing)
		rc = jfr_refusal(buf_str(&line), &answer, err);
	buf_release(&answer.text);
	return rc;
}

static void put_value(struct json *doc, const char *key, enum jfr_kind kind,
		      const struct jfr_value *v)
{
	if (!v->known)
		json_put_null(doc, key);
	else if (kind == JFR_PATH)
		json_put_text(doc, key, v->path);
	else if (kind == JFR_BOOL)
		json_put_bool(doc, key, v->number != 0);
	else
		json_put_number(doc, key, v->number);
}

static struct json *settings_json(const struct ctx *ctx, const struct jfr_settings *s)
{
	struct json *doc = json_object(), *settings = json_object();

	for (int i = 0; i < N_JFR_SETTINGS; i++)
		put_value(settings, jfr_setting_info[i].key, jfr_setting_info[i].kind,
			  &s->values[i]);
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put(doc, "settings", settings);
	return doc;
}

/* As KEY=VALUE, which is what configure takes. */
static void show_settings(const struct ctx *ctx, const struct jfr_settings *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (ctx->json) {
		json_print_take(settings_json(ctx, s), ctx->out);
		return;
	}
	for (int i = 0; i < N_JFR_SETTINGS; i++) {
		if (!s->values[i].known)
			continue;
		buf_addf(&line, "%s=", jfr_setting_info[i].key);
		jfr_value_show(&line, jfr_setting_info[i].kind, &s->values[i]);
		buf_addc(&line, '\n');
	}
	fputs(buf_str(&line), ctx->out);
}

/*
 * JfrRecorder::create() starts this thread, and nothing else tells that it ran: the repository
 * has a path before when one was configured.  JDK 27 keeps both ends of a long name.
 */
static bool is_recorder(const char *name, void *found)
{
	*(bool *)found = strcmp(name, "JFR Recorder Th") == 0 ||
			 strcmp(name, "JFR Rec..Thread") == 0;
	return !*(bool *)found;
}

static bool is_initialised(const struct jvm *jvm)
{
	struct procfs proc;
	bool found = false;

	if (procfs_open(&proc, "/proc") < 0)
		return false;
	if (procfs_thread_names(&proc, jvm->pid, is_recorder, &found) < 0)
		found = false; /* going away: the JVM will not answer either */
	procfs_close(&proc);
	return found;
}

/*
 * JDK 8 to 17 take any value at any time and say so.  Those of buffers have no effect then, and a
 * greater stackdepth lets them write frames behind the end of arrays of the old length: they die
 * of a corrupted heap within seconds.  JDK 21 and later ignore these without a word.
 */
static int check_sealed(const struct ctx *ctx, struct err *err)
{
	for (int i = 1; i < ctx->n_args; i++) {
		int setting = jfr_setting_find(ctx->args[i]);

		if (setting < 0 || !jfr_setting_info[setting].sealed)
			continue;
		if (!is_initialised(ctx->jvm))
			return 0;
		return err_set(err, EXIT_ANSWER,
			       "%s was not set: it can only be before the JVM's first recording, "
			       "and JFR is initialised already (JDK 8 to 17 would say they took "
			       "it, and may crash)", jfr_setting_info[setting].key);
	}
	return 0;
}

/* What the JVM says before, to, and after a change. */
struct told {
	struct jfr_settings before, answer, after;
};

struct change {
	bool asked_for, taken;
	const struct jfr_value *before, *after;
};

/*
 * The answer has a line for each setting that was taken, but is a list of all when none was, and
 * an error stands alone in it, although what came first was taken then.
 */
static struct change change_of(const struct ctx *ctx, int setting, const struct told *told)
{
	const struct jfr_value *answer = &told->answer.values[setting];
	bool answered = answer->known && !told->answer.is_listing;
	struct change c = {
		.before = &told->before.values[setting],
		.after = &told->after.values[setting],
	};

	for (int i = 1; i < ctx->n_args; i++)
		c.asked_for = c.asked_for || jfr_setting_find(ctx->args[i]) == setting;
	if (!c.after->known && answered)
		c.after = answer;
	c.taken = answered || !jfr_value_same(c.before, c.after);
	return c;
}

static void show_change(const struct ctx *ctx, int setting, const struct change *c)
{
	enum jfr_kind kind = jfr_setting_info[setting].kind;
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "%s: ", jfr_setting_info[setting].key);
	jfr_value_show(&line, kind, c->before);
	buf_adds(&line, " -> ");
	jfr_value_show(&line, kind, c->after);
	fprintf(ctx->out, "%s\n", buf_str(&line));
}

static void put_change(struct json *changed, int setting, const struct change *c)
{
	const struct jfr_setting_info *info = &jfr_setting_info[setting];
	struct json *one = json_object();

	put_value(one, "old", info->kind, c->before);
	put_value(one, "new", info->kind, c->after);
	json_put(changed, info->key, one);
}

static int not_taken(const struct buf *keys, const struct jfr_settings *answer, struct err *err)
{
	_cleanup_buf_ struct buf why = BUF_INIT;

	jfr_one_line(&why, buf_str(&answer->words));
	return err_set(err, EXIT_ANSWER, "the JVM did not take %s: %s", buf_str(keys),
		       why.len ? buf_str(&why) : "it can only be set before the first recording");
}

static int show_changes(const struct ctx *ctx, const struct told *told, struct err *err)
{
	_cleanup_buf_ struct buf refused = BUF_INIT;
	struct json *changed = ctx->json ? json_object() : NULL;

	for (int i = 0; i < N_JFR_SETTINGS; i++) {
		struct change c = change_of(ctx, i, told);

		if (c.asked_for && !c.taken)
			buf_addf(&refused, "%s%s", refused.len ? ", " : "",
				 jfr_setting_info[i].key);
		else if (c.taken && changed)
			put_change(changed, i, &c);
		else if (c.taken)
			show_change(ctx, i, &c);
	}
	if (changed) {
		struct json *doc = settings_json(ctx, &told->after);

		json_put(doc, "changed", changed);
		json_print_take(doc, ctx->out);
	}
	return refused.len ? not_taken(&refused, &told->answer, err) : 0;
}

static int change(const struct ctx *ctx, const char *words, struct err *err)
{
	struct told told = { .before = { .is_listing = false } };
	int rc = check_sealed(ctx, err);

	if (rc == 0)
		rc = jfr_ask_settings(ctx, "", &told.before, err);
	if (rc == 0)
		rc = jfr_ask_settings(ctx, words, &told.answer, err);
	if (rc == 0)
		rc = jfr_ask_settings(ctx, "", &told.after, err);
	if (rc == 0)
		rc = show_changes(ctx, &told, err);
	jfr_settings_release(&told.before);
	jfr_settings_release(&told.answer);
	jfr_settings_release(&told.after);
	return rc;
}

int jfr_configure(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	struct jfr_settings settings = { .is_listing = false };
	int rc;

	if (req->words.len > 0)
		return change(ctx, buf_str(&req->words), err);
	rc = jfr_ask_settings(ctx, "", &settings, err);
	if (rc == 0)
		show_settings(ctx, &settings);
	jfr_settings_release(&settings);
	return rc;
}
