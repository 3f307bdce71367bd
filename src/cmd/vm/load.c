/*
 * load: start an agent of the user's in the JVM.
 *
 * What HotSpot would complain about on the target's own stderr is found out here, before it is
 * asked: a file that is no library or jar, another architecture, a path that it does not see.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "cmd.h"
#include "render/json.h"
#include "session/place.h"
#include "target/attach.h"
#include "target/ns.h"

#define FILE_MAX (512u * 1024 * 1024)
#define OUTPUT_MAX 65536
#define STEM_MAX 64

/* What libinstrument returns from Agent_OnAttach (InvocationAdapter.c). */
enum {
	INSTRUMENT_BAD_JAR = 100,
	INSTRUMENT_NOT_ON_PATH = 101,
	INSTRUMENT_START_FAILED = 102,
};

enum agent_kind {
	AGENT_LIBRARY, /* a file */
	AGENT_JAR,     /* a file for libinstrument */
	AGENT_NAME,    /* a library that the JVM finds itself */
};

struct agent {
	enum agent_kind kind;
	const char *given; /* as on the command line */
	const char *options;
	char *path;        /* of a file: absolute, as the target is to open it */
	int fd;            /* of a file of ours, else -1 */
	struct stat st;
	struct place *place; /* when it had to be copied */
};

static bool has_suffix(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len > n && strcmp(s + len - n, suffix) == 0;
}

static enum agent_kind kind_of(const char *given)
{
	if (has_suffix(given, ".jar"))
		return AGENT_JAR;
	return strchr(given, '/') || strstr(given, ".so") ? AGENT_LIBRARY : AGENT_NAME;
}

/* Is it no file of ours, but one that the target may have, in its container? */
static bool is_theirs(const struct agent *a)
{
	return a->given[0] == '/' && access(a->given, F_OK) < 0 && errno == ENOENT;
}

