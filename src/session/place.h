/*
 * Exchanging a file with a target: one that it maps, or one that it writes; and taking it away
 * again.
 *
 * The directory is private to the target's user: DIR/.jtool-UID-NSPID, mode 0700, made without
 * following links, in the first of its tmp, /tmp, /var/tmp, /dev/shm, /run, its cwd and its home
 * that serves, all as the target sees them.  A file to be mapped needs one that is not mounted
 * noexec, and its name carries a hash of its content: the dynamic linker never re-reads a path
 * it knows.  A file that the target writes needs room, and stands on a disk rather than in
 * memory, which may be a container's own that it must not fill; its path has nothing that means
 * more than itself in a diagnostic command, but for blanks.
 *
 * A keeper process with the target's ids makes both and stays for as long as the place is open.
 * When jtool is gone, by whatever end, the keeper removes what it made.  Files to be mapped, of
 * several jtools in one target, share the directory; a lock tells the last one.  What the target
 * writes has a directory of its own, with -RANDOM at the end, which goes with all that is in it.
 */
#ifndef JTOOL_SESSION_PLACE_H
#define JTOOL_SESSION_PLACE_H

#include <stdint.h>

#include "base/err.h"
#include "base/steps.h"
#include "target/jvm.h"

struct place;

enum place_kind {
	PLACE_FILE,   /* of our making, for the target to map */
	PLACE_FIFO,   /* for the target to write to */
	PLACE_RESULT, /* nothing yet: the target makes the file */
};

struct place_request {
	enum place_kind kind;
	/*
	 * The name of what is to be mapped is STEM-HASH SUFFIX: "jtool-agent", ".so"; of the rest,
	 * .STEM SUFFIX.  No dot in front, no slash.
	 */
	const char *stem, *suffix;
	const void *data;   /* PLACE_FILE: the file's content */
	size_t len;
	bool keep;          /* PLACE_FILE: leave it there for good (an agent of the user's) */
	int listener;       /* an unbound AF_UNIX socket to bind and listen there; -1: none */
	/* The bytes that PLACE_RESULT may come to, or files that the target makes beside a FIFO. */
	uint64_t room;
};

/* The name that its file gets, without the directory; the caller frees it. */
char *place_file_name(const struct place_request *req) _must_check_;

/*
 * Place it.  NULL with err set; when no directory serves, the error names each that was tried
 * and why not.
 */
struct place *place_new(const struct jvm *jvm, const struct place_request *req,
			const struct steps *steps, struct err *err) _must_check_;

/* Both as the target sees them; the place's. */
const char *place_file(const struct place *p);
const char *place_socket(const struct place *p);

/*
 * Read what the target writes: a descriptor that becomes the caller's, once.  Of a FIFO, at any
 * time: it was opened before anybody could know the name, so that the target never waits for a
 * reader; O_NONBLOCK is set.  A keeper has it open, too, until the FIFO has no name any more: who
 * stops reading before the end must free the place at once, which breaks the pipe, or the target
 * waits.  Of PLACE_RESULT, when the target is done: a regular file of its user's, else -1 with
 * err set (EXIT_PARTIAL).
 */
int place_open(struct place *p, struct err *err) _must_check_;

/* The file is not to be kept after all: its agent was not loaded. */
void place_discard(struct place *p);

/* Take everything away that is not to be kept, and wait until it is done.  NULL is allowed. */
void place_free(struct place *p);

#endif
