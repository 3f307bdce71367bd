/* The command jfr: runs the diagnostic commands JFR.*, and copies their files to the caller. */
#include "cmd/jfr/jfr.h"

#include <string.h>

#include "cmd/attach_call.h"
#include "attach/attach.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"

#define ANSWER_MAX (4u * 1024 * 1024)

#define AT(member) offsetof(struct jfr_opts, member)

static const struct opt jfr_rows[] = {
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "TIME",
	  "how long to record (default 30s)", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_GROUP("View"),
	OPT_LIMIT_ROW(AT(limit), "20"),
	{ 0, "filter", OPT_TEXT, AT(filter), "CONDITION",
	  "only events such as 'duration>10ms'", NULL },
	{ 0, "last", OPT_SECONDS, AT(last_ms), "TIME",
	  "only events of the last TIME of the recording", NULL },
	{ 0, "max-memory", OPT_MB, AT(max_memory), "SIZE",
	  "memory for constants and results (default half of the free)", NULL },
	OPT_END,
};

static const struct jfr_opts defaults = { .duration_ms = JFR_UNSET };

/*
 * Runs a JFR.* command.  `writes` is true if the command writes a file before it answers; the
 * answer may then take minutes.
 */
static int ask(const struct ctx *ctx, const char *line, bool writes, struct jfr_answer *answer,
	       struct err *err)
{
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms, .steps = ctx->steps, .max = ANSWER_MAX
	};
	const char *const args[] = { line };
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	struct attach_reply reply;
	int rc;

	if (writes)
		rc = attach_execute_long(ctx->jvm, &opts, &req, &reply, err);
	else
		rc = attach_execute(ctx->jvm, &opts, &req, &reply, err);
	if (rc < 0)
		return -1;
	answer->code = reply.code;
	buf_reset(&answer->text);
	rc = spool_text(&reply.output, &answer->text, ANSWER_MAX);
	attach_reply_release(&reply);
	if (rc < 0)
		return io_temp_failed(err, rc, "the JVM's answer");
	return 0;
}

int jfr_ask(const struct ctx *ctx, const char *line, struct jfr_answer *answer, struct err *err)
{
	return ask(ctx, line, false, answer, err);
}

int jfr_refusal(const char *line, const struct jfr_answer *answer, struct err *err)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	int len = (int)strcspn(line, " ");

	if (strstr(buf_str(&answer->text), "Unknown diagnostic command"))
		return err_set(err, EXIT_ANSWER,
			       "this JVM has no Flight Recorder: it does not know the command "
			       "%.*s; use JDK 8u262, or 11 and later", len, line);
	if (strstr(buf_str(&answer->text), "JFR.start to start a recording"))
		return err_set(err, EXIT_ANSWER,
			       "there is no recording: jtool jfr TARGET start starts one, jtool "
			       "jfr TARGET record makes one of 30 s");
	jfr_one_line(&words, buf_str(&answer->text));
	if (words.len == 0)
		return err_set(err, EXIT_ANSWER,
			       "the JVM refused %.*s and gave no reason; see its log", len, line);
	return err_set(err, EXIT_ANSWER, "%.*s: %s", len, line, buf_str(&words));
}

int jfr_do(const struct ctx *ctx, enum jfr_verb verb, const char *line,
	   struct jfr_answer *answer, struct err *err)
{
	struct jfr_answer own = JFR_ANSWER_INIT;
	struct jfr_answer *got = answer ? answer : &own;
	bool writes = verb == JFR_DUMP || verb == JFR_STOP;
	int rc = ask(ctx, line, writes, got, err);

	if (rc == 0 && (got->code != 0 || !jfr_succeeded(verb, buf_str(&got->text))))
		rc = jfr_refusal(line, got, err);
	buf_release(&own.text);
	return rc;
}

/* Runs a diagnostic command such as "JFR.start" with the caller's words, and shows the answer. */
static int forward(const struct ctx *ctx, enum jfr_verb verb, const char *command,
		   const struct jfr_request *req, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct jfr_answer answer = JFR_ANSWER_INIT;
	int rc;

	buf_addf(&line, "%s%s", command, buf_str(&req->words));
	rc = jfr_do(ctx, verb, buf_str(&line), &answer, err);
	if (ctx->json && (rc == 0 || answer.text.len > 0))
		attach_call_print_json(ctx, answer.code, &answer.text);
	else if (rc == 0)
		attach_call_print_text(ctx, buf_str(&answer.text), answer.text.len);
	/*
	 * A JVM that has written the recording's data answers "written to" and the file, but only
	 * since JDK 18.  Before, it may have written a file without these words.
	 */
	if (rc == 0 && verb == JFR_STOP && !ctx->json &&
	    !strstr(buf_str(&answer.text), "written to"))
		fputs("Its data was discarded, unless it was started with a filename.\n",
		      ctx->out);
	buf_release(&answer.text);
	return rc;
}

