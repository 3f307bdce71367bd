/*
 * The command load: loads an agent of the user into the JVM.
 *
 * HotSpot reports some errors only on the target's stderr.  This command detects them before it
 * sends the request: the file is not a library or jar, has the wrong architecture, or cannot be
 * read by the JVM.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/file_open.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "base/strview.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "render/json.h"
#include "session/staging/staged_file.h"
#include "attach/attach.h"
#include "attach/target_query.h"

#define FILE_MAX (512u * 1024 * 1024)
#define OUTPUT_MAX 65536
#define STEM_MAX 64

/* Return codes of libinstrument's Agent_OnAttach (InvocationAdapter.c). */
enum {
	INSTRUMENT_BAD_JAR = 100,
	INSTRUMENT_NOT_ON_PATH = 101,
	INSTRUMENT_START_FAILED = 102,
};

enum agent_kind {
	AGENT_LIBRARY, /* path of a library */
	AGENT_JAR,     /* path of a jar, which libinstrument loads */
	AGENT_NAME,    /* name of a library, for which the JVM searches */
};

struct agent {
	enum agent_kind kind;
	const char *given; /* the agent as named on the command line */
	const char *options;
	/* absolute path in the target's mount namespace; NULL: send `given` to the JVM */
	char *path;
	int fd;            /* descriptor of the file `given`; -1: jtool has not opened it */
	struct stat st;
	struct staged_file *staged; /* the copy of the agent's file in the target; NULL: none */
};

static enum agent_kind kind_of(const char *given)
{
	if (strview_has_suffix(given, ".jar"))
		return AGENT_JAR;
	return strchr(given, '/') || strstr(given, ".so") ? AGENT_LIBRARY : AGENT_NAME;
}

/*
 * Returns whether the agent is an absolute path that does not exist for jtool, so that it may be a
 * path in the target's container.
 */
static bool is_path_in_target(const struct agent *a)
{
	return a->given[0] == '/' && access(a->given, F_OK) < 0 && errno == ENOENT;
}

static int open_file(struct agent *a, struct err *err)
{
	a->fd = input_file_open(a->given, INPUT_FILE_REGULAR, &a->st, err);
	if (a->fd < 0)
		return -1;
	a->path = realpath(a->given, NULL);
	if (!a->path)
		return input_file_failed(a->given, -errno, err);
	return 0;
}

static int check_jar(const struct agent *a, struct err *err)
{
	static const unsigned char zip[] = { 'P', 'K', 3, 4 };
	unsigned char head[sizeof(zip)];

	if (pread(a->fd, head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head, zip, sizeof(zip)) != 0)
		return err_set(err, EXIT_USAGE, "'%s' is not a jar: it has no zip header",
			       a->given);
	if (strchr(a->path, '='))
		return err_set(err, EXIT_USAGE,
			       "cannot load '%s': java.lang.instrument reads options after '='; "
			       "use a path without '='",
			       a->path);
	return 0;
}

/*
 * Reads the start of an ELF header; returns false if the file has none.  The fields up to e_machine
 * are the same in 32-bit and 64-bit files.
 */
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

