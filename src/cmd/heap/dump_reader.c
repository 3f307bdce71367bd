#include "cmd/heap/dump_reader.h"
#include "cmd/pause_note.h"

#include <string.h>

#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/heap/dump_input.h"

#define FLAGS_MAX (4u * 1024 * 1024)
#define THREADS_MAX (64u * 1024 * 1024)

/* One pass over a dump: a dump file may be read several times. */
struct pass {
	const struct dump_reader_wanted *wanted;
	struct graph_builder *builder; /* NULL: objects are only counted */
	struct hprof_names *names;     /* NULL: thread names are not read */
	bool invalid; /* the dump was read, and is invalid */
};

struct reading {
	struct hprof_reader *reader;
	struct progress line;
	uint64_t max_objects; /* number of objects after which reading stops */
};

/*
 * Passes a chunk of the dump to the reader.  Returns 0; or 1 if no more chunks are needed; or -1
 * with err set.
 */
static int take_chunk(void *arg, uint8_t *data, size_t len, struct err *err)
{
	struct reading *r = arg;

	if (hprof_feed(r->reader, data, len, err) < 0)
		return -1;
	if (progress_due(&r->line))
		progress_show(&r->line, "reading the dump: %.1f million objects",
			      (double)hprof_objects(r->reader) / 1e6);
	return hprof_objects(r->reader) >= r->max_objects;
}

static int read_jvm(const struct ctx *ctx, const struct dump_limits *limits, struct reading *r,
		    struct err *err)
{
	static const struct dump_wanted wanted = { .all = false };

	pause_note_print(ctx, PAUSE_DUMP);
	return vm_dump_stream(ctx, &wanted, limits, take_chunk, r, err);
}

/*
 * Reads the complete dump, or only its first max_objects objects.  Returns the reader, or NULL with
 * err set.
 */
static struct hprof_reader *feed(const struct ctx *ctx, struct pass *pass,
				 const struct object_layout *layout, uint64_t max_objects,
				 struct heap *heap, struct err *err)
{
	const struct hprof_wants wants = {
		.builder = pass->builder,
		.layout = *layout,
		.texts_from = pass->wanted->texts_from,
		.names = pass->names,
		.max_memory = pass->wanted->max_memory,
		.advice = pass->wanted->limits.advice,
	};
	struct reading r = { hprof_reader_new(heap, &wants), { false, false, 0 }, max_objects };
	int rc;

	progress_begin(&r.line);
	if (ctx->file)
		rc = dump_input_read(ctx->file, take_chunk, &r, err);
	else
		rc = read_jvm(ctx, &pass->wanted->limits, &r, err);
	progress_end(&r.line);
	if (rc == 0 && hprof_objects(r.reader) < max_objects) {
		rc = hprof_end(r.reader, err);
		if (rc < 0 && ctx->file)
			err_prefix(err, "%s", ctx->file);
	}
	if (rc == 0)
		return r.reader;
	/* EXIT_USAGE is for a wrong file of the user, not for a dump that the JVM has written. */
	if (!ctx->file && err->code == EXIT_USAGE)
		err->code = EXIT_PARTIAL;
	pass->invalid = hprof_is_invalid(r.reader);
	hprof_reader_free(r.reader);
	return NULL;
}

/*
 * Derives the object layout (sizes of headers and references, and the alignment) from the addresses
 * of the first objects in the file, because a dump does not contain the layout.
 */
static int sample_layout(const struct ctx *ctx, const struct dump_reader_wanted *wanted,
			 struct object_layout *layout, struct hprof_names *names, struct err *err)
{
	struct pass pass = { .wanted = wanted, .names = names };
	struct heap heap = { 0 };
	struct hprof_reader *reader;

	*layout = (struct object_layout){ 0 };
	reader = feed(ctx, &pass, layout, HPROF_SAMPLE_MAX, &heap, err);
	if (reader)
		*layout = hprof_guess_layout(reader);
	hprof_reader_free(reader);
	heap_release(&heap);
	return reader ? 0 : -1;
}

/*
 * Reads the file again to complete the thread names: in the first pass, the String of a name is
 * missed if it precedes the thread's object in the file.
 */
static int read_names_again(const struct ctx *ctx, const struct dump_reader_wanted *wanted,
			    struct hprof_names *names, struct err *err)
{
	struct pass pass = { .wanted = wanted, .names = names };
	static const struct object_layout layout;
	struct heap heap = { 0 };
	struct hprof_reader *reader;