static int jfr_start(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	if (jfr_check_repository(ctx, err) < 0)
		return -1;
	return forward(ctx, JFR_START, "JFR.start", req, err);
}

static int jfr_check(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	return forward(ctx, JFR_CHECK, "JFR.check", req, err);
}

static int save(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	struct atomic_file out;
	int rc;

	if (jfr_open_file(ctx, req->file, &out, err) < 0)
		return -1;
	rc = jfr_fetch(ctx, buf_str(&req->words), 0, &out, err);
	if (rc == 0)
		rc = jfr_commit(ctx, req->file, &out, err);
	atomic_file_release(&out);
	return rc;
}

static int jfr_dump(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	return save(ctx, req, err);
}

/*
 * Stops a recording.  If the caller wants a file, dumps the recording first, and stops it when the
 * file is complete.  JFR.stop could also write the file, but if that fails, JFR.stop discards the
 * data and nevertheless reports success.
 */
static int jfr_stop(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct jfr_answer answer = JFR_ANSWER_INIT;
	int rc;

	if (!req->file)
		return forward(ctx, JFR_STOP, "JFR.stop", req, err);
	if (save(ctx, req, err) < 0)
		return -1;
	buf_addf(&line, "JFR.stop%s", buf_str(&req->words));
	rc = jfr_do(ctx, JFR_STOP, buf_str(&line), &answer, err);
	/*
	 * Not an error: the recording had already ended, because its duration was over.  JDK 8 to
	 * 17 retain such a recording until the JVM exits, so JFR.stop still finds it.
	 */
	if (rc < 0 && strstr(buf_str(&answer.text), "already stopped")) {
		*err = (struct err){ .code = EXIT_DONE };
		rc = 0;
	}
	if (rc < 0)
		err_prefix(err, "%s is complete, but the recording continues", req->file);
	buf_release(&answer.text);
	return rc;
}

static const struct subcommand {
	const char *name;
	bool may_save,  /* the subcommand accepts FILE */
		must_save; /* the subcommand needs FILE */
	jfr_run *run;
} subcommands[] = {
	{ "start", false, false, jfr_start },
	{ "check", false, false, jfr_check },
	{ "dump", true, true, jfr_dump },
	{ "stop", true, false, jfr_stop },
	{ "configure", false, false, jfr_configure },
	{ "record", true, true, jfr_record },
	{ "view", false, false, jfr_view },
};

static const struct subcommand *subcommand_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (strcmp(subcommands[i].name, name) == 0)
			return &subcommands[i];
	}
	return NULL;
}

static int read_word(struct jfr_request *req, const char *word, bool may_save, struct err *err)
{
	const char *file = strchr(word, '=') ? jfr_value_of(word, "filename") : word;

	if (may_save && file) {
		if (req->file)
			return err_set(err, EXIT_USAGE, "two files given: '%s' and '%s'; give one",
				       req->file, file);
		req->file = file;
		return file[0] ? 0 : err_set(err, EXIT_USAGE,
					     "FILE is empty: name the file to write");
	}
	if (jfr_add_word(&req->words, word) < 0)
		return err_set(err, EXIT_USAGE,
			       "cannot pass '%s' to the JVM: it contains a line break or both "
			       "kinds of quotes; remove them", word);
	if (jfr_value_of(word, "name"))
		req->name = jfr_value_of(word, "name");
	return 0;
}

static int check_stop(char *const *words, int n, const struct jfr_request *req, struct err *err)
{
	for (int i = 0; i < n; i++) {
		if (strchr(words[i], '=') && !jfr_value_of(words[i], "name") &&
		    !jfr_value_of(words[i], "filename"))
			return err_set(err, EXIT_USAGE,
				       "unknown argument '%s': stop takes name= and filename=",
				       words[i]);
	}
	if (!req->name)
		return err_set(err, EXIT_USAGE,
			       "missing name=NAME: name the recording to stop; jtool jfr TARGET "
			       "check lists the recordings");
	return 0;
}

/* Rejects arguments that `jfr record` sets itself, such as name=. */
static int check_record(char *const *words, int n, struct err *err)
{
	static const char *const own[] = { "name", "duration", "delay", "dumponexit" };

	for (int i = 0; i < n; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(own); j++) {
			if (jfr_value_of(words[i], own[j]))
				return err_set(err, EXIT_USAGE,
					       "record sets %s= itself: give the duration with "
					       "-d, or use jtool jfr TARGET start", own[j]);
		}
	}
	return 0;
}

