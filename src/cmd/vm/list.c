#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "discover/cgroup.h"
#include "proc/procfs.h"
#include "render/table.h"
#include "discover/discover.h"

enum {
	COLUMN_PID,
	COLUMN_NSPID,
	COLUMN_UID,
	COLUMN_USER,
	COLUMN_VERSION,
	COLUMN_VM,
	COLUMN_GC,
	COLUMN_USED,
	COLUMN_MAX,
	COLUMN_UPTIME,
	COLUMN_ATTACH,
	COLUMN_CONTAINER,
	COLUMN_MAIN,
	COLUMN_ARGS,
	COLUMN_FLAGS,
	COLUMN_RSS,
	COLUMN_CPU,
	COLUMN_THREADS,
	COLUMN_LIMIT,
	N_COLUMNS,
};

/* clang-format off */
static const struct column columns[N_COLUMNS] = {
	[COLUMN_PID]       = { "PID",       "pid",       CELL_NUMBER,  false },
	[COLUMN_NSPID]     = { "NSPID",     "nspid",     CELL_NUMBER,  true },
	[COLUMN_UID]       = { "UID",       "uid",       CELL_NUMBER,  true },
	[COLUMN_USER]      = { "USER",      "user",      CELL_TEXT,    false },
	[COLUMN_VERSION]   = { "VERSION",   "version",   CELL_TEXT,    false },
	[COLUMN_VM]        = { "VM",        "vm",        CELL_TEXT,    true },
	[COLUMN_GC]        = { "GC",        "gc",        CELL_TEXT,    false },
	[COLUMN_USED]      = { "USED",      "heap_used", CELL_BYTES,   false },
	[COLUMN_MAX]       = { "MAX",       "heap_max",  CELL_BYTES,   false },
	[COLUMN_UPTIME]    = { "UPTIME",    "uptime",    CELL_SECONDS, false },
	[COLUMN_ATTACH]    = { "ATTACH",    "attach",    CELL_TEXT,    false },
	[COLUMN_CONTAINER] = { "CONTAINER", "container", CELL_TEXT,    false },
	[COLUMN_MAIN]      = { "MAIN",      "main",      CELL_TEXT,    false },
	[COLUMN_ARGS]      = { "ARGS",      "args",      CELL_TEXT,    true },
	[COLUMN_FLAGS]     = { "FLAGS",     "flags",     CELL_TEXT,    true },
	[COLUMN_RSS]       = { "RSS",       "rss",       CELL_BYTES,   true },
	[COLUMN_CPU]       = { "CPU",       "cpu",       CELL_SECONDS, true },
	[COLUMN_THREADS]   = { "THREADS",   "threads",   CELL_NUMBER,  true },
	[COLUMN_LIMIT]     = { "LIMIT",     "limit",     CELL_BYTES,   true },
};

struct list_opts {
	bool quiet, full, args, flags;
	const char *columns;
};

static const struct opt list_rows[] = {
	{ 'q', "quiet", OPT_FLAG, offsetof(struct list_opts, quiet), NULL,
	  "print only process ids", NULL },
	{ 'l', "long", OPT_FLAG, offsetof(struct list_opts, full), NULL,
	  "print the main class with its package, the jar with its path", NULL },
	{ 'm', "args", OPT_FLAG, offsetof(struct list_opts, args), NULL,
	  "print the arguments of the main method, too", NULL },
	{ 'v', "flags", OPT_FLAG, offsetof(struct list_opts, flags), NULL,
	  "print the arguments of the JVM, too", NULL },
	{ 'o', "output", OPT_TEXT, offsetof(struct list_opts, columns), "COL,...",
	  "print these columns, in this order", NULL },
	OPT_END,
};
/* clang-format on */

static bool any_container(const struct jvm_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->jvms[i]->container)
			return true;
	}
	return false;
}

static int select_columns(struct table *t, const struct list_opts *opts,
			  const struct jvm_list *list, struct err *err)
{
	char names[160];

	if (opts->columns)
		return table_select(t, opts->columns, err);
	(void)snprintf(names, sizeof(names),
		       "pid,user,version,gc,used,max,uptime,attach%s,main%s%s",
		       any_container(list) ? ",container" : "", opts->args ? ",args" : "",
		       opts->flags ? ",flags" : "");
	return table_select(t, names, err);
}

static void add_bytes(struct table *t, size_t column, int64_t bytes)
{
	if (bytes >= 0)
		table_number(t, column, bytes);
}

/*
 * Adds the main class and the container's id.  If `full_main` is true, adds the complete name of
 * the class, otherwise the simple name.  If `full_id` is true, adds the complete id, otherwise the
 * first 12 digits.
 */
static void add_names(struct table *t, const struct jvm *jvm, bool full_id, bool full_main)
{
	char id[13] = "";

	table_text(t, COLUMN_MAIN, full_main ? jvm->main : jvm_simple_main(jvm));
	if (full_id || !jvm->container) {
		table_text(t, COLUMN_CONTAINER, jvm->container);
		return;
	}
	(void)strlcpy(id, jvm->container, sizeof(id));
	table_text(t, COLUMN_CONTAINER, strlen(jvm->container) == 64 ? id : jvm->container);
}

