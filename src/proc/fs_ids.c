#include "proc/fs_ids.h"

#include <errno.h>
#include <sys/fsuid.h>

/*
 * No user has this id.  If it is the argument, setfsuid(2) and setfsgid(2) change nothing and
 * return the current id.
 */
#define NO_ID ((uid_t)-1)

static struct fs_ids current(void)
{
	return (struct fs_ids){ (uid_t)setfsuid(NO_ID), (gid_t)setfsgid(NO_ID) };
}

static bool set(const struct fs_ids *ids)
{
	struct fs_ids now;

	/* setfsgid(2) and setfsuid(2) do not report errors, so the ids are compared. */
	(void)setfsgid(ids->gid);
	(void)setfsuid(ids->uid);
	now = current();
	return now.uid == ids->uid && now.gid == ids->gid;
}

bool fs_ids_take(uid_t uid, gid_t gid, struct fs_ids *saved)
{
	const struct fs_ids wanted = { uid, gid };
	struct fs_ids before = current();

	if (before.uid == uid && before.gid == gid)
		return false;
	if (set(&wanted)) {
		*saved = before;
		return true;
	}
	fs_ids_restore(&before);
	return false;
}

void fs_ids_restore(const struct fs_ids *saved)
{
	int error = errno;

	/* Without its own ids, the caller would create files that belong to the other user. */
	if (!set(saved))
		abort();
	errno = error;
}
