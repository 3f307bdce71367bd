/* Shared by the files of the command capture. */
#ifndef JTOOL_CMD_CAPTURE_CAPTURE_H
#define JTOOL_CMD_CAPTURE_CAPTURE_H

#include <signal.h>

#include "base/progress.h"
#include "cli/command.h"
#include "fileio/atomic_file.h"
#include "model/vm/secrets.h"

struct capture_opts {
	bool force, no_mask, jfr, heap;
};

enum capture_flags {
	CAPTURE_NAMES = 1 << 0,       /* has names with values, which may be secrets */
	CAPTURE_IF_JFR = 1 << 1,      /* only with --jfr */
	CAPTURE_AFTER_PAUSE = 1 << 2, /* waits first, so that the next thread dump shows changes */
	CAPTURE_IF_HEAP = 1 << 3,     /* only with --heap */
	CAPTURE_VERDICT = 1 << 4,     /* exit code 1 is an answer: a limit can be exceeded */
	CAPTURE_BINARY = 1 << 5,      /* no text: only known values are overwritten */
	CAPTURE_REDACTED = 1 << 6,    /* has no values: copied as it is, of any size */
};

#define CAPTURE_WORDS_MAX 8

/* A file of the archive: the output of a command. */
struct capture_item {
	const char *name;
	const char *words[CAPTURE_WORDS_MAX]; /* "PID" stands for the JVM's process id */
	int since;        /* the first JDK that has the command */
	int flags;        /* enum capture_flags */
	int takes_s;
	const char *cost; /* to the JVM */
};

#define CAPTURE_ITEMS 19
extern const struct capture_item capture_items[CAPTURE_ITEMS];
#define CAPTURE_MESSAGE_MAX 4096

struct capture_result {
	bool is_there;
	int code;       /* exit code of the command; -1: it was not run, or was killed */
	double seconds;
	uint64_t size;
	size_t n_masked;
	double pause;   /* seconds in which the JVM was at safepoints meanwhile; -1: unknown */
	char message[CAPTURE_MESSAGE_MAX]; /* what the command said on stderr */
};

struct capture {
	const struct ctx *ctx;
	const struct capture_opts *opts;
	struct atomic_file out;
	struct progress line;
	sigset_t signals, old;
	bool stopped; /* by a signal */
	struct capture_result results[CAPTURE_ITEMS];
	struct capture_result environment;
	struct capture_log {
		char *name; /* in the archive */
		struct capture_result result;
	} *logs;        /* that the JVM writes */
	size_t n_logs, cap_logs;
	struct secrets secrets; /* that were found so far */
	int number;   /* of the item that is being made */
};

/* Returns whether the options and the JVM's release ask for the item. */
bool capture_wants(const struct capture *c, const struct capture_item *item);

/*
 * Adds all files, until a signal arrives.  Returns -1 with err set if the archive cannot be
 * written.  For a command that fails, only its message is recorded.
 */
int capture_run(struct capture *c, struct err *err) _must_check_;
/* Adds a file to the archive, without its secrets, which are overwritten in `text`. */
int capture_add_text(struct capture *c, const char *name, struct buf *text, int flags,
		     struct capture_result *r, struct err *err) _must_check_;
/* Returns the time that the JVM has been at safepoints, in seconds; -1: unknown. */
double capture_safepoints(const struct capture *c);

/* Adds the ends of the files that the JVM logs to (-Xlog, -Xloggc) and has open. */
int capture_logs(struct capture *c, struct err *err) _must_check_;
void capture_release(struct capture *c);

/* Adds README.txt, which lists the time and the pause that each file took. */
int capture_add_readme(struct capture *c, struct err *err) _must_check_;
/* Prints the result: a line, or a document. */
void capture_print(const struct capture *c, uint64_t size, size_t n_files);

#endif
