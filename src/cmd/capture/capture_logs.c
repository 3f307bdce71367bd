/*
 * capture: adds the JVM's log files to the archive.  In the JVM's options, the name of a log file
 * may be relative and may contain placeholders.  So the JVM's open files are searched for files
 * with a matching name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/target_query.h"
#include "base/strview.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/capture/capture.h"
#include "discover/cmdline.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "wire/glob.h"

#define LOG_MAX (16 << 20) /* of a longer log file, the last LOG_MAX bytes are captured */
#define LOGS_MAX 8
#define LIST_MAX 65536
#define QUERY_MS 10000

/* Globs for the last components of the log files' paths; each glob has a final NUL. */
struct patterns {
	struct buf text;
};

/*
 * Adds a glob for a log file.  `name` is the file's path in the JVM's options, such as
 * logs/gc-%p.log.  The glob is made from the last component of the path, here gc-*.log*.  It ends
 * with '*', because the JVM may append to the name; JDK 8 appends ".0.current", for example.
 */
static void add_pattern(struct patterns *p, const char *name, size_t len)
{
	const char *from = memrchr(name, '/', len), *end = name + len;

	from = from ? from + 1 : name;
	if (from == end)
		return;
	for (; from < end; from++) {
		/* %p is the pid, %t the time, %hn the host name */
		if (*from == '%' && from + 1 < end) {
			from += from[1] == 'h' && from + 2 < end ? 2 : 1;
			buf_addc(&p->text, '*');
		} else {
			buf_addc(&p->text, *from);
		}
	}
	buf_adds(&p->text, "*");
	buf_addc(&p->text, '\0');
}

/*
 * Adds globs for the log files that the diagnostic command `VM.log list` prints (JDK 9 and later).
 * A line of its output looks like ` #2: file=/tmp/gc.log all=off,gc*=info time,uptime …`.
 */
static void take_outputs(struct patterns *p, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;

	while (strview_line(&rest, &line)) {
		const char *at = memmem(line.at, strview_len(line), ": file=", 7), *end;

		if (!at || *line.at != ' ')
			continue;
		at += strlen(": file=");
		if (at < line.end && *at == '"') {
			at++;
			end = memchr(at, '"', (size_t)(line.end - at));
		} else {
			end = memchr(at, ' ', (size_t)(line.end - at));
		}
		add_pattern(p, at, (size_t)((end ? end : line.end) - at));
	}
}

static void find_patterns(const struct capture *c, struct patterns *p)
{
	static const char *const flags[] = { "-Xloggc:", "-XX:LogFile=" };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err ignored = { .code = EXIT_DONE };

	if (jvm_feature(c->ctx->jvm) >= 9 &&
	    attach_call_jcmd(c->ctx, "VM.log list", LIST_MAX, &text, &ignored) == 0)
		take_outputs(p, buf_str(&text), text.len);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = flags_value(c->ctx->jvm->flags, flags[i]);

		if (path)
			add_pattern(p, path, strlen(path));
	}
}

static bool matches(const struct patterns *p, const char *name)
{
	const char *at = p->text.data, *end = at + p->text.len;

	for (; at < end; at += strlen(at) + 1) {
		if (glob_matches(at, name))
			return true;
	}
	return false;
}

/*
 * Appends a log file to `answer`: its path with a final NUL, then the number of bytes of content as
 * a uint32_t, then the content, which is at most the last LOG_MAX bytes of the file.
 */
static void add_log(struct buf *answer, const char *path, int path_fd)
{
	struct stat st;
	_cleanup_close_ int fd = file_reopen_regular(path_fd, &st);
	_cleanup_buf_ struct buf text = BUF_INIT;
	uint32_t len;
	int rc;

	if (fd < 0 || (st.st_size > LOG_MAX && lseek(fd, st.st_size - LOG_MAX, SEEK_SET) < 0))
		return;
	rc = io_slurp(fd, &text, LOG_MAX);
	/* -EFBIG: the log has grown since its size was read; the LOG_MAX bytes in `text` suffice */
	if (rc < 0 && rc != -EFBIG)
		return;
	len = (uint32_t)text.len;
	buf_add(answer, path, strlen(path) + 1);
	buf_add(answer, &len, sizeof(len));
	buf_add(answer, text.data, text.len);
}