static int open_file(struct agent *a, struct err *err)
{
	a->fd = open(a->given, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not block us */
	if (a->fd < 0 || fstat(a->fd, &a->st) < 0)
		return err_set(err, EXIT_ANSWER, "%s cannot be read: %s", a->given,
			       strerror(errno));
	if (!S_ISREG(a->st.st_mode))
		return err_set(err, EXIT_ANSWER, "%s is not a regular file", a->given);
	a->path = realpath(a->given, NULL);
	if (!a->path)
		return err_set(err, EXIT_ANSWER, "%s has no absolute path: %s", a->given,
			       strerror(errno));
	return 0;
}

static int check_jar(const struct agent *a, struct err *err)
{
	static const unsigned char zip[] = { 'P', 'K', 3, 4 };
	unsigned char head[sizeof(zip)];

	if (pread(a->fd, head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head, zip, sizeof(zip)) != 0)
		return err_set(err, EXIT_ANSWER, "%s is no jar: it does not begin as a zip file",
			       a->given);
	if (strchr(a->path, '='))
		return err_set(err, EXIT_ANSWER,
			       "%s: java.lang.instrument takes what follows '=' for options: "
			       "use a path without one",
			       a->path);
	return 0;
}

/* The identification and type fields, which are the same in 32 and 64 bit files. */
static bool read_elf(int fd, Elf32_Ehdr *head)
{
	return pread(fd, head, sizeof(*head), 0) == (ssize_t)sizeof(*head) &&
	       memcmp(head->e_ident, ELFMAG, SELFMAG) == 0;
}

static bool is_native(const Elf32_Ehdr *head)
{
	static const uint16_t one = 1;

	return (head->e_ident[EI_DATA] == ELFDATA2LSB) == (*(const uint8_t *)&one == 1);
}

/* The library against the program that runs in the target. */
static int check_library(const struct agent *a, const struct ns *ns, struct err *err)
{
	_cleanup_close_ int exe = procfs_openat(&ns->proc, ns->jvm->pid, "exe", O_RDONLY);
	Elf32_Ehdr lib, vm;

	if (!read_elf(a->fd, &lib) || (is_native(&lib) && lib.e_type != ET_DYN))
		return err_set(err, EXIT_ANSWER,
			       "%s is no shared library (an ELF file of type DYN)", a->given);
	if (exe < 0 || !read_elf(exe, &vm)) /* then the JVM will say it */
		return 0;
	if (lib.e_ident[EI_CLASS] == vm.e_ident[EI_CLASS] &&
	    lib.e_ident[EI_DATA] == vm.e_ident[EI_DATA] && lib.e_machine == vm.e_machine)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "%s is built for another machine than the JVM: %s-bit and ELF machine %u, "
		       "not %s-bit and %u",
		       a->given, lib.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", lib.e_machine,
		       vm.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", vm.e_machine);
}

/* The name of the copy: that of the file, without its suffix and leading dots. */
static char *stem_of(const struct agent *a, const char *suffix)
{
	const char *name = strrchr(a->path, '/') + 1;
	size_t len;

	name += strspn(name, ".");
	len = strlen(name);
	if (has_suffix(name, suffix))
		len -= strlen(suffix);
	return len ? xstrndup(name, len < STEM_MAX ? len : STEM_MAX) : xstrdup("agent");
}

static int copy_to_target(struct agent *a, const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf data = BUF_INIT;
	const char *suffix = a->kind == AGENT_JAR ? ".jar" : ".so";
	_cleanup_free_ char *stem = stem_of(a, suffix);
	struct place_request req = { .stem = stem, .suffix = suffix, .keep = true, .listener = -1 };
	int rc = io_slurp(a->fd, &data, FILE_MAX);

	if (rc < 0)
		return err_set(err, EXIT_ANSWER, "%s cannot be read: %s", a->given, strerror(-rc));
	req.data = data.data;
	req.len = data.len;
	a->place = place_new(ctx->jvm, &req, ctx->steps, err);
	if (!a->place)
		return -1;
	free(a->path);
	a->path = xstrdup(place_file(a->place));
	steps_add(ctx->steps, "the JVM cannot read %s: copied to %s, as it sees it", a->given,
		  a->path);
	return 0;
}

static int prepare_in(struct agent *a, const struct ns *ns, const struct ctx *ctx, struct err *err)
{
	bool is_library = a->kind == AGENT_LIBRARY;

	if ((is_library ? check_library(a, ns, err) : check_jar(a, err)) < 0)
		return -1;
	if (ns_can_read(ns, a->path, &a->st, is_library))
		return 0;
	return copy_to_target(a, ctx, err);
}

/* Check the file and bring it to where the target can read it. */
static int prepare(struct agent *a, const struct ctx *ctx, struct err *err)
{
	struct ns ns;
	int rc;

	if (a->kind == AGENT_NAME)
		return 0;
	if (is_theirs(a)) {
		steps_add(ctx->steps, "there is no %s here: the JVM looks for it", a->given);
		return 0;
	}
	if (open_file(a, err) < 0 || ns_open(ctx->jvm, &ns, err) < 0)
		return -1;
	rc = prepare_in(a, &ns, ctx, err);
	ns_close(&ns);
	return rc;
}

static int ask(const struct agent *a, const struct ctx *ctx, struct attach_reply *reply,
	       struct err *err)
{
	const struct attach_opts opts = { ctx->timeout_ms, ctx->steps };
	_cleanup_buf_ struct buf jar = BUF_INIT;
	const char *args[3] = { a->path ? a->path : a->given,
				a->kind == AGENT_LIBRARY ? "true" : "false", a->options };
	const struct attach_request req = { "load", args, ARRAY_SIZE(args) };

	if (a->kind == AGENT_JAR) {
		buf_addf(&jar, "%s%s%s", args[0], a->options[0] ? "=" : "", a->options);
		args[0] = "instrument";
		args[2] = buf_str(&jar);
	}
	return attach_execute(ctx->jvm, &opts, &req, reply, err);
}

static int agent_failed(const struct agent *a, int code, struct err *err)
{
	const char *why;

	/* "return code: N" are the words of JDK 9 and later. */
	if (a->kind != AGENT_JAR)
		return err_set(err, EXIT_ANSWER,
			       "%s was entered, but Agent_OnAttach refused to start: "
			       "return code: %d", a->given, code);
	switch (code) {
	case INSTRUMENT_BAD_JAR:
		why = "the JVM cannot read it as a jar, or its manifest has no Agent-Class";
		break;
	case INSTRUMENT_NOT_ON_PATH:
		why = "it could not be added to the class path";
		break;
	case INSTRUMENT_START_FAILED:
		why = "its Agent-Class was not found, has no agentmain, or agentmain threw";
		break;
	default:
		why = "unknown to jtool";
		break;
	}
	return err_set(err, EXIT_ANSWER,
		       "%s was not started: return code: %d: %s; the JVM tells more on its own "
		       "stderr", a->given, code, why);
}

static int not_loaded(const struct agent *a, int status, const struct buf *said, struct err *err)
{
	const char *hint = "";
	size_t len = said->len;

	while (len > 0 && said->data[len - 1] == '\n')
		len--;
	if (len == 0)
		return err_set(err, EXIT_ANSWER,
			       "%s was not loaded: the JVM answered %d and does not say why; look "
			       "for missing libraries (ldd) and for Agent_OnAttach (nm -D)",
			       a->given, status);
	if (strstr(said->data, "Dynamic agent loading is not enabled"))
		hint = " What needs no agent still works: list, jcmd, heaphisto --vm";
	return err_set(err, EXIT_ANSWER, "the JVM did not take the agent: %.*s%s",
		       len > 700 ? 700 : (int)len, said->data, hint);
}

static void show_json(const struct ctx *ctx, const struct agent *a, const struct load_result *got,
		      int status, const struct buf *said)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put_text(doc, "agent", a->path ? a->path : a->given);
	json_put_bool(doc, "loaded", got->loaded);
	if (got->has_code)
		json_put_number(doc, "returned", got->code);
	else
		json_put_null(doc, "returned");
	json_put_number(doc, "code", status);
	json_put_text_len(doc, "output", buf_str(said), said->len);
	json_print_take(doc, ctx->out);
}

