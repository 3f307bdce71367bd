#include "discover/jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/file_open.h"
#include "proc/capabilities.h"
#include "worker/worker.h"

char *jvm_user_name(uid_t uid)
{
	struct stat st;
	int fd = file_open_regular(AT_FDCWD, "/etc/passwd", 0, &st);
	FILE *passwd = fd < 0 ? NULL : fdopen(fd, "r");
	struct passwd *entry = NULL;
	char *name = NULL;

	while (passwd && !name && (entry = fgetpwent(passwd)) != NULL) {
		if (entry->pw_uid == uid)
			name = xstrdup(entry->pw_name);
	}
	if (passwd)
		(void)fclose(passwd); /* read-only: nothing to flush */
	else
		util_close_p(&fd);
	return name ? name : xasprintf("%u", (unsigned)uid);
}

/* Sets EXIT_PERMISSION for a caller who is root, and names the capability that is missing. */
static int root_denied(const char *what, uid_t uid, gid_t gid, const char *user, struct err *err)
{
	if (capabilities_has(CAP_SYS_PTRACE))
		return err_set(err, EXIT_PERMISSION,
			       "%s: the kernel denies access in spite of CAP_SYS_PTRACE: it is in "
			       "another user namespace, or a security module forbids it; run jtool "
			       "inside its container or on the host", what);
	if ((uid != geteuid() || gid != getegid()) &&
	    !(capabilities_has(CAP_SETUID) && capabilities_has(CAP_SETGID)))
		return err_set(err, EXIT_PERMISSION,
			       "%s belongs to user %s, and this root lacks CAP_SYS_PTRACE as well "
			       "as CAP_SETUID and CAP_SETGID: run jtool as %u:%u, add SYS_PTRACE, "
			       "or use kubectl debug --profile=general",
			       what, user, (unsigned)uid, (unsigned)gid);
	return err_set(err, EXIT_PERMISSION,
		       "%s has capabilities that jtool lacks, or is in another user namespace, "
		       "and jtool has no CAP_SYS_PTRACE: run jtool inside its container as its "
		       "user, add SYS_PTRACE, or use kubectl debug --profile=general", what);
}

int jvm_denied_process(const char *what, uid_t uid, gid_t gid, struct err *err)
{
	_cleanup_free_ char *user = jvm_user_name(uid);

	if (geteuid() == 0)
		return root_denied(what, uid, gid, user, err);
	if (uid != geteuid())
		return err_set(err, EXIT_PERMISSION,
			       "%s belongs to user %s: run jtool as that user or as root",
			       what, user);
	if (gid != getegid())
		return err_set(err, EXIT_PERMISSION,
			       "%s runs with group %u but jtool with group %u, so that the kernel "
			       "denies access: run jtool with group %u or as root",
			       what, (unsigned)gid, (unsigned)getegid(), (unsigned)gid);
	return err_set(err, EXIT_PERMISSION,
		       "%s belongs to the same user, but the kernel denies access: it has more "
		       "rights than jtool or another user namespace; run jtool as root", what);
}

int jvm_cannot_become(const struct jvm *jvm, const char *why, struct err *err)
{
	const char *advice = "run jtool as that user or as root";

	if (geteuid() == 0)
		advice = "CAP_SETUID and CAP_SETGID are missing, or that user is of another user "
			 "namespace; run jtool as that user, add SETUID and SETGID, or use "
			 "kubectl debug --profile=general";
	return err_set(err, EXIT_PERMISSION, "cannot become the user of JVM %d (%u:%u): %s; %s",
		       (int)jvm->pid, (unsigned)jvm->uid, (unsigned)jvm->gid, why, advice);
}

int jvm_denied(const struct jvm *jvm, struct err *err)
{
	_cleanup_free_ char *what = xasprintf("JVM %d", (int)jvm->pid);

	return jvm_denied_process(what, jvm->uid, jvm->gid, err);
}

int jvm_gone(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_PARTIAL, "JVM %d exited", (int)jvm->pid);
}

int jvm_no_proc(int error, struct err *err)
{
	if (error == -ENODEV || error == -ENOENT)
		return err_set(err, EXIT_PERMISSION,
			       "cannot read /proc: it is not mounted; run mount -t proc proc "
			       "/proc");
	return err_set(err, EXIT_PERMISSION,
		       "cannot open /proc: %s; run jtool as root, or let its security module "
		       "(AppArmor, SELinux) permit it", strerror(-error));
}

int jvm_unreachable(const struct jvm *jvm, const char *what, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "cannot reach JVM %d: %s does not answer; restart the server of that file "
		       "system, or unmount it, and try again", (int)jvm->pid,
		       what ? what : jvm->hung);
}

const char *attach_state_name(enum attach_state state)
{
	static const char *const names[] = {
		[ATTACH_LISTENING] = "listening",
		[ATTACH_READY] = "ready",
		[ATTACH_READ_ONLY] = "disabled",
		[ATTACH_STARTING] = "starting",
		[ATTACH_DISABLED] = "disabled",
		[ATTACH_DENIED] = "denied",
		[ATTACH_UNSUPPORTED] = "unsupported",
		[ATTACH_UNREACHABLE] = "unreachable",
	};

	return names[state];
}

/* Returns the number at the start of a text.  Reads at most 6 digits, so an int cannot overflow. */
static int leading_number(const char *text)
{
	int n = 0;

	for (; *text >= '0' && *text <= '9' && n < 100000; text++)
		n = n * 10 + (*text - '0');
	return n;
}

int jvm_feature(const struct jvm *jvm)
{
	const char *version = jvm->version;

	if (!version)
		return 0;
	/* Up to JDK 8, the feature release is the second number: "1.8.0". */
	if (strncmp(version, "1.", 2) == 0)
		version += 2;
	return leading_number(version);
}

const char *jvm_simple_main(const struct jvm *jvm)
{
	const char *name = jvm->main, *slash, *dot;

	if (!name)
		return NULL;
	slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	dot = strrchr(name, '.');
	/*
	 * main may be a path, or module/package.Class.  A name is not that of a class if it has a
	 * '-', or a digit after the last dot.
	 */
	if (!dot || *jvm->main == '/' || strcmp(dot, ".jar") == 0 || strcmp(dot, ".war") == 0 ||
	    strchr(name, '-') || (dot[1] >= '0' && dot[1] <= '9'))
		return name;
	return dot + 1;
}

const char *jvm_tmp(const struct jvm *jvm)
{
	return jvm->tmp ? jvm->tmp : "/tmp";
}

void jvm_free(struct jvm *jvm)
{
	if (!jvm)
		return;
	free(jvm->version);
	free(jvm->vm);
	free(jvm->gc);
	free(jvm->main);
	free(jvm->args);
	free(jvm->flags);
	free(jvm->container);
	free(jvm->perfdata);
	free(jvm->perfdata_link);
	free(jvm->tmp);
	free(jvm->hung);
	perfdata_release(&jvm->perf);
	if (jvm->worker)
		worker_end(jvm->worker);
	free(jvm->worker);
	free(jvm);
}
