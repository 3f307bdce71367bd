/*
 * The command heaphisto: counts the instances of each class and their bytes.  By default the agent
 * counts; with --live, the child process of a snapshot.  With --vm, or if the agent cannot be
 * loaded, the JVM itself counts (GC.class_histogram).  jtool counts the objects of a dump.
 */
#include <string.h>

#include "cmd/archive.h"
#include "cmd/attach_call.h"
#include "cmd/heap/dump_reader.h"
#include "cmd/heap/heap_source.h"
#include "cmd/heap/histo_file.h"
#include "cmd/heap/snapshot_histo.h"
#include "cmd/pause_note.h"
#include "discover/memory_check.h"
#include "model/histo/histo_wire.h"
#include "model/class/type_name.h"
#include "render/histo/histo_json.h"
#include "render/histo/histo_table.h"
#include "render/limit.h"
#include "session/session.h"

/* A histogram, and how it was obtained. */
struct count {
	struct histo histo;
	enum heap_engine engine;
	int64_t pause_ns; /* how long the JVM was paused; -1: unknown */
};

#define VM_HISTOGRAM_MAX (256u * 1024 * 1024)
#define DUMP_NAMES_MAX (1u << 30)    /* limit in bytes for the names and classes of a dump */
/* limit for the unread bytes of the JVM's dump; jtool reads faster than the JVM writes */
#define DUMP_WAITING_MAX (256u << 20)

struct histo_opts {
	bool live, strict, vm;
	unsigned limit;
	unsigned max_pause_ms;
	int sort, by, engine;
	const char *filter, *save, *diff;
};

static const char *const sorts[] = { "bytes", "count", "name", NULL };
static const char *const groups[] = { "class", "package", "loader", NULL };
_Static_assert(HISTO_BY_BYTES == 0 && HISTO_BY_COUNT == 1 && HISTO_BY_NAME == 2, "as in sorts");
_Static_assert(HISTO_CLASS == 0 && HISTO_PACKAGE == 1 && HISTO_LOADER == 2, "as in groups");

#define AT(member) offsetof(struct histo_opts, member)

static const struct opt histo_rows[] = {
	OPT_GROUP("Which objects"),
	{ 0, "live", OPT_FLAG, AT(live), NULL, "count reachable objects only", NULL },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only classes whose name matches", NULL },
	OPT_GROUP("What is shown"),
	{ 0, "by", OPT_CHOICE, AT(by), "WHAT", "class (default), package or loader", groups },
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY", "bytes (default), count or name", sorts },
	OPT_LIMIT_ROW(AT(limit), "20"),
	OPT_GROUP("Comparison"),
	{ 0, "save", OPT_TEXT, AT(save), "FILE", "also save the complete histogram to FILE", NULL },
	{ 0, "diff", OPT_TEXT, AT(diff), "FILE", "show the changes since FILE was saved", NULL },
	OPT_GROUP("How the heap is read"),
	HEAP_ENGINE_ROW(AT(engine), "auto (default), snapshot, agent, jvmti, vm or hprof"),
	HEAP_MAX_PAUSE_ROW(AT(max_pause_ms)),
	{ 0, "strict", OPT_FLAG, AT(strict), NULL, "--engine jvmti: only what JVMTI guarantees",
	  NULL },
	{ 0, "vm", OPT_FLAG, AT(vm), NULL, "--engine vm: the JVM's own histogram, no agent", NULL },
	OPT_END,
};

static const struct heap_engine_set engines = {
	1u << HEAP_BY_AUTO | 1u << HEAP_BY_SNAPSHOT | 1u << HEAP_BY_AGENT | 1u << HEAP_BY_JVMTI |
		1u << HEAP_BY_VM | 1u << HEAP_BY_HPROF,
	"it counts no objects",
};

static enum heap_engine engine_of(const struct histo_opts *opts)
{
	if (opts->vm)
		return HEAP_BY_VM;
	return opts->strict ? HEAP_BY_JVMTI : (enum heap_engine)opts->engine;
}

/*
 * Returns the name of the class if the output needs only one, else NULL.  To count one class takes
 * 1/3 of the time to count all.  Also returns NULL for a hidden class, whose name (with '/') does
 * not determine its signature, and for a word that may be the simple name of several classes.
 */
static const char *only_class(const struct ctx *ctx)
{
	const struct histo_opts *opts = ctx->opts;

	if (!opts->filter || ctx->json || opts->save || opts->diff)
		return NULL;
	return strpbrk(opts->filter, "*?/") || !strpbrk(opts->filter, ".[") ? NULL : opts->filter;
}

static unsigned max_pause_ms(const struct histo_opts *opts)
{
	return opts->max_pause_ms ? opts->max_pause_ms : HEAP_MAX_PAUSE_MS;
}

