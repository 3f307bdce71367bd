/* capture: prints the result, and writes README.txt. */
#include <string.h>

#include "config.h"

#include "cmd/capture/capture.h"
#include "model/vm/secrets.h"
#include "render/json.h"
#include "render/units.h"

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