/* Checks that the library has the same architecture as the target's executable. */
static int check_library(const struct agent *a, const struct target_ns *ns, struct err *err)
{
	_cleanup_close_ int link = procfs_openat(&ns->proc, ns->jvm->pid, "exe", O_PATH);
	_cleanup_close_ int exe = -1;
	Elf32_Ehdr lib, vm;
	struct stat st;

	if (!read_elf(a->fd, &lib) || (is_native(&lib) && lib.e_type != ET_DYN))
		return err_set(err, EXIT_USAGE,
			       "'%s' is not a shared library (ELF file of type DYN); give a .so "
			       "file", a->given);
	exe = link < 0 ? link : file_reopen_regular(link, &st);
	/*
	 * If jtool cannot read the target's executable, it does not check the architecture: the JVM
	 * checks it when it loads the library.
	 */
	if (exe < 0 || !read_elf(exe, &vm))
		return 0;
	if (lib.e_ident[EI_CLASS] == vm.e_ident[EI_CLASS] &&
	    lib.e_ident[EI_DATA] == vm.e_ident[EI_DATA] && lib.e_machine == vm.e_machine)
		return 0;
	return err_set(err, EXIT_USAGE,
		       "'%s' is built for another architecture (%s-bit, ELF machine %u) than the "
		       "JVM (%s-bit, machine %u); use a build for that one", a->given,
		       lib.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", lib.e_machine,
		       vm.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", vm.e_machine);
}

/*
 * Returns the name for the staged copy: the file name without its suffix and leading dots.  The
 * caller frees it.
 */
static char *stem_of(const struct agent *a, const char *suffix)
{
	const char *name = strrchr(a->path, '/') + 1;
	size_t len;

	name += strspn(name, ".");
	len = strlen(name);
	if (strview_has_suffix(name, suffix))
		len -= strlen(suffix);
	return len ? xstrndup(name, len < STEM_MAX ? len : STEM_MAX) : xstrdup("agent");
}

static int copy_to_target(struct agent *a, const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf data = BUF_INIT;
	const char *suffix = a->kind == AGENT_JAR ? ".jar" : ".so";
	_cleanup_free_ char *stem = stem_of(a, suffix);
	struct staged_file_request req = {
		.stem = stem, .suffix = suffix, .keep = true, .listener = -1,
		.timeout_ms = ctx->timeout_ms,
	};
	int rc = io_slurp(a->fd, &data, FILE_MAX);

	if (rc < 0)
		return input_file_failed(a->given, rc, err);
	req.data = data.data;
	req.len = data.len;
	a->staged = staged_file_new(ctx->jvm, &req, ctx->steps, err);
	if (!a->staged)
		return -1;
	free(a->path);
	a->path = xstrdup(staged_file_path(a->staged));
	verbose_step(ctx->steps, "the JVM cannot read %s: copied to %s in its mount namespace",
		     a->given, a->path);
	return 0;
}

/*
 * Runs in a worker process (worker/worker.h): checks that the library fits the JVM, and appends to
 * `answer` whether the JVM can read the file.
 */
static int answer_check(const struct target_ns *ns, const void *agent, struct buf *answer,
			struct err *err)
{
	const struct agent *a = agent;
	bool is_library = a->kind == AGENT_LIBRARY;
	uint64_t can_read;

	if (is_library && check_library(a, ns, err) < 0)
		return -1;
	can_read = target_ns_can_read(ns, a->path, &a->st, is_library);
	buf_add(answer, &can_read, sizeof(can_read));
	return 0;
}

static int check_in_target(const struct agent *a, const struct ctx *ctx, uint64_t *can_read,
			   struct err *err)
{
	const struct target_query q = {
		.fn = answer_check, .arg = a, .fd = a->fd, .max = sizeof(*can_read),
		.ms = ctx->timeout_ms,
	};

	return target_query_number(ctx->jvm, &q, can_read, err);
}

/* Checks the agent's file.  If the target cannot read it, stages a copy. */
static int prepare(struct agent *a, const struct ctx *ctx, struct err *err)
{
	uint64_t can_read;

	if (a->kind == AGENT_NAME)
		return 0;
	if (is_path_in_target(a)) {
		verbose_step(ctx->steps, "%s does not exist here: the JVM opens it", a->given);
		return 0;
	}
	if (open_file(a, err) < 0 || (a->kind == AGENT_JAR && check_jar(a, err) < 0) ||
	    check_in_target(a, ctx, &can_read, err) < 0)
		return -1;
	return can_read ? 0 : copy_to_target(a, ctx, err);
}

static int send(const struct agent *a, const struct ctx *ctx, struct attach_reply *reply,
		struct err *err)
{
	const struct attach_opts opts = {
		.timeout_ms = ctx->timeout_ms, .steps = ctx->steps, .max = OUTPUT_MAX,
		.confirm = a->staged ? staged_file_confirm : NULL, .confirm_arg = a->staged,
	};
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

	/* `code` is from the JVM's answer "return code: N" (JDK 8: "N"). */
	if (a->kind != AGENT_JAR)
		return err_set(err, EXIT_ANSWER,
			       "'%s' was loaded, but its Agent_OnAttach returned %d: the agent did "
			       "not start; see its documentation, and the JVM's stderr",
			       a->given, code);
	switch (code) {
	case INSTRUMENT_BAD_JAR:
		why = is_path_in_target(a) ?
		      "there is no such file here, and perhaps none in the JVM's container" :
		      "the JVM cannot read it as a jar, or its manifest has no Agent-Class";
		break;
	case INSTRUMENT_NOT_ON_PATH:
		why = "it could not be added to the class path";
		break;
	case INSTRUMENT_START_FAILED:
		why = "its Agent-Class was not found, has no agentmain, or agentmain threw";
		break;
	default:
		why = "jtool does not know this code";
		break;
	}
	return err_set(err, EXIT_ANSWER,
		       "'%s' was not started (return code: %d): %s; for details see the JVM's "
		       "stderr", a->given, code, why);
}

static int not_loaded(const struct agent *a, int status, const struct buf *output, struct err *err)
{
	const char *hint = "";
	size_t len = output->len;

	while (len > 0 && output->data[len - 1] == '\n')
		len--;
	if (len == 0 && is_path_in_target(a))
		return err_set(err, EXIT_ANSWER,
			       "'%s' was not loaded: there is no such file here, and perhaps none "
			       "in the JVM's container; check the path", a->given);
	if (len == 0)
		return err_set(err, EXIT_ANSWER,
			       "'%s' was not loaded: the JVM answered %d without a reason; check "
			       "for missing libraries (ldd) and for Agent_OnAttach (nm -D)",
			       a->given, status);
	if (strstr(output->data, "Dynamic agent loading is not enabled"))
		hint = " Commands without an agent still work: list, jcmd, heaphisto --vm";
	return err_set(err, EXIT_ANSWER, "the JVM did not load the agent: %.*s%s",
		       len > 700 ? 700 : (int)len, output->data, hint);
}

static void show_json(const struct ctx *ctx, const struct agent *a, const struct load_result *got,
		      int status, const struct buf *output)
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
	json_put_text_len(doc, "output", buf_str(output), output->len);
	json_print_take(doc, ctx->out);
}

