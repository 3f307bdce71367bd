/*
 * The command memory: shows what the resident memory of a JVM is used for, and compares it with the
 * limit of its control group.
 *
 * The mappings come from /proc/PID/smaps.  Diagnostic commands report what the JVM uses them for.
 * If the JVM does not answer, only the mappings and the values of the JVM's counters are shown.
 */
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/archive.h"
#include "cmd/attach_call.h"
#include "cmd/json_file.h"
#include "discover/agents.h"
#include "discover/cgroup.h"
#include "discover/hsperf.h"
#include "proc/vm_stats.h"
#include "render/vm/memory_view.h"

#define ANSWER_MAX (16u * 1024 * 1024)
/*
 * Limit in bytes for smaps, which has about 700 bytes for each mapping.  65530 mappings, the
 * kernel's default limit (vm.max_map_count), take 46 MB.
 */
#define SMAPS_MAX (512u * 1024 * 1024)

struct memory_opts {
	const char *save, *diff;
	bool no_attach;
};

#define AT(member) offsetof(struct memory_opts, member)

static const struct opt memory_rows[] = {
	{ 0, "save", OPT_TEXT, AT(save), "FILE", "also save the result to FILE", NULL },
	{ 0, "diff", OPT_TEXT, AT(diff), "FILE", "show the changes since FILE was saved", NULL },
	{ 0, "no-attach", OPT_FLAG, AT(no_attach), NULL, "only read /proc and the JVM's counters",
	  NULL },
	OPT_END,
};

/* The diagnostic commands that are sent, and the parsers of their answers. */
static const struct {
	const char *command;
	void (*parse)(struct jvm_memory *m, const char *text);
} questions[] = {
	{ "GC.heap_info", jvm_memory_heap_info },
	{ "VM.metaspace vslist", jvm_memory_metaspace },
	{ "VM.flags", jvm_memory_flags },
	{ "Compiler.codecache", jvm_memory_code_cache },
	{ "System.native_heap_info", jvm_memory_native_heap },
	{ "VM.native_memory summary", jvm_memory_tracking },
};

/*
 * Runs the diagnostic commands and parses their answers.  Skips a command that the JVM does not
 * know, because the JVM may be an older one.
 */
static int ask(const struct ctx *ctx, struct jvm_memory *m, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		_cleanup_buf_ struct buf answer = BUF_INIT;
		struct err refused = { .code = EXIT_DONE };

		if (attach_call_jcmd(ctx, questions[i].command, ANSWER_MAX, &answer, &refused) == 0)
			questions[i].parse(m, buf_str(&answer));
		else if (refused.code != EXIT_ANSWER)
			return err_set(err, refused.code, "%s", refused.text);
	}
	return 0;
}

static void ask_if_possible(const struct ctx *ctx, struct jvm_memory *m, struct memory_view *v)
{
	const struct memory_opts *opts = ctx->opts;
	struct err why = { .code = EXIT_DONE };

	m->heap_max = ctx->jvm->heap_max;
	/* jvm->heap_used is 0 until the JVM publishes the used heap, at its first collection. */
	if (ctx->jvm->heap_used > 0)
		m->heap_used = ctx->jvm->heap_used;
	if (opts->no_attach)
		return;
	if (ask(ctx, m, &why) == 0)
		v->asked = true;
	else
		cmd_print_notice(ctx->cmd, "%s; showing what /proc and the counters have",
				 why.text);
	v->has_malloc_report = m->malloc_free >= 0;
}

static int read_mappings(const struct procfs *proc, const struct jvm *jvm, struct mappings *maps,
			 struct proc_status *status, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = procfs_read(proc, jvm->pid, "smaps", &text, SMAPS_MAX);

	if (rc == -EACCES || rc == -EPERM)
		return jvm_denied(jvm, err);
	if (rc < 0 && rc != -ESRCH && rc != -ENOENT)
		return err_set(err, EXIT_PARTIAL,
			       "cannot read /proc/%d/smaps: %s; run jtool as root", (int)jvm->pid,
			       strerror(-rc));
	if (rc < 0 || text.len == 0 ||
	    procfs_recheck(proc, jvm->pid, jvm->start_ticks, status) < 0)
		return jvm_gone(jvm, err);
	if (mappings_parse(maps, text.data, text.len) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "/proc/%d/smaps has an unknown format; report this bug, with the "
			       "version of the kernel", (int)jvm->pid);
	return 0;
}

/* Returns the bytes of heap in use after the last collection, or -1. */
static int64_t heap_after(const struct jvm *jvm)
{
	struct perfdata perf = { .data = NULL };
	struct err ignored = { .code = EXIT_DONE }; /* the JVM may publish no counters */
	struct vm_stats stats;

	if (hsperf_read_once(jvm, &perf, &ignored) < 0)
		return -1;
	vm_stats_read(&perf, &stats);
	perfdata_release(&perf);
	return stats.used_after;
}

