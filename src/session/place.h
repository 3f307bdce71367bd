/*
 * Putting a file where the target can map it, and taking it away again.
 *
 * The directory is private to the target's user: DIR/.jtool-UID-NSPID, mode 0700, made without
 * following links, in the first of /tmp, /var/tmp, /dev/shm, /run, the target's cwd and its
 * home that is writable for it and not mounted noexec, all as the target sees them.  The file's
 * name carries a hash of its content: the dynamic linker never re-reads a path it knows.
 *
 * A keeper process with the target's ids makes both and stays for as long as the place is open.
 * When jtool is gone, by whatever end, the keeper removes what it made.  Places of several
 * jtools in one target share the directory; a lock tells the last one.
 */
#ifndef JTOOL_SESSION_PLACE_H
#define JTOOL_SESSION_PLACE_H

#include "base/err.h"
#include "base/steps.h"
#include "target/jvm.h"

struct place;

struct place_request {
	const void *data;   /* the file's content */
	size_t len;
	/* The name is STEM-HASH SUFFIX: "jtool-agent", ".so".  No dot in front, no slash. */
	const char *stem, *suffix;
	bool keep;          /* leave file and directory there for good (an agent of the user's) */
	int listener;       /* an unbound AF_UNIX socket to bind and listen there; -1: none */
};

/*
 * Place it.  NULL with err set; when no directory serves, the error names each that was tried
 * and why not.
 */
struct place *place_new(const struct jvm *jvm, const struct place_request *req,
			const struct steps *steps, struct err *err) _must_check_;

/* Both as the target sees them; the place's. */
const char *place_file(const struct place *p);
const char *place_socket(const struct place *p);

/* The file is not to be kept after all: its agent was not loaded. */
void place_discard(struct place *p);

/* Take everything away that is not to be kept, and wait until it is done.  NULL is allowed. */
void place_free(struct place *p);

#endif