/*
 * Adds the file that the target has open as descriptor `number`, if the file's name matches a glob.
 * Opens the file through /proc/PID/fd, so that no symbolic link of the target can lead to another
 * file.  Returns true if the file was opened.
 */
static bool take_descriptor(const struct target_ns *ns, const struct patterns *p,
			    const char *number, struct buf *answer)
{
	_cleanup_free_ char *entry = xasprintf("fd/%s", number);
	_cleanup_free_ char *link = procfs_readlink(&ns->proc, ns->jvm->pid, entry);
	const char *name = link ? strrchr(link, '/') : NULL;
	_cleanup_close_ int fd = -1;

	if (!name || !matches(p, name + 1))
		return false;
	fd = procfs_openat(&ns->proc, ns->jvm->pid, entry, O_PATH);
	if (fd >= 0)
		add_log(answer, link, fd);
	return fd >= 0;
}

static int read_logs(const struct target_ns *ns, const void *arg, struct buf *answer,
		     struct err *err)
{
	int fd = procfs_openat(&ns->proc, ns->jvm->pid, "fd", O_RDONLY | O_DIRECTORY), n = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	(void)err;
	if (!dir) {
		util_close_p(&fd);
		return 0;
	}
	for (const struct dirent *entry; n < LOGS_MAX && (entry = readdir(dir)) != NULL;)
		n += *entry->d_name != '.' && take_descriptor(ns, arg, entry->d_name, answer);
	(void)closedir(dir);
	return 0;
}

/* Returns the file's name in the archive.  It has a number if another file has the same name. */
static char *name_of(const struct capture *c, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *name = xasprintf("logs/%.80s", base);

	for (size_t i = 0; i < c->n_logs; i++) {
		if (strcmp(c->logs[i].name, name) != 0)
			continue;
		free(name);
		return xasprintf("logs/%zu-%.80s", c->n_logs + 1, base);
	}
	return name;
}

static int add_file(struct capture *c, const char *path, const char *text, size_t len,
		    struct err *err)
{
	struct capture_log *log;
	char *name;
	_cleanup_buf_ struct buf copy = BUF_INIT;

	for (size_t i = 0; i < c->n_logs; i++) {
		if (strcmp(c->logs[i].path, path) == 0)
			return 0; /* the JVM has opened this file twice */
	}
	name = name_of(c, path);
	c->logs = xgrow(c->logs, c->n_logs, &c->cap_logs, sizeof(*c->logs));
	log = &c->logs[c->n_logs++];
	*log = (struct capture_log){
		.path = xstrdup(path),
		.name = name,
		.result = { .code = 0, .pause = -1 },
	};
	buf_add(&copy, text, len);
	return capture_add_text(c, log->name, &copy, CAPTURE_NAMES, &log->result, err);
}

/*
 * Adds the log files in `answer`, which has the format of add_log(), to the archive.  The paths and
 * contents of the files are from the target, and were not checked before.
 */
static int add_files(struct capture *c, const struct buf *answer, struct err *err)
{
	const char *at = buf_str(answer), *end = at + answer->len;

	while (at < end) {
		const char *path = at, *nul = memchr(at, '\0', (size_t)(end - at));
		uint32_t len;

		if (!nul || end - nul - 1 < (ptrdiff_t)sizeof(len))
			break;
		memcpy(&len, nul + 1, sizeof(len));
		at = nul + 1 + sizeof(len);
		if (len > (size_t)(end - at))
			break;
		if (add_file(c, path, at, len, err) < 0)
			return -1;
		at += len;
	}
	return 0;
}

int capture_logs(struct capture *c, struct err *err)
{
	struct patterns patterns = { BUF_INIT };
	const struct target_query q = {
		.fn = read_logs, .arg = &patterns, .fd = -1, .ms = QUERY_MS,
		.max = (size_t)LOGS_MAX * (LOG_MAX + 4096),
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct err why = { .code = EXIT_DONE };
	int rc = 0;

	find_patterns(c, &patterns);
	if (patterns.text.len > 0) {
		if (target_query(c->ctx->jvm, &q, &answer, &why) == 0)
			rc = add_files(c, &answer, err);
		else
			cmd_print_notice(c->ctx->cmd, "no logs: %s", why.text);
	}
	buf_release(&patterns.text);
	return rc;
}