static void add_row(struct table *t, const struct jvm *jvm, const char *user)
{

	table_row(t);
	table_number(t, COLUMN_PID, jvm->pid);
	table_number(t, COLUMN_NSPID, jvm->nspid);
	table_number(t, COLUMN_UID, jvm->uid);
	table_text(t, COLUMN_USER, user);
	table_text(t, COLUMN_VERSION, jvm->version);
	table_text(t, COLUMN_VM, jvm->vm);
	table_text(t, COLUMN_GC, jvm->gc);
	add_bytes(t, COLUMN_USED, jvm->heap_used);
	add_bytes(t, COLUMN_MAX, jvm->heap_max);
	if (jvm->uptime >= 0)
		table_real(t, COLUMN_UPTIME, jvm->uptime);
	table_text(t, COLUMN_ATTACH, attach_state_name(jvm->attach));
	table_text(t, COLUMN_ARGS, jvm->args);
	table_text(t, COLUMN_FLAGS, jvm->flags);
}

/*
 * Adds the values of the column RSS and of all columns after it.  Called only with -o, because
 * reading these values takes longer than reading the values of all other columns.
 */
static void add_usage(struct table *t, const struct procfs *proc, pid_t pid)
{
	struct proc_usage usage;
	struct cgroup group;
	unsigned threads;

	if (procfs_usage(proc, pid, &usage) == 0) {
		add_bytes(t, COLUMN_RSS, usage.memory.resident);
		table_real(t, COLUMN_CPU, usage.user + usage.system);
	}
	if (procfs_threads(proc, pid, &threads) == 0 && threads > 0)
		table_number(t, COLUMN_THREADS, threads);
	cgroup_read(proc, pid, &group);
	add_bytes(t, COLUMN_LIMIT, group.memory_limit);
}

/*
 * Adds the rows.  If a JVM has the same user as the previous JVM in the list, does not look up the
 * user's name again.
 */
static void add_rows(struct table *t, const struct ctx *ctx, const struct procfs *proc,
		     const struct jvm_list *list)
{
	const struct list_opts *opts = ctx->opts;
	_cleanup_free_ char *user = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct jvm *jvm = list->jvms[i];

		if (i == 0 || jvm->uid != list->jvms[i - 1]->uid) {
			free(user);
			user = jvm_user_name(jvm->uid);
		}
		add_row(t, jvm, user);
		add_names(t, jvm, ctx->json, ctx->json || opts->full);
		if (opts->columns)
			add_usage(t, proc, jvm->pid);
	}
}

static int print_list(const struct ctx *ctx, const struct procfs *proc,
		      const struct jvm_list *list, struct err *err)
{
	const struct list_opts *opts = ctx->opts;
	/* Text and JSON have the column RSS and the columns after it only with -o. */
	struct table *t = table_new(columns, opts->columns ? N_COLUMNS : COLUMN_RSS);
	int rc = select_columns(t, opts, list, err);

	if (rc == 0)
		add_rows(t, ctx, proc, list);
	if (rc == 0 && ctx->json) {
		struct json *doc = json_object();

		json_put(doc, "jvms", table_json(t));
		json_print_take(doc, ctx->out);
	} else if (rc == 0) {
		table_print(t, ctx->out);
	}
	table_free(t);
	return rc;
}

/* Prints one pid per line without padding, for use in scripts. */
static int print_pids(const struct ctx *ctx, const struct jvm_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		fprintf(ctx->out, "%d\n", (int)list->jvms[i]->pid);
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct list_opts *opts = ctx->opts;
	struct procfs proc;
	struct jvm_list list = { NULL, 0 };
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	rc = discover_all(&proc, !opts->quiet || opts->columns || ctx->json, NULL, &list, err);
	verbose_step(ctx->steps, "found %zu JVMs", list.n);
	if (rc == 0 && opts->quiet && !opts->columns && !ctx->json)
		rc = print_pids(ctx, &list);
	else if (rc == 0)
		rc = print_list(ctx, &proc, &list, err);
	jvm_list_release(&list);
	procfs_close(&proc);
	return rc;
}

const struct cmd cmd_list = {
	.name = "list",
	.aliases = "jps ps",
	.synopsis = "",
	.summary = "list the JVMs that you can see, also in containers",
	.examples = (const struct example[]){
		{ "list", "every JVM that you can see" },
		{ "list -lm", "with full class names and arguments" },
		{ "list --json", "one JSON document" },
		{ NULL, NULL },
	},
	.details =
		"Columns for -o: pid, nspid, uid, user, version, vm, gc, used, max, uptime,\n"
		"attach, container, main, args, flags, rss, cpu, threads, limit.  A dash means\n"
		"that a value is unknown.\n",
	.need = NEED_NOTHING,
	.free_words = -1,
	.opts = list_rows,
	.opts_size = sizeof(struct list_opts),
	.run = run,
};
