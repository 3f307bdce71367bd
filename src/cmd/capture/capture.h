/* Declarations shared by the files of the command capture. */
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
	/* the file is text with names and their values; some values may be secrets */
	CAPTURE_NAMES = 1 << 0,
	CAPTURE_IF_JFR = 1 << 1,      /* included only with --jfr */
	/*
	 * The file is a thread dump.  The capture waits for some seconds before it takes this dump,
	 * so that threads that are working have other stacks than in the previous dump.
	 */
	CAPTURE_AFTER_PAUSE = 1 << 2,
	CAPTURE_IF_HEAP = 1 << 3,     /* included only with --heap */
	/*
	 * The command's exit code 1 is a result, not a failure: `jtool memory` returns it if a
	 * memory limit can be exceeded.
	 */
	CAPTURE_VERDICT = 1 << 4,
	/* the file is not text: only values of secrets found earlier are overwritten in it */
	CAPTURE_BINARY = 1 << 5,
	/*
	 * The file is a heap dump in which `heapdump --redact` has overwritten the values.  So the
	 * dump is copied without a search for secrets, and may be of any size.
	 */
	CAPTURE_REDACTED = 1 << 6,
	/*
	 * The file has the JVM's counters.  The command's exit code 1 means that the JVM publishes
	 * none: then the archive is complete without the file.
	 */
	CAPTURE_COUNTERS = 1 << 7,
};

#define CAPTURE_WORDS_MAX 8

/* A file of the archive.  Its content is the output of a command of jtool. */
struct capture_item {
	const char *name;
	/* the command's arguments; "PID" is replaced by the JVM's process id */
	const char *words[CAPTURE_WORDS_MAX];
	int since;        /* the first JDK that supports the command; 0: all JDKs */
	int flags;        /* enum capture_flags */
	int takes_s;      /* time in seconds that the command is expected to take */
	const char *cost; /* text for README.txt on what the command costs the JVM */
};

#define CAPTURE_ITEMS 19
extern const struct capture_item capture_items[CAPTURE_ITEMS];
#define CAPTURE_MESSAGE_MAX 4096

struct capture_result {
	bool is_there;  /* the archive has the file */
	int code;       /* exit code of the command; -1: it was not run or was killed */
	double seconds;
	uint64_t size;
	size_t n_masked;
	/* seconds for which the JVM was at safepoints during the command; -1: unknown */
	double pause;
	char message[CAPTURE_MESSAGE_MAX]; /* text of the command on stderr, or another error */
};

struct capture {
	const struct ctx *ctx;
	const struct capture_opts *opts;
	struct atomic_file out;
	struct progress line;
	sigset_t signals, old;
	bool stopped; /* a signal has stopped the capture */
	struct capture_result results[CAPTURE_ITEMS];
	struct capture_result environment;
	struct capture_log {
		char *path; /* path of the file in the JVM */
		char *name; /* name of the file in the archive */
		struct capture_result result;
	} *logs;        /* log files of the JVM */
	size_t n_logs, cap_logs;
	struct secrets secrets; /* the secrets that were found so far */
	int number;   /* number of the item that is being added, for the progress line */
};

/* Returns whether the archive includes the item, according to the options and the JVM's release. */
bool capture_wants(const struct capture *c, const struct capture_item *item);

/*
 * Adds the items to the archive, until all are added or a signal arrives.  If the command of an
 * item fails, stores the command's message in the item's capture_result, and goes on.  Returns -1
 * with err set if the archive cannot be written.
 */
int capture_run(struct capture *c, struct err *err) _must_check_;
/*
 * Overwrites the secrets in `text`, and adds `text` to the archive as the file `name`.  `flags` are
 * enum capture_flags.  Sets r->size, and adds the number of overwritten secrets to r->n_masked.
 * Returns 0, or -1 with err set.
 */
int capture_add_text(struct capture *c, const char *name, struct buf *text, int flags,
		     struct capture_result *r, struct err *err) _must_check_;
/* Returns for how many seconds the JVM has been at safepoints since its start; -1: unknown. */
double capture_safepoints(const struct capture *c);

/* Adds the last part of each log file (-Xlog, -Xloggc) that the JVM has open. */
int capture_logs(struct capture *c, struct err *err) _must_check_;
void capture_release(struct capture *c);

/*
 * Prints a notice for each reason why files are missing, with the names of these files.  Returns 0
 * if the archive is complete, or -1 with err set.
 */
int capture_conclude(const struct capture *c, struct err *err) _must_check_;

/* Adds README.txt: for each file, how long the command ran and how long the JVM paused. */
int capture_add_readme(struct capture *c, struct err *err) _must_check_;
/*
 * Prints the result as a line of text or as a JSON document.  `size` is the size of the archive in
 * bytes, and `n_files` the number of its files.
 */
void capture_print(const struct capture *c, uint64_t size, size_t n_files);

#endif
