/* capture: prints the result, and writes README.txt. */
#include <string.h>

#include "config.h"

#include "base/strview.h"
#include "cmd/capture/capture.h"
#include "model/vm/secrets.h"
#include "render/json.h"
#include "render/units.h"

#define REASON_MAX 300 /* maximum length of a reason in a notice, in bytes */

static void describe(struct buf *out, const char *name, const char *cost,
		     const struct capture_result *r)
{
	_cleanup_buf_ struct buf size = BUF_INIT;

	if (!r->is_there) {
		buf_addf(out, "%-20s missing: %s", name, *r->message ? r->message : "not done\n");
		if (*r->message && r->message[strlen(r->message) - 1] != '\n')
			buf_addc(out, '\n');
		return;
	}
	units_bytes(&size, (int64_t)r->size);
	buf_addf(out, "%-20s %8s  %5.1f s  cost to the JVM: %s", name, buf_str(&size), r->seconds,
		 cost);
	if (r->pause >= 0)
		buf_addf(out, "; at safepoints for %.1f ms", r->pause * 1e3);
	if (r->n_masked > 0)
		buf_addf(out, "; %zu secret%s replaced", r->n_masked, r->n_masked == 1 ? "" : "s");
	buf_addc(out, '\n');
}

static void describe_command(struct buf *out, const struct capture_item *item)
{
	buf_addf(out, "%-20s jtool", item->name);
	for (size_t i = 0; i < CAPTURE_WORDS_MAX && item->words[i]; i++)
		buf_addf(out, " %s", item->words[i]);
	buf_addc(out, '\n');
}

/*
 * Writes README.txt.  It must be the last file of the archive, because it says for every other file
 * what the file has cost the JVM.
 */
int capture_add_readme(struct capture *c, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct capture_result ignored = { .code = 0 };
	int pid = (int)c->ctx->jvm->pid;

	buf_addf(&text, "What jtool %s captured of JVM %d, %s.\n\n", PACKAGE_VERSION, pid,
		 c->ctx->jvm->main ? c->ctx->jvm->main : "whose main class is not known");
	describe(&text, "environment.txt", "none", &c->environment);
	for (size_t i = 0; i < CAPTURE_ITEMS; i++) {
		if (capture_wants(c, &capture_items[i]))
			describe(&text, capture_items[i].name, capture_items[i].cost,
				 &c->results[i]);
	}
	for (size_t i = 0; i < c->n_logs; i++)
		describe(&text, c->logs[i].name, "none", &c->logs[i].result);
	buf_adds(&text,
		 "\nWhat they are; `jtool help COMMAND` describes the output of a command:\n"
		 "environment.txt      the variables that the process was started with\n");
	for (size_t i = 0; i < CAPTURE_ITEMS; i++) {
		if (capture_wants(c, &capture_items[i]))
			describe_command(&text, &capture_items[i]);
	}
	if (c->n_logs > 0)
		buf_adds(&text, "logs/                the ends of files that the JVM logs to\n");
	buf_adds(&text, "\nThe time at safepoints is what the JVM counted while a file was made,\n"
			"its own collections included.\n");
	buf_adds(&text, c->opts->no_mask ?
			"Secrets were not replaced.\n" :
			"Values whose names look like passwords, tokens or keys were replaced by\n"
			SECRETS_MASK ", and so were these values elsewhere.\n");
	if (c->stopped)
		buf_adds(&text, "The capture was stopped before it was complete.\n");
	return capture_add_text(c, "README.txt", &text, 0, &ignored, err);
}

static struct json *result_json(const char *name, const struct capture_result *r)
{
	struct json *json = json_object();

	json_put_text(json, "name", name);
	json_put_known(json, "bytes", r->is_there, r->size);
	json_put_real(json, "seconds", r->seconds);
	if (r->pause >= 0)
		json_put_real(json, "pause", r->pause);
	else
		json_put_null(json, "pause");
	json_put_text(json, "error", r->is_there || !*r->message ? NULL : r->message);
	return json;
}