	reader = feed(ctx, &pass, &layout, UINT64_MAX, &heap, err);
	hprof_reader_free(reader);
	heap_release(&heap);
	return reader ? 0 : -1;
}

static int ask_layout(const struct ctx *ctx, struct object_layout *layout, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags = { 0 };

	if (attach_call_jcmd(ctx, "VM.flags -all", FLAGS_MAX, &text, err) < 0)
		return -1;
	*layout = (struct object_layout){ 0 };
	if (vmflags_parse(&flags, buf_str(&text), text.len) == 0)
		*layout = object_layout_of_flags(attach_call_release(ctx), &flags);
	vmflags_release(&flags);
	return 0;
}

/* Asks the JVM for thread names.  If the JVM does not answer, threads have no names. */
static void ask_thread_names(const struct ctx *ctx, struct hprof_names *names)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err ignored = { 0 };

	if (attach_call_jcmd(ctx, "Thread.print", THREADS_MAX, &text, &ignored) == 0)
		hprof_names_parse_threads(names, buf_str(&text), text.len);
}

static int get_layout(const struct ctx *ctx, const struct pass *pass, struct object_layout *layout,
		      struct err *err)
{
	if ((ctx->file ? sample_layout(ctx, pass->wanted, layout, pass->names, err)
		       : ask_layout(ctx, layout, err)) < 0)
		return -1;
	if (!object_layout_is_known(layout)) {
		(void)err_set(err, EXIT_ANSWER,
			      "cannot compute object sizes: the object layout is unknown; "
			      "expected HotSpot of JDK 8 or later");
		if (ctx->file)
			err_prefix(err, "%s", ctx->file);
		return -1;
	}
	verbose_step(ctx->steps,
		     "object layout of JDK %u: %u-byte references, %u-byte headers, %u-byte array "
		     "headers, %u-byte alignment",
		     layout->release, layout->reference, layout->header, layout->array_header,
		     layout->alignment);
	return 0;
}

static struct hprof_reader *read_dump(const struct ctx *ctx, struct pass *pass,
				      const struct object_layout *layout, struct heap *heap,
				      struct err *err)
{
	struct hprof_reader *reader;

	if (pass->names && !ctx->file)
		ask_thread_names(ctx, pass->names);
	reader = feed(ctx, pass, layout, UINT64_MAX, heap, err);
	if (!reader || !ctx->file || !pass->names || !hprof_names_incomplete(pass->names))
		return reader;
	if (read_names_again(ctx, pass->wanted, pass->names, err) < 0) {
		hprof_reader_free(reader);
		return NULL;
	}
	hprof_name_threads(reader);
	return reader;
}

/* Reads the dump.  If the JVM has written an invalid dump, makes the JVM write another one. */
static struct hprof_reader *read_valid_dump(const struct ctx *ctx, struct pass *pass,
					    const struct object_layout *layout, struct heap *heap,
					    struct err *err)
{
	struct hprof_reader *reader = read_dump(ctx, pass, layout, heap, err);

	if (reader || !pass->invalid || ctx->file)
		return reader;
	verbose_step(ctx->steps, "%s", err->text);
	cmd_print_notice(ctx->cmd,
			 "the dump that the JVM wrote is invalid; it dumps its heap again");
	*err = (struct err){ .code = EXIT_DONE };
	heap_release(heap);
	*heap = (struct heap){ 0 };
	if (pass->builder) { /* with a builder, pass->names is not NULL either */
		hprof_names_release(pass->names);
		*pass->names = (struct hprof_names){ 0 };
		graph_builder_free(pass->builder);
		pass->builder = graph_builder_new(pass->wanted->graph_memory);
	}
	return read_dump(ctx, pass, layout, heap, err);
}

struct hprof_reader *dump_reader_read(const struct ctx *ctx,
				      const struct dump_reader_wanted *wanted, struct heap *heap,
				      struct graph_builder **builder, struct err *err)
{
	struct pass pass = { .wanted = wanted };
	struct hprof_reader *reader = NULL;
	struct hprof_names names = { 0 };
	struct object_layout layout;

	if (wanted->graph_memory) {
		pass.builder = graph_builder_new(wanted->graph_memory);
		pass.names = &names; /* not needed if objects are only counted */
	}
	if (get_layout(ctx, &pass, &layout, err) == 0)
		reader = read_valid_dump(ctx, &pass, &layout, heap, err);
	hprof_names_release(&names);
	if (!reader)
		graph_builder_free(TAKE_PTR(pass.builder));
	if (builder)
		*builder = pass.builder;
	return reader;
}