static int send_request(const struct ctx *ctx, struct session *s, struct err *err)
{
	const struct histo_opts *opts = ctx->opts;
	const char *class = only_class(ctx);
	_cleanup_buf_ struct buf signature = BUF_INIT, payload = BUF_INIT;
	struct wire_writer w;
	uint32_t flags = 0;
	size_t room;

	if (opts->live)
		flags |= WIRE_HISTO_LIVE;
	if (engine_of(opts) == HEAP_BY_JVMTI)
		flags |= WIRE_HISTO_STRICT;
	if (ctx->json || opts->save)
		flags |= WIRE_HISTO_MODULES;
	if (class)
		type_name_signature(&signature, class);
	room = signature.len + 12;
	w = wire_writer_init(buf_reserve(&payload, room), room);
	wire_put_u32(&w, flags);
	wire_put_text(&w, buf_str(&signature), signature.len);
	wire_put_u32(&w, max_pause_ms(opts));
	return session_send(s, WIRE_HISTO, &w, err);
}

static const char *method_name(uint32_t method)
{
	switch (method) {
	case WIRE_WALK_TAGS:
		return "class tags";
	case WIRE_WALK_KLASS:
		return "klass words";
	case WIRE_WALK_CLASS:
		return "one class only";
	default:
		return "an unknown method";
	}
}

static int take_frame(void *wire, uint16_t type, struct wire_reader *payload)
{
	return histo_wire_take(wire, type, payload);
}

static int receive(const struct ctx *ctx, struct session *s, struct histo_wire *wire,
		   struct err *err)
{
	if (session_answer_long(s, take_frame, wire, err) < 0)
		return -1;
	verbose_step(ctx->steps,
		     "the JVM was paused for %.3f ms by a heap walk by %s; %llu objects looked up "
		     "one by one; the agent used at most %llu bytes",
		     (double)wire->walk_ns / 1e6, method_name(wire->method),
		     (unsigned long long)wire->resolved, (unsigned long long)wire->agent_peak);
	if (wire->is_late)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the heap walk of JVM %d: the JVM had been paused for "
			       "%.3f s; allow more with --max-pause TIME",
			       (int)ctx->jvm->pid, (double)wire->walk_ns / 1e9);
	return 0;
}

/*
 * Lets the agent count.  Returns 0; or 1 with err set if the agent cannot be loaded, in which case
 * another engine may count; or -1 with err set.
 */
static int ask_agent(const struct ctx *ctx, struct count *c, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	const struct histo_opts *opts = ctx->opts;
	struct session *s = session_open(ctx->jvm, &attach, err);
	struct histo_wire wire = { .histo = &c->histo };
	int rc;

	if (!s)
		return err->code == EXIT_AGENT ? 1 : -1;
	rc = opts->live ? memory_check(ctx->jvm, MEMORY_COLLECT, NULL, err) : 0;
	if (rc == 0 && opts->live)
		pause_note_print(ctx, PAUSE_COLLECTION);
	if (rc == 0)
		rc = send_request(ctx, s, err);
	if (rc == 0)
		rc = receive(ctx, s, &wire, err);
	c->engine = engine_of(opts) == HEAP_BY_JVMTI ? HEAP_BY_JVMTI : HEAP_BY_AGENT;
	c->pause_ns = (int64_t)wire.walk_ns;
	histo_wire_release(&wire);
	return session_close(s, err) < 0 ? -1 : rc;
}

static int ask_vm(const struct ctx *ctx, struct count *c, struct err *err)
{
	struct histo *h = &c->histo;
	const char *line = h->live ? "GC.class_histogram" : "GC.class_histogram -all";
	_cleanup_buf_ struct buf text = BUF_INIT;

	c->engine = HEAP_BY_VM;
	c->pause_ns = -1;
	if (h->live)
		pause_note_print(ctx, PAUSE_COLLECTION);
	if (attach_call_jcmd(ctx, line, VM_HISTOGRAM_MAX, &text, err) < 0)
		return -1;
	if (histo_parse_vm(h, buf_str(&text), text.len) < 0)
		return err_set(err, EXIT_PARTIAL, "the histogram is incomplete: %.99s; try again",
			       text.len ? buf_str(&text) : "it is empty");
	return 0;
}