static int load(struct agent *a, const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf output = BUF_INIT;
	struct attach_reply reply;
	struct load_result got;
	int rc;

	if (send(a, ctx, &reply, err) < 0)
		return -1;
	rc = spool_text(&reply.output, &output, OUTPUT_MAX);
	attach_reply_release(&reply);
	if (rc < 0)
		return err_set(err, EXIT_ANSWER,
			       "cannot read the JVM's answer for '%s': %s; try again", a->given,
			       strerror(-rc));
	got = attach_protocol_load(reply.code, buf_str(&output), output.len);
	if (ctx->json)
		show_json(ctx, a, &got, reply.code, &output);
	if (got.loaded)
		return 0;
	return got.has_code ? agent_failed(a, got.code, err)
			    : not_loaded(a, reply.code, &output, err);
}

static int check_given(const struct ctx *ctx, struct err *err)
{
	return ctx->args[0][0] ? 0 : err_set(err, EXIT_USAGE,
					     "AGENT is empty: give a library, a jar or the name "
					     "of an agent");
}

/*
 * If the agent is the library "instrument" with the options JAR[=OPTIONS], as in the JVM's attach
 * operation load, changes `a` to the agent JAR with OPTIONS.  Returns the path JAR, which is a path
 * in jtool's mount namespace; the caller frees it.  Returns NULL if `a` is another agent.
 */
static char *split_instrument(struct agent *a)
{
	size_t len = strcspn(a->options, "=");
	char *jar;

	if (a->kind != AGENT_NAME || strcmp(a->given, "instrument") != 0 || len == 0)
		return NULL;
	jar = xstrndup(a->options, len);
	a->kind = AGENT_JAR;
	a->given = jar;
	a->options += a->options[len] ? len + 1 : len;
	return jar;
}

static int load_run(struct ctx *ctx, struct err *err)
{
	struct agent a = {
		.kind = kind_of(ctx->args[0]),
		.given = ctx->args[0],
		.options = ctx->n_args > 1 ? ctx->args[1] : "",
		.fd = -1,
	};
	_cleanup_free_ char *jar = split_instrument(&a);
	int rc = prepare(&a, ctx, err);

	if (rc == 0)
		rc = load(&a, ctx, err);
	if (rc < 0 && a.staged)
		staged_file_discard(a.staged);
	staged_file_free(a.staged);
	util_close_p(&a.fd);
	free(a.path);
	return rc;
}

const struct cmd cmd_load = {
	.name = "load",
	.synopsis = "TARGET AGENT [OPTIONS]",
	.summary = "load an agent into the JVM: a .so, a .jar or the name of a library",
	.examples = (const struct example[]){
		{ "load 4711 ./agent.so interval=1", "a native agent" },
		{ "load 4711 ./agent.jar", "a Java agent" },
		{ NULL, NULL },
	},
	.details =
		"AGENT is a path on your side.  If the JVM cannot read it, for example in a\n"
		"container, jtool makes a copy that the JVM can read, and leaves it there;\n"
		"--verbose prints its path.  An absolute path that does not exist on your side is\n"
		"passed to the JVM.  A bare name (no slash, no .so or .jar) is a library that the\n"
		"JVM searches for.  'instrument JAR=OPTIONS' is the same as 'JAR OPTIONS'.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = 2,
	.free_words = 2,
	.check = check_given,
	.run = load_run,
};