static int measure(const struct ctx *ctx, struct memory_view *v, struct err *err)
{
	struct mappings maps = { .list = NULL };
	struct proc_status status;
	struct jvm_memory m;
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	jvm_memory_init(&m);
	ask_if_possible(ctx, &m, v);
	rc = read_mappings(&proc, ctx->jvm, &maps, &status, err);
	if (rc == 0) {
		memory_parts_of(&maps, &m, agents_is_staged, &v->parts);
		v->pid = (int)ctx->jvm->pid;
		/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): rc is 0 */
		v->threads = status.threads;
		v->heap_max = m.heap_max;
		v->metaspace_max = m.metaspace_max;
		v->heap_after = heap_after(ctx->jvm);
		v->group_limit = cgroup_lowest_limit(&proc, ctx->jvm->pid);
		v->limit = heap_limit_of(&v->parts, v->heap_max, v->group_limit);
	}
	mappings_release(&maps);
	jvm_memory_release(&m);
	procfs_close(&proc);
	return rc;
}

static int save(const struct memory_view *v, const char *path, struct err *err)
{
	struct json *doc = memory_view_json(v);
	int rc = json_file_save(doc, path, err);

	json_free(doc);
	return rc;
}

static int load(const char *path, struct json **doc, struct err *err)
{
	if (json_file_load(path, doc, err) < 0)
		return -1;
	if (memory_view_is_saved(*doc))
		return 0;
	return err_set(err, EXIT_USAGE,
		       "'%s' has no output of jtool memory: save one with --save", path);
}

static int show(const struct ctx *ctx, struct memory_view *v, const struct json *base,
		struct err *err)
{
	const struct memory_opts *opts = ctx->opts;

	if (opts->save && save(v, opts->save, err) < 0)
		return -1;
	v->base = base;
	if (ctx->json)
		json_print_take(memory_view_json(v), ctx->out);
	else
		memory_view_print(v, ctx->out);
	if (!v->limit.known || v->limit.excess <= 0)
		return 0;
	(void)err_set(err, EXIT_ANSWER,
		      "JVM %d can exceed the memory limit of its control group: lower -Xmx, or "
		      "raise the limit", v->pid);
	err->is_verdict = true;
	return -1;
}

/* Reads the result of `jtool memory` from an archive of `jtool capture`. */
static int load_archive(const struct ctx *ctx, struct memory_view *v, struct err *err)
{
	struct json *doc;
	int rc = 0;

	if (!archive_is_file(ctx->file))
		return archive_refuse(ctx->file, err);
	doc = archive_json(ctx->file, "memory.json", err);
	if (!doc)
		return -1;
	if (!memory_view_load(v, doc))
		rc = archive_damaged(ctx->file, "memory.json", err);
	json_free(doc);
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct memory_opts *opts = ctx->opts;

	if (ctx->all && (opts->save || opts->diff))
		return err_set(err, EXIT_USAGE, "--save and --diff apply to one JVM: name it");
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct memory_opts *opts = ctx->opts;
	struct memory_view view = { .heap_after = -1, .metaspace_max = -1 };
	struct json *base = NULL;
	int rc = 0;

	if (opts->diff)
		rc = load(opts->diff, &base, err);
	if (rc == 0)
		rc = ctx->file ? load_archive(ctx, &view, err) : measure(ctx, &view, err);
	if (rc == 0)
		rc = show(ctx, &view, base, err);
	json_free(base);
	return rc;
}

const struct cmd cmd_memory = {
	.name = "memory",
	.synopsis = "[TARGET | CAPTURE.tar.gz] [--save FILE] [--diff FILE]",
	.summary = "show RSS, heap and native, against the container's limit (OOM)",
	.examples = (const struct example[]){
		{ "memory 4711", "heap, metaspace, stacks, malloc, ... add up to RSS" },
		{ "memory 4711 --save before.json", "saves the result" },
		{ "memory 4711 --diff before.json", "what has grown since" },
		{ NULL, NULL },
	},
	.details =
		"Native memory tracking need not be on.  Every mapping of the process belongs\n"
		"to one part.  RESIDENT counts against a limit.  The exit status is 1 if the\n"
		"maximum of the heap and the memory outside the heap together exceed the limit\n"
		"of the control group.\n"
		"\n"
		"If the kernel kills the JVM before you can look: run this with --save at\n"
		"intervals, or jtool capture.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.takes_file = true,
	.is_file = archive_is_file,
	.free_words = -1,
	.opts = memory_rows,
	.opts_size = sizeof(struct memory_opts),
	.check = check,
	.run = run,
};
