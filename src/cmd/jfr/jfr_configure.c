/* jfr configure: shows the recorder's settings, or changes them and shows what has changed. */
#include <string.h>

#include "cmd/attach_call.h"
#include "cmd/jfr/jfr.h"
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

/* Prints lines KEY=VALUE, which `jfr configure` accepts as arguments. */
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
	attach_call_print_text(ctx, buf_str(&line), line.len);
}

/*
 * Sets *found if `name` is the name of JFR's recorder thread.  JFR is initialised if the thread
 * exists, because JfrRecorder::create() starts the thread.  The answers of the JFR.* commands do
 * not show whether JFR is initialised: they contain the path of a configured repository even before
 * create().  Linux cuts a thread name after 15 bytes; JDK 27 shortens a longer name in the middle.
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
		found = false; /* the JVM is exiting, so the result does not matter */
	procfs_close(&proc);
	return found;
}

/*
 * Rejects settings that cannot be changed after JFR was initialised.  JDK 8 to 17 accept such a
 * change and report success; but a new buffer size has no effect, and with a greater stackdepth JFR
 * writes frames beyond the end of arrays that have the old length, which corrupts the heap.  JDK 21
 * and later ignore the change silently.
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
			       "cannot set %s after the JVM's first recording: JFR is initialised "
			       "already (JDK 8 to 17 would report success, and may crash); restart "
			       "the JVM and set it before", jfr_setting_info[setting].key);
	}
	return 0;
}

/* The settings before a change, in the JVM's answer to the change, and after the change. */
struct observed {
	struct jfr_settings before, answer, after;
};

struct change {
	bool requested, accepted;
	const struct jfr_value *before, *after;
};

/*
 * Returns whether a setting was requested and accepted, and its values before and after.  A setting
 * was accepted if the JVM's answer has a line for it, or if its value has changed.  The answer has
 * a line for each changed setting, with two exceptions: if no setting has changed, it lists all
 * settings; and if a word of the command line is wrong, it is an error message, although the words
 * before the wrong one have taken effect.
 */
static struct change change_of(const struct ctx *ctx, int setting, const struct observed *observed)
{
	const struct jfr_value *answer = &observed->answer.values[setting];
	bool answered = answer->known && !observed->answer.is_listing;
	struct change c = {
		.before = &observed->before.values[setting],
		.after = &observed->after.values[setting],
	};

	for (int i = 1; i < ctx->n_args; i++)
		c.requested = c.requested || jfr_setting_find(ctx->args[i]) == setting;
	if (!c.after->known && answered)
		c.after = answer;
	c.accepted = answered || !jfr_value_same(c.before, c.after);
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

static int not_accepted(const struct buf *keys, const struct jfr_settings *answer, struct err *err)
{
	_cleanup_buf_ struct buf why = BUF_INIT;

	jfr_one_line(&why, buf_str(&answer->words));
	return err_set(err, EXIT_ANSWER, "the JVM did not accept %s: %s", buf_str(keys),
		       why.len ? buf_str(&why) : "it can only be set before the first recording");
}

static int show_changes(const struct ctx *ctx, const struct observed *observed, struct err *err)
{
	_cleanup_buf_ struct buf refused = BUF_INIT;
	struct json *changed = ctx->json ? json_object() : NULL;

	for (int i = 0; i < N_JFR_SETTINGS; i++) {
		struct change c = change_of(ctx, i, observed);

		if (c.requested && !c.accepted)
			buf_addf(&refused, "%s%s", refused.len ? ", " : "",
				 jfr_setting_info[i].key);
		else if (c.accepted && changed)
			put_change(changed, i, &c);
		else if (c.accepted)
			show_change(ctx, i, &c);
	}
	if (changed) {
		struct json *doc = settings_json(ctx, &observed->after);

		json_put(doc, "changed", changed);
		json_print_take(doc, ctx->out);
	}
	return refused.len ? not_accepted(&refused, &observed->answer, err) : 0;
}

static int change(const struct ctx *ctx, const char *words, struct err *err)
{
	struct observed observed = { .before = { .is_listing = false } };
	int rc = check_sealed(ctx, err);

	if (rc == 0)
		rc = jfr_ask_settings(ctx, "", &observed.before, err);
	if (rc == 0)
		rc = jfr_ask_settings(ctx, words, &observed.answer, err);
	if (rc == 0)
		rc = jfr_ask_settings(ctx, "", &observed.after, err);
	if (rc == 0)
		rc = show_changes(ctx, &observed, err);
	jfr_settings_release(&observed.before);
	jfr_settings_release(&observed.answer);
	jfr_settings_release(&observed.after);
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