void capture_print(const struct capture *c, uint64_t size, size_t n_files)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;
	struct json *json, *files;

	if (!c->ctx->json) {
		if (c->out.to_stdout)
			return;
		units_bytes(&shown, (int64_t)size);
		fprintf(c->ctx->out, "wrote %s: %s, %zu files\n", c->out.path, buf_str(&shown),
			n_files);
		return;
	}
	json = json_object();
	files = json_array();
	json_put_number(json, "pid", c->ctx->jvm->pid);
	json_put_text(json, "file", c->out.path);
	json_put_unsigned(json, "bytes", size);
	json_put(files, NULL, result_json("environment.txt", &c->environment));
	for (size_t i = 0; i < CAPTURE_ITEMS; i++) {
		if (capture_wants(c, &capture_items[i]))
			json_put(files, NULL, result_json(capture_items[i].name, &c->results[i]));
	}
	for (size_t i = 0; i < c->n_logs; i++)
		json_put(files, NULL, result_json(c->logs[i].name, &c->logs[i].result));
	json_put(json, "files", files);
	json_print_take(json, c->ctx->out);
}

static bool is_missing(const struct capture *c, size_t i)
{
	return capture_wants(c, &capture_items[i]) && !c->results[i].is_there;
}

/*
 * Returns whether this JVM cannot provide the file: it publishes no counters, or its release is
 * unknown and may be too old for the command.
 */
static bool is_unsupported(const struct capture *c, size_t i)
{
	const struct capture_item *item = &capture_items[i];

	return c->results[i].code == EXIT_ANSWER &&
	       (item->flags & CAPTURE_COUNTERS ||
		(item->since > 0 && jvm_feature(c->ctx->jvm) == 0));
}

/*
 * Returns why the file is missing: the command's message without "jtool: COMMAND: " and without the
 * last line break.  Commands that fail for the same reason then have equal texts.
 */
static struct strview reason_of(const struct capture_result *r)
{
	static const char none[] = "its command was ended, or did not end in time";
	const char *at = r->message, *command = strncmp(at, "jtool: ", 7) == 0 ? at + 7 : NULL;
	size_t len = command ? strcspn(command, ": \n") : 0, n;

	if (command && strncmp(command + len, ": ", 2) == 0)
		at = command + len + 2;
	n = strlen(at);
	while (n > 0 && at[n - 1] == '\n')
		n--;
	if (n == 0)
		return (struct strview){ none, strchr(none, '\0') };
	return (struct strview){ at, at + n };
}

static bool is_same_reason(const struct capture *c, size_t i, size_t k)
{
	struct strview a = reason_of(&c->results[i]), b = reason_of(&c->results[k]);

	return strview_len(a) == strview_len(b) && memcmp(a.at, b.at, strview_len(a)) == 0;
}

/* Reports item i and all later ones that are missing for the same reason. */
static void print_missing(const struct capture *c, size_t i)
{
	struct strview reason = reason_of(&c->results[i]);
	int len = strview_len(reason) < REASON_MAX ? (int)strview_len(reason) : REASON_MAX;
	_cleanup_buf_ struct buf names = BUF_INIT;
	size_t n = 0;

	for (size_t k = i; k < CAPTURE_ITEMS; k++) {
		if (is_missing(c, k) && is_same_reason(c, i, k))
			buf_addf(&names, "%s%s", n++ ? ", " : "", capture_items[k].name);
	}
	cmd_print_notice(c->ctx->cmd, "%s %s missing: %.*s", buf_str(&names),
			 n == 1 ? "is" : "are", len, reason.at);
}

int capture_conclude(const struct capture *c, struct err *err)
{
	size_t n = 0;

	if (c->stopped)
		return err_set(err, EXIT_PARTIAL,
			       "stopped: the archive has the files captured so far");
	if (!c->environment.is_there) {
		n++;
		cmd_print_notice(c->ctx->cmd, "environment.txt is missing: %s",
				 c->environment.message);
	}
	for (size_t i = 0; i < CAPTURE_ITEMS; i++) {
		bool is_reported = false;

		if (!is_missing(c, i))
			continue;
		n += !is_unsupported(c, i);
		for (size_t k = 0; k < i; k++)
			is_reported |= is_missing(c, k) && is_same_reason(c, k, i);
		if (!is_reported)
			print_missing(c, i);
	}
	return n == 0 ? 0 : err_set(err, EXIT_PARTIAL,
				    "%zu file%s missing from the archive, for the reasons above",
				    n, n == 1 ? " is" : "s are");
}