static int load(struct agent *a, const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf said = BUF_INIT;
	struct attach_reply reply;
	struct load_result got;
	int rc;

	if (ask(a, ctx, &reply, err) < 0)
		return -1;
	rc = spool_text(&reply.output, &said, OUTPUT_MAX);
	attach_reply_release(&reply);
	if (rc < 0)
		return err_set(err, EXIT_ANSWER, "%s: the JVM's answer is no answer to load: %s",
			       a->given, strerror(-rc));
	got = attachproto_load(reply.code, buf_str(&said), said.len);
	if (ctx->json)
		show_json(ctx, a, &got, reply.code, &said);
	if (got.loaded)
		return 0;
	return got.has_code ? agent_failed(a, got.code, err)
			    : not_loaded(a, reply.code, &said, err);
}

static int check_given(const struct ctx *ctx, struct err *err)
{
	return ctx->args[0][0] ? 0 : err_set(err, EXIT_USAGE, "AGENT is empty");
}

static int load_run(struct ctx *ctx, struct err *err)
{
	struct agent a = {
		.kind = kind_of(ctx->args[0]),
		.given = ctx->args[0],
		.options = ctx->n_args > 1 ? ctx->args[1] : "",
		.fd = -1,
	};
	int rc = prepare(&a, ctx, err);

	if (rc == 0)
		rc = load(&a, ctx, err);
	if (rc < 0 && a.place)
		place_discard(a.place);
	place_free(a.place);
	util_close_p(&a.fd);
	free(a.path);
	return rc;
}

const struct cmd cmd_load = {
	.name = "load",
	.synopsis = "TARGET AGENT [OPTIONS]",
	.summary = "load an agent into the JVM: a .so, a .jar or the name of a library",
	.details = "AGENT is a path of yours, also when the JVM runs in a container: what it\n"
		   "cannot read there is copied to where it can (--verbose names the copy,\n"
		   "which stays).  An absolute path that does not exist here is the JVM's own.\n"
		   "A bare name (no slash, no .so or .jar) is a library that the JVM finds\n"
		   "itself.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = 2,
	.free_words = 2,
	.check = check_given,
	.run = load_run,
};
