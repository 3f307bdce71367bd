#include "cmd/heap_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/answer.h"
#include "model/vmtold.h"

#define FLAGS_MAX (4u * 1024 * 1024)
#define VERSION_MAX (64u * 1024)
#define THREADS_MAX (64u * 1024 * 1024)
#define PIECE (256 * 1024)

struct reading {
	struct hprof_reader *reader;
	struct progress line;
	uint64_t max_objects; /* of a file: enough is seen then */
};

/* 1: enough is seen. */
static int take_piece(void *arg, const uint8_t *data, size_t len, struct err *err)
{
	struct reading *r = arg;

	if (hprof_feed(r->reader, data, len, err) < 0)
		return -1;
	if (progress_due(&r->line))
		progress_tell(&r->line, "reading the dump: %.1f million objects",
			      (double)hprof_objects(r->reader) / 1e6);
	return hprof_objects(r->reader) >= r->max_objects;
}

static int cannot_open(const char *path, int error, struct err *err)
{
	return err_set(err, error == EACCES ? EXIT_PERMISSION : EXIT_TARGET,
		       "%s cannot be read: %s", path, strerror(error));
}

/* For zlib, which passes on what is not compressed as it is. */
static gzFile open_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	gzFile file;

	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)cannot_open(path, errno, err);
		util_close_p(&fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) { /* it is read twice */
		(void)err_set(err, EXIT_TARGET, "%s is no regular file", path);
		(void)close(fd);
		return NULL;
	}
	file = gzdopen(fd, "rb");
	if (!file)
		xalloc_die();
	(void)gzbuffer(file, PIECE);
	return file;
}

/* zlib's own words begin with a name that it made up. */
static int file_failed(const char *path, int error, struct err *err)
{
	const char *why = error == Z_ERRNO ? strerror(errno)
			: error == Z_BUF_ERROR ? "it is cut off"
					       : "what is compressed in it is damaged";

	return err_set(err, EXIT_PARTIAL, "%s cannot be read to its end: %s", path, why);
}

static int read_file(const char *path, struct reading *r, struct err *err)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE);
	gzFile file = open_file(path, err);
	int rc = 0, n = 0, error = Z_OK;

	if (!file)
		return -1;
	while (rc == 0 && (n = gzread(file, piece, PIECE)) > 0)
		rc = take_piece(r, piece, (size_t)n, err);
	if (rc < 0)
		err_prefix(err, "%s", path);
	if (rc == 0)
		(void)gzerror(file, &error); /* also of an end that came too early */
	if (error != Z_OK)
		rc = file_failed(path, error, err);
	(void)gzclose_r(file); /* nothing was written */
	return rc < 0 ? -1 : 0;
}

static int read_jvm(const struct ctx *ctx, const struct hprof_limits *limits, struct reading *r,
		    struct err *err)
{
	return hprof_flow(ctx, limits, take_piece, r, err);
}

/* A reader that has had all there is, or enough of it. */
static struct hprof_reader *feed(const struct ctx *ctx, const struct heap_dump_wanted *wanted,
				 const struct layout *layout, uint64_t max_objects,
				 struct hprof_names *names, struct heap *heap, struct err *err)
{
	const struct hprof_wants wants = {
		.builder = wanted->builder,
		.layout = *layout,
		.texts_from = wanted->texts_from,
		.names = names,
	};
	struct reading r = { hprof_reader_new(heap, &wants), { false, false, 0 }, max_objects };
	int rc;

	progress_begin(&r.line);
	if (ctx->file)
		rc = read_file(ctx->file, &r, err);
	else
		rc = read_jvm(ctx, &wanted->limits, &r, err);
	progress_end(&r.line);
	if (rc == 0 && hprof_objects(r.reader) < max_objects) {
		rc = hprof_end(r.reader, err);
		if (rc < 0 && ctx->file)
			err_prefix(err, "%s", ctx->file);
	}
	if (rc == 0)
		return r.reader;
	hprof_reader_free(r.reader);
	return NULL;
}