/* Counts all objects in ctx->file, or in the JVM's own dump of the reachable objects. */
static int ask_dump(const struct ctx *ctx, struct count *c, struct err *err)
{
	struct dump_reader_wanted wanted = { .limits = { .pause_ms = max_pause_ms(ctx->opts) } };
	struct heap heap = { 0 };
	struct hprof_reader *reader;

	c->engine = HEAP_BY_HPROF;
	c->pause_ns = -1;
	if (heap_memory(ctx, MEMORY_COLLECT, DUMP_NAMES_MAX, &wanted.max_memory, err) < 0)
		return -1;
	wanted.limits.advice = ctx->file ? NULL : "choose another engine with --engine";
	wanted.limits.waiting = wanted.max_memory / 2 < DUMP_WAITING_MAX ? wanted.max_memory / 2
									 : DUMP_WAITING_MAX;
	reader = dump_reader_read(ctx, &wanted, &heap, NULL, err);
	for (uint32_t i = 0; reader && i < heap.n_classes; i++) {
		const struct hprof_count count = hprof_count(reader, i);

		if (count.instances)
			histo_add(&c->histo, heap_class_name(&heap, i), heap.classes[i].loader,
				  NULL, (int64_t)count.instances, (int64_t)count.bytes);
	}
	hprof_reader_free(reader);
	heap_release(&heap);
	return reader ? 0 : -1;
}

static int ask_snapshot(const struct ctx *ctx, struct count *c, struct err *err)
{
	const struct histo_opts *opts = ctx->opts;

	c->engine = HEAP_BY_SNAPSHOT;
	return snapshot_histo(ctx, max_pause_ms(opts), ctx->json || opts->save, &c->histo,
			      &c->pause_ns, err);
}

/*
 * Counts without the agent; `why`: why the agent cannot be loaded.  Uses the JVM's own histogram,
 * which takes less time than a dump.  With --by loader, uses a dump: the histogram has no loaders.
 */
static int ask_instead(const struct ctx *ctx, struct count *c, const struct err *why,
		       struct err *err)
{
	const struct histo_opts *opts = ctx->opts;
	bool loaders = opts->by == HISTO_LOADER;

	cmd_print_notice(ctx->cmd, "%s; using the JVM's own %s instead", why->text,
			 loaders ? "dump, which has live objects only (--engine hprof)," :
				   "histogram, which has no loaders (--vm),");
	if (!loaders)
		return ask_vm(ctx, c, err);
	c->histo.live = true;
	return ask_dump(ctx, c, err);
}

static int ask(const struct ctx *ctx, struct count *c, struct err *err)
{
	enum heap_engine engine = engine_of(ctx->opts);
	const struct histo_opts *opts = ctx->opts;
	struct err why = { .code = EXIT_DONE };
	int rc;

	if (ctx->file && archive_is_file(ctx->file))
		return histo_file_archive(&c->histo, ctx->file, &c->engine, &c->pause_ns, err);
	if (ctx->file || engine == HEAP_BY_HPROF)
		return ask_dump(ctx, c, err);
	if (engine == HEAP_BY_VM)
		return ask_vm(ctx, c, err);
	if (engine == HEAP_BY_SNAPSHOT)
		return ask_snapshot(ctx, c, err);
	if (engine == HEAP_BY_AUTO && opts->live) {
		if (ask_snapshot(ctx, c, &why) == 0)
			return 0;
		/* Do not count again: the rows are complete, only session_close() has failed. */
		if (c->histo.n > 0)
			return err_set(err, why.code, "%s", why.text);
		verbose_step(ctx->steps, "%s; the JVM makes a full collection", why.text);
		why = (struct err){ .code = EXIT_DONE };
	}
	rc = ask_agent(ctx, c, &why);
	if (rc == 1 && engine == HEAP_BY_AUTO)
		return ask_instead(ctx, c, &why, err);
	if (rc != 0)
		return err_set(err, why.code, "%s%s", why.text,
			       rc == 1 ? "; --vm needs no agent" : "");
	return 0;
}

/* Returns the pid of the JVM; -1 for a dump file. */
static int64_t pid_of(const struct ctx *ctx)
{
	return ctx->jvm ? ctx->jvm->pid : -1;
}

static void show(const struct ctx *ctx, struct count *c)
{
	struct histo *h = &c->histo;
	const struct histo_opts *opts = ctx->opts;
	struct histo_view view = {
		.by = (enum histo_group)opts->by,
		.is_diff = opts->diff != NULL,
		.total = histo_total(h),
	};

	if (opts->filter)
		histo_filter(h, opts->filter);
	histo_group(h, view.by);
	histo_sort(h, (enum histo_sort)opts->sort);
	view.n_rows = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, h->n);
	if (ctx->json) {
		struct json *doc = histo_json(h, view.n_rows, &view.total, pid_of(ctx));

		json_put_text(doc, "file", ctx->file);
		heap_engine_put(c->engine, c->pause_ns, doc);
		json_print_take(doc, ctx->out);
		return;
	}
	histo_print(h, &view, ctx->out);
}

/*
 * Counts the objects, saves and prints the counts; for --diff, prints how they differ from `base`.
 * The caller has read the file of `base` before, so that an error in it does not disturb the JVM.
 */
static int run_with_base(const struct ctx *ctx, struct count *c, const struct histo *base,
			 struct err *err)
{
	const struct histo_opts *opts = ctx->opts;
	struct histo *h = &c->histo;

