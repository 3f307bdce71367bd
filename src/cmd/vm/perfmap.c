/* The command perfmap: writes a map of the JVM's compiled code for perf and bpftrace. */
#include "cmd/vm/perfmap.h"

#include <string.h>

#include "render/json.h"
#include "render/units.h"

enum perfmap_engine { PERFMAP_AUTO, PERFMAP_VM, PERFMAP_AGENT };

static const char *const engines[] = {
	[PERFMAP_AUTO] = "auto",
	[PERFMAP_VM] = "vm",
	[PERFMAP_AGENT] = "agent",
	NULL,
};

struct perfmap_opts {
	int engine;
	bool force;
};

static const struct opt perfmap_rows[] = {
	{ 0, "engine", OPT_CHOICE, offsetof(struct perfmap_opts, engine), "ENGINE",
	  "who lists the code: auto, vm or agent", engines },
	{ 0, "force", OPT_FLAG, offsetof(struct perfmap_opts, force), NULL,
	  "replace FILE if it exists", NULL },
	OPT_END,
};

/*
 * Returns whether the JVM can write the map.  If the file that JDK 17 to 21 would write does not
 * belong to the JVM's user, prints a notice, and returns false.  If root calls perfmap for a JVM of
 * another user that has the same /tmp, this file is the map that an earlier call has written.
 */
static bool can_vm_write(const struct ctx *ctx)
{
	struct err why = { .code = EXIT_DONE };

	/* After another error, perfmap_by_vm() fails with the same one. */
	if (perfmap_vm_check(ctx, &why) == 0 || why.code != EXIT_ANSWER)
		return true;
	cmd_print_notice(ctx->cmd,
			 "/tmp/perf-%d.map of JVM %d is not a file of its user; using the agent "
			 "instead (--engine agent)", (int)ctx->jvm->nspid, (int)ctx->jvm->pid);
	return false;
}

/*
 * Sets *engine to the engine that writes the map.  For --engine auto, if the JDK's release is
 * unknown because the JVM has no hsperfdata, chooses the agent, which works with every release.
 */
static int choose_engine(const struct ctx *ctx, enum perfmap_engine *engine, struct err *err)
{
	const struct perfmap_opts *opts = ctx->opts;
	int release = jvm_feature(ctx->jvm);

	*engine = (enum perfmap_engine)opts->engine;
	if (*engine == PERFMAP_VM && release != 0 && release < PERFMAP_VM_SINCE)
		return err_set(err, EXIT_ANSWER,
			       "JDK %d cannot write a map of its code, which needs JDK %d: omit "
			       "--engine, or use --engine agent", release, PERFMAP_VM_SINCE);
	if (*engine == PERFMAP_AUTO)
		*engine = release >= PERFMAP_VM_SINCE && can_vm_write(ctx) ? PERFMAP_VM
									   : PERFMAP_AGENT;
	return 0;
}

static void report(const struct ctx *ctx, const char *path, enum perfmap_engine engine,
		   uint64_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", path);
		json_put_text(doc, "engine", engines[engine]);
		json_put_unsigned(doc, "bytes", size);
		json_print_take(doc, ctx->out);
	} else if (strcmp(path, "-") != 0) {
		units_bytes(&text, size > INT64_MAX ? INT64_MAX : (int64_t)size);
		fprintf(ctx->out, "wrote %s: %s\n", path, buf_str(&text));
	}
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct perfmap_opts *opts = ctx->opts;
	char name[48];
	const char *path = ctx->n_args > 0 ? ctx->args[0] : name;
	/*
	 * If the user gives no FILE, jtool writes /tmp/perf-PID.map, and replaces it even if
	 * --force is not given.  perf reads the file with this name, if the file belongs to perf's
	 * user or to root.
	 */
	bool replaces = opts->force || ctx->n_args == 0;
	enum perfmap_engine engine;
	struct atomic_file out;
	uint64_t size = 0;
	int rc;

	(void)snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)ctx->jvm->pid);
	if (choose_engine(ctx, &engine, err) < 0 ||
	    atomic_file_open(&out, path, replaces ? ATOMIC_FILE_REPLACE : 0, 0644, err) < 0)
		return -1;
	rc = engine == PERFMAP_VM ? perfmap_by_vm(ctx, &out, err)
				  : perfmap_by_agent(ctx, &out, err);
	if (rc == 0)
		rc = atomic_file_commit(&out, &size, err);
	if (rc == 0)
		report(ctx, path, engine, size);
	atomic_file_release(&out);
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	if (ctx->json && ctx->n_args > 0 && strcmp(ctx->args[0], "-") == 0)
		return err_json_and_stdout(err);
	return 0;
}

const struct cmd cmd_perfmap = {
	.name = "perfmap",
	.synopsis = "TARGET [FILE]",
	.summary = "write the map of compiled code for perf and bpftrace",
	.examples = (const struct example[]){
		{ "perfmap 4711", "write /tmp/perf-4711.map" },
		{ "perfmap 4711 -", "print the map" },
		{ NULL, NULL },
	},
	.details =
		"Writes addresses, sizes and names of the code that the JVM has compiled so far.\n"
		"Without FILE, it goes to /tmp/perf-PID.map, where perf finds it; PID is that of\n"
		"the caller, also for a JVM in a container.\n"
		"Engines: vm, the JVM writes the map (JDK 17 and later); agent, the agent does;\n"
		"auto, vm if possible.\n",
	.need = NEED_JVM,
	.parses = true,
	.max_args = 1,
	.free_words = -1,
	.opts = perfmap_rows,
	.opts_size = sizeof(struct perfmap_opts),
	.check = check,
	.run = run,
};
