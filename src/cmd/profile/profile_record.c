/* The command profile: makes a flight recording with the settings that the profile needs. */
#include <inttypes.h>

#include "cmd/profile/profile.h"
#include "model/jfr/profile/jfr_profile.h"
#include "session/staging/staged_file.h"

#define NS_PER_MS 1000000
/* The default interval between samples is that of JFR's own settings "default". */
#define SAMPLES_NS (20 * NS_PER_MS)
#define SHORTEST_NS NS_PER_MS /* by default, events shorter than this are not recorded */

uint64_t profile_interval_ns(const struct profile_opts *opts)
{
	if (opts->interval_ns > 0)
		return opts->interval_ns;
	return opts->event == PROFILE_CPU || opts->event == PROFILE_WALL ? SAMPLES_NS : SHORTEST_NS;
}

/*
 * Fails if JFR's stackdepth is less than --depth.  `jtool profile` does not change stackdepth: JFR
 * accepts a change only before its first recording, and the change would apply to all later
 * recordings.
 */
static int check_depth(const struct ctx *ctx, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	struct jfr_settings settings = { .is_listing = false };
	const struct jfr_value *depth = &settings.values[JFR_STACK_DEPTH];
	int rc;

	if (opts->depth == 0)
		return 0;
	rc = jfr_ask_settings(ctx, "", &settings, err);
	if (rc == 0 && depth->known && depth->number < (int64_t)opts->depth)
		rc = err_set(err, EXIT_ANSWER,
			     "JVM %d records at most %" PRId64 " frames of a stack; restart it "
			     "with -XX:FlightRecorderOptions=stackdepth=%u, or, if it has not "
			     "recorded yet, use jtool jfr %d configure stackdepth=%u",
			     (int)ctx->jvm->pid, depth->number, opts->depth, (int)ctx->jvm->pid,
			     opts->depth);
	jfr_settings_release(&settings);
	return rc;
}

static struct staged_file *stage_settings(const struct ctx *ctx, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct staged_file_request req = {
		.kind = STAGED_FILE, .stem = "profile", .suffix = ".jfc", .is_data = true,
		.listener = -1, .timeout_ms = ctx->timeout_ms,
	};

	jfr_profile_settings(&text, (enum profile_kind)opts->event, jvm_feature(ctx->jvm),
			     profile_interval_ns(opts));
	req.data = text.data;
	req.len = text.len;
	return staged_file_new(ctx->jvm, &req, ctx->steps, err);
}

static int add_settings(struct buf *words, const struct staged_file *settings, struct err *err)
{
	_cleanup_buf_ struct buf word = BUF_INIT;

	buf_addf(&word, "settings=%s", staged_file_path(settings));
	if (jfr_add_word(words, buf_str(&word)) < 0)
		return err_set(err, EXIT_ANSWER,
			       "cannot pass the path '%s' to the JVM: it contains a line break or "
			       "both kinds of quotes; rename its directory",
			       staged_file_path(settings));
	return 0;
}

int profile_record(const struct ctx *ctx, struct jfr_recording *rec, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf words = BUF_INIT;
	struct staged_file *settings;
	int rc = check_depth(ctx, err);

	*rec = (struct jfr_recording){ .ctx = ctx, .fd = -1 };
	if (rc < 0)
		return -1;
	settings = stage_settings(ctx, err);
	if (!settings)
		return -1;
	rc = add_settings(&words, settings, err);
	if (rc == 0)
		rc = staged_file_confirm(settings, err);
	if (rc == 0)
		rc = jfr_recording_make(rec, ctx, buf_str(&words), opts->duration_ms, err);
	staged_file_free(settings);
	return rc;
}