	if (ask(ctx, c, err) < 0)
		return -1;
	verbose_step(ctx->steps, "%zu classes have instances", h->n);
	if (opts->save && histo_file_save(h, pid_of(ctx), opts->save, err) < 0)
		return -1;
	if (opts->diff)
		histo_subtract(h, base);
	show(ctx, c);
	if (opts->diff && base->live != h->live && !ctx->json)
		fprintf(ctx->out, "note: %s counts %s objects, this histogram %s\n", opts->diff,
			base->live ? "live" : "all", h->live ? "live ones" : "all");
	return 0;
}

static int check_engine(const struct histo_opts *opts, struct err *err)
{
	const char *vm = opts->vm ? "--vm" : "--engine vm";
	bool is_vm = engine_of(opts) == HEAP_BY_VM;

	if (opts->vm && opts->strict)
		return err_set(err, EXIT_USAGE, "--vm cannot be combined with --strict: "
						"each chooses an engine; give one");
	/* --vm and --strict choose an engine themselves: no other --engine may be given. */
	if ((opts->vm || opts->strict) && opts->engine != HEAP_BY_AUTO &&
	    opts->engine != (int)engine_of(opts) &&
	    !(opts->strict && opts->engine == HEAP_BY_AGENT))
		return err_set(err, EXIT_USAGE, "%s cannot be combined with --engine %s: "
						"%s is --engine %s",
			       opts->vm ? "--vm" : "--strict", heap_engines[opts->engine],
			       opts->vm ? "--vm" : "--strict", heap_engines[engine_of(opts)]);
	if (is_vm && opts->by == HISTO_LOADER)
		return err_set(err, EXIT_USAGE, "%s cannot be combined with --by loader: "
						"the JVM's histogram has no loaders", vm);
	if (is_vm && opts->max_pause_ms)
		return err_set(err, EXIT_USAGE, "%s cannot be combined with --max-pause: "
						"the JVM's own histogram cannot be stopped", vm);
	return heap_engine_check(&engines, (enum heap_engine)opts->engine, NULL, err);
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct histo_opts *opts = ctx->opts;

	if (ctx->all && (opts->save || opts->diff))
		return err_set(err, EXIT_USAGE, "--save and --diff apply to one JVM: name it");
	return check_engine(opts, err);
}

/* Rejects the options that need a JVM, if the target is a dump file or an archive. */
static int check_file(const struct ctx *ctx, struct err *err)
{
	const struct histo_opts *opts = ctx->opts;

	if (opts->live)
		return err_set(err, EXIT_USAGE, "--live needs a JVM, not a dump file: "
						"garbage collection cannot change a dump");
	if (opts->vm || opts->strict)
		return err_set(err, EXIT_USAGE, "%s needs a JVM, not a dump file: omit it",
			       opts->vm ? "--vm" : "--strict");
	return heap_engine_check(&engines, engine_of(opts), ctx->file, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct histo_opts *opts = ctx->opts;
	const bool dumped = (opts->engine == HEAP_BY_HPROF && !ctx->file) ||
			    opts->engine == HEAP_BY_SNAPSHOT;
	struct count c = { .histo = { .live = opts->live || dumped } };
	struct histo base = { 0 };
	int rc = 0;

	if (ctx->file)
		rc = check_file(ctx, err);
	if (rc == 0 && opts->diff)
		rc = histo_file_load(&base, opts->diff, err);
	if (rc == 0)
		rc = run_with_base(ctx, &c, &base, err);
	histo_release(&c.histo);
	histo_release(&base);
	return rc;
}

const struct cmd cmd_heaphisto = {
	.name = "heaphisto",
	.aliases = "histogram histo",
	.synopsis = "[TARGET|FILE.hprof[.gz]|CAPTURE.tar.gz]",
	.summary = "count instances and bytes of each class, and compare them later",
	.examples = (const struct example[]){
		{ "heaphisto 4711 -n 20", "the 20 largest classes" },
		{ "heaphisto 4711 --by package", "objects by package" },
		{ "heaphisto app.hprof", "classes of a heap dump" },
		{ NULL, NULL },
	},
	.details =
		"Unreachable objects are counted, too, and no collection is made.  With --live, a\n"
		"snapshot is counted while the application runs; where that is impossible, the\n"
		"JVM runs a full collection first.  The total includes the rows that -n and\n"
		"--filter hide, except for the full name of one class, which is counted alone.\n"
		"With --by package, an array belongs to the package of its element class.\n"
		"With --engine hprof, the JVM dumps its reachable objects, and no file is left.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.takes_file = true,
	.is_file = archive_is_file,
	.free_words = -1,
	.opts = histo_rows,
	.opts_size = sizeof(struct histo_opts),
	.check = check,
	.run = run,
};
