#include "http/document.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/child.h"
#include "fileio/io.h"
#include "worker/worker.h"

struct document *document_ref(struct document *doc)
{
	doc->refs++;
	return doc;
}

void document_unref(struct document *doc)
{
	if (!doc || --doc->refs > 0)
		return;
	(void)close(doc->fd); /* nothing is written to it any more */
	free(doc);
}

/*
 * In the child: writes the document to `fd`.  If that fails, sends the text of the error to `sock`;
 * else sends nothing.
 */
static void _noreturn_ write_document(int fd, int sock, document_write *write, void *arg)
{
	const struct rlimit limit = { DOCUMENT_MAX, DOCUMENT_MAX };
	struct err err = { .code = EXIT_DONE };
	FILE *out = fdopen(fd, "w");

	(void)setrlimit(RLIMIT_FSIZE, &limit); /* fails only if the limit is lower already */
	/* ferror(3): with musl, fflush(3) does not report the failure of an earlier flush. */
	if (!out || write(arg, out, &err) < 0 || fflush(out) != 0 || ferror(out))
		(void)err_set(&err, EXIT_PARTIAL, "cannot store the metrics in memory: %s",
			      strerror(errno ? errno : EIO));
	if (err.code != EXIT_DONE)
		(void)!io_write_all(sock, err.text, strlen(err.text), deadline_in_ms(1000));
	_exit(err.code == EXIT_DONE ? 0 : 1);
}

/* Reaps the child if it has ended.  Returns true if no child is left. */
static bool reap(struct document_job *job, int *status)
{
	if (job->pid > 0 && waitpid(job->pid, status, WNOHANG) == 0)
		return false;
	job->pid = 0;
	return true;
}

static void close_files(struct document_job *job)
{
	util_close_p(&job->sock);
	util_close_p(&job->fd);
	job->sock = job->fd = -1;
}

bool document_reap_orphans(struct document_job *job)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid > 0 && pid == job->pid)
			job->pid = 0; /* another process may get this pid */
	} while (pid > 0);
	return pid == 0;
}

int document_begin(struct document_job *job, document_write *write, void *arg, unsigned timeout_ms,
		   struct err *err)
{
	int status, pid;

	if (!reap(job, &status))
		return err_set(err, EXIT_PARTIAL,
			       "cannot read the JVMs: jtool's process %d is blocked in the kernel "
			       "(state D), and no other is started; look for a file system that "
			       "does not answer, such as NFS or FUSE", (int)job->pid);
	job->fd = memfd_create("metrics", MFD_CLOEXEC);
	if (job->fd < 0)
		return err_no_descriptor(err, EXIT_PARTIAL, -errno,
					 "a file in memory for the metrics");
	job->begun_ns = monotonic_ns();
	job->deadline = deadline_in_ms(timeout_ms);
	pid = worker_fork(&job->sock, &job->fd, 1);
	if (pid == 0)
		write_document(job->fd, job->sock, write, arg);
	if (pid < 0) {
		job->sock = -1; /* worker_fork() has failed and did not set `sock` */
		close_files(job);
		return err_not_started(err, EXIT_PARTIAL, pid, "the process that reads the JVMs");
	}
	job->pid = pid;
	return 0;
}

/*
 * Waits until the child sends an error text or ends.  Returns 0 if the child has written the
 * document, or -1 with err set.
 */
static int verdict(struct document_job *job, struct err *err)
{
	char text[sizeof(err->text)];
	ssize_t n = deadline_passed(job->deadline) ? -ETIMEDOUT
						   : io_read(job->sock, text, sizeof(text) - 1);
	int status = 0;

	if (n < 0) {
		child_kill(job->pid);
		/* If the child is blocked, job->pid stays set, and document_begin() will fail. */
		(void)reap(job, &status);
		return err_set(err, EXIT_PARTIAL,
			       "the JVMs were not read in time; use --timeout to wait longer");
	}
	text[n] = '\0';
	/* The child is exiting.  Kill it, in case it is broken and has only closed its socket. */
	(void)kill(job->pid, SIGKILL);
	if (waitpid(job->pid, &status, 0) < 0)
		status = -1;
	job->pid = 0;
	if (n > 0)
		return err_set(err, EXIT_PARTIAL, "%s", text);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, EXIT_PARTIAL, "the process that reads the JVMs was killed by "
			       "signal %d; if memory ran out, free some or raise the limit of "
			       "jtool's control group", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}

struct document *document_end(struct document_job *job, struct err *err)
{
	struct document *doc = NULL;
	struct stat st;

	if (job->pid > 0 && verdict(job, err) == 0) {
		if (fstat(job->fd, &st) < 0) {
			(void)err_set(err, EXIT_PARTIAL, "cannot read the size of the metrics: %s",
				      strerror(errno));
		} else {
			doc = xcalloc(1, sizeof(*doc));
			*doc = (struct document){ job->fd, st.st_size, job->begun_ns, 1 };
			job->fd = -1; /* `doc` owns it now */
		}
	}
	close_files(job);
	return doc;
}

void document_cancel(struct document_job *job)
{
	if (job->pid > 0) {
		(void)kill(job->pid, SIGKILL);
		(void)waitpid(job->pid, NULL, WNOHANG); /* if the child is blocked, init reaps it */
	}
	close_files(job);
	job->pid = 0;
}