static int check_options(const struct ctx *ctx, const struct subcommand *sub,
			 const struct jfr_request *req, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;

	if (opts->duration_ms != JFR_UNSET && sub->run != jfr_record)
		return err_set(err, EXIT_USAGE,
			       "-d applies only to record; for start, give duration=30s instead");
	if (jfr_check_duration(opts->duration_ms, err) < 0)
		return -1;
	if (opts->force && !req->file)
		return err_set(err, EXIT_USAGE, "--force needs a FILE to replace");
	if (sub->must_save && !req->file)
		return err_set(err, EXIT_USAGE, "missing FILE: name the file that %s writes",
			       sub->name);
	if (ctx->json && req->file && strcmp(req->file, "-") == 0)
		return err_json_and_stdout(err);
	return 0;
}

/* Rejects options of `jfr view` in other subcommands, and more arguments than `jfr view` takes. */
static int check_view(const struct ctx *ctx, const struct subcommand *sub, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;

	if (sub->run == jfr_view)
		return ctx->n_args <= 2 ? 0 : err_set(err, EXIT_USAGE,
			"too many arguments: expected jtool jfr view FILE|TARGET [VIEW]");
	if (opts->filter || opts->last_ms || opts->limit || opts->max_memory)
		return err_set(err, EXIT_USAGE,
			       "--filter, --last, --limit and --max-memory apply only to view");
	return 0;
}

/* Returns the subcommand on the command line, or NULL with err set. */
static const struct subcommand *chosen(const struct ctx *ctx, struct err *err)
{
	const struct subcommand *sub = subcommand_find(ctx->args[0]);

	if (!sub)
		(void)err_set(err, EXIT_USAGE,
			      "unknown subcommand '%s': choose from start, check, dump, stop, "
			      "configure, record, view", ctx->args[0]);
	return sub;
}

static int parse_request(const struct ctx *ctx, const struct subcommand *sub,
			 struct jfr_request *req, struct err *err)
{
	char *const *words = ctx->args + 1;
	int n = ctx->n_args - 1;

	if (check_view(ctx, sub, err) < 0)
		return -1;
	if (sub->run == jfr_view)
		return check_options(ctx, sub, req, err);
	for (int i = 0; i < n; i++) {
		if (read_word(req, words[i], sub->may_save, err) < 0)
			return -1;
	}
	if (sub->run == jfr_stop && check_stop(words, n, req, err) < 0)
		return -1;
	if (sub->run == jfr_record && check_record(words, n, err) < 0)
		return -1;
	return check_options(ctx, sub, req, err);
}

static int check(const struct ctx *ctx, struct err *err)
{
	struct jfr_request req = { .words = BUF_INIT };
	const struct subcommand *sub = chosen(ctx, err);
	int rc;

	if (!sub)
		return -1;
	rc = parse_request(ctx, sub, &req, err);
	buf_release(&req.words);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	struct jfr_request req = { .words = BUF_INIT };
	const struct subcommand *sub = chosen(ctx, err);
	int rc;

	if (!sub)
		return -1;
	rc = parse_request(ctx, sub, &req, err);
	if (rc == 0 && ctx->file && sub->run != jfr_view)
		rc = err_set(err, EXIT_USAGE, "%s is a file: %s needs a JVM", ctx->file,
			     ctx->args[0]);
	if (rc == 0)
		rc = sub->run(ctx, &req, err);
	buf_release(&req.words);
	return rc;
}

const struct cmd cmd_jfr = {
	.name = "jfr",
	.verbs = "start check dump stop configure record",
	.first_verb = "view",
	.first_verb_word = jfr_view_word,
	.synopsis = "TARGET start|check|dump|stop|configure|record [FILE] [KEY=VALUE...]\n"
		    "       jtool jfr view FILE|TARGET [VIEW]",
	.summary = "start, fetch, read and configure flight recordings",
	.examples = (const struct example[]){
		{ "jfr 4711 record -d 30s app.jfr", "record for 30 seconds" },
		{ "jfr 4711 start name=web", "start a recording in the JVM" },
		{ "jfr 4711 dump app.jfr name=web", "fetch what it has so far" },
		{ "jfr view app.jfr hot-methods", "the methods that ran most" },
		{ NULL, NULL },
	},
	.details =
		"  start [KEY=VALUE...]       begin a recording: name=, settings=, maxsize=, ...\n"
		"  check [name=NAME]          list the recordings\n"
		"  dump FILE [KEY=VALUE...]   write the data recorded so far to FILE\n"
		"  stop name=NAME [FILE]      end the recording, and write its data to FILE\n"
		"  configure [KEY=VALUE...]   show or change the recorder's settings\n"
		"  record [-d TIME] FILE      start, wait, write to FILE, and stop\n"
		"  view FILE|TARGET [VIEW]    read a recording; views lists the VIEWs\n"
		"Other VIEWs are summary, events, and any event type such as GCPhasePause.\n"
		"FILE is a path of the caller; - is stdout.  The JVM defines the KEYs: run\n"
		"jtool jcmd TARGET help JFR.start.\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_file = true,
	.is_file = jfr_is_recording,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = jfr_rows,
	.opts_size = sizeof(struct jfr_opts),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