/* A dump does not tell it, but what it has tells where objects lie. */
static int look(const struct ctx *ctx, struct layout *layout, struct hprof_names *names,
		struct err *err)
{
	static const struct heap_dump_wanted nothing;
	struct heap heap = { 0 };
	struct hprof_reader *reader;

	*layout = (struct layout){ 0 };
	reader = feed(ctx, &nothing, layout, HPROF_LOOK, names, &heap, err);
	if (reader)
		*layout = hprof_guess_layout(reader);
	hprof_reader_free(reader);
	heap_release(&heap);
	return reader ? 0 : -1;
}

/* Strings that stood before what led to them: a file can be read once more. */
static int look_for_names(const struct ctx *ctx, struct hprof_names *names, struct err *err)
{
	static const struct heap_dump_wanted nothing;
	static const struct layout layout;
	struct heap heap = { 0 };
	struct hprof_reader *reader;

	reader = feed(ctx, &nothing, &layout, UINT64_MAX, names, &heap, err);
	hprof_reader_free(reader);
	heap_release(&heap);
	return reader ? 0 : -1;
}

/* hsperfdata may tell no version; 0: nor does the JVM. */
static int release_of(const struct ctx *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct jvm told = { 0 };
	struct err ignored = { 0 };
	char *vm = NULL;
	int release = jvm_feature(ctx->jvm);

	if (release || answer_jcmd(ctx, "VM.version", VERSION_MAX, &text, &ignored) < 0)
		return release;
	vmtold_version(buf_str(&text), &vm, &told.version);
	release = jvm_feature(&told);
	free(told.version);
	free(vm);
	return release;
}

static int ask(const struct ctx *ctx, struct layout *layout, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags = { 0 };

	if (answer_jcmd(ctx, "VM.flags -all", FLAGS_MAX, &text, err) < 0)
		return -1;
	*layout = (struct layout){ 0 };
	if (vmflags_parse(&flags, buf_str(&text), text.len) == 0)
		*layout = layout_of_flags((unsigned)release_of(ctx), &flags);
	vmflags_release(&flags);
	return 0;
}

/* A JVM that tells no names has nameless threads. */
static void ask_names(const struct ctx *ctx, struct hprof_names *names)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err ignored = { 0 };

	if (answer_jcmd(ctx, "Thread.print", THREADS_MAX, &text, &ignored) == 0)
		hprof_names_print(names, buf_str(&text), text.len);
}

static struct hprof_reader *read_dump(const struct ctx *ctx, const struct heap_dump_wanted *wanted,
				      struct hprof_names *names, struct heap *heap,
				      struct err *err)
{
	struct hprof_reader *reader;
	struct layout layout;

	if ((ctx->file ? look(ctx, &layout, names, err) : ask(ctx, &layout, err)) < 0)
		return NULL;
	if (!layout_is_known(&layout)) {
		(void)err_set(err, EXIT_ANSWER,
			      "it does not show how its JVM lays out objects, without which their "
			      "sizes are not known: is it HotSpot's, of JDK 8 or newer?");
		if (ctx->file)
			err_prefix(err, "%s", ctx->file);
		return NULL;
	}
	steps_add(ctx->steps,
		  "laid out as in JDK %u: references of %u bytes, headers of %u, of arrays %u, "
		  "at multiples of %u",
		  layout.release, layout.reference, layout.header, layout.array_header,
		  layout.alignment);
	if (names && !ctx->file)
		ask_names(ctx, names);
	reader = feed(ctx, wanted, &layout, UINT64_MAX, names, heap, err);
	if (!reader || !ctx->file || !names || !hprof_names_lacking(names))
		return reader;
	if (look_for_names(ctx, names, err) < 0) {
		hprof_reader_free(reader);
		return NULL;
	}
	hprof_name_threads(reader);
	return reader;
}

struct hprof_reader *heap_dump_read(const struct ctx *ctx, const struct heap_dump_wanted *wanted,
				    struct heap *heap, struct err *err)
{
	struct hprof_names names = { 0 };
	struct hprof_reader *reader;

	/* Who only counts has nobody to name. */
	reader = read_dump(ctx, wanted, wanted->builder ? &names : NULL, heap, err);
	hprof_names_release(&names);
	return reader;
}
