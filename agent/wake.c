#include "wake.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm/jvmti.h"
#include "session.h"
#include "util/dirent.h"
#include "util/text.h"
#include "wire/wake.h"

#define READS_MAX 16 /* maximum calls of getdents64() for a directory, each for about 30 names */
#define SERVED_MAX 16 /* maximum number of sessions that one wake-up starts */

/* The JVM in which the agent sleeps; NULL if the agent is not asleep. */
static JavaVM *asleep_in;

/* The linker's symbol for the start of the mapped library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

const char *ag_wake_token(const char *name, uintptr_t address)
{
	char wanted[] = WIRE_WAKE_PREFIX "0123456789abcdef-";
	char *digit = wanted + sizeof(wanted) - 2;

	for (int i = 0; i < WIRE_WAKE_ADDRESS_LEN; i++, address >>= 4)
		*--digit = "0123456789abcdef"[address & 15];
	if (strnlen(name, WIRE_WAKE_LEN + 1) != WIRE_WAKE_LEN ||
	    memcmp(name, wanted, sizeof(wanted) - 1) != 0)
		return NULL;
	return name + sizeof(wanted) - 1;
}

/*
 * Returns true if the file `name` in the directory `fd`, or `fd` itself if `name` is "", has this
 * type, belongs to the JVM's user, and gives no rights to other users.  Uses syscall(2), because
 * glibc exports fstatat() only since 2.33.
 */
static bool is_private(int fd, const char *name, mode_t type)
{
	struct stat st;

	return syscall(SYS_newfstatat, fd, name, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_uid == geteuid() && (st.st_mode & (S_IFMT | 077)) == type;
}

/* Starts a session with the client that made the request, and removes the request. */
static void serve(const char *dir, const char *name, const char *token)
{
	char data[AG_OPTIONS_MAX + 1];
	struct ag_text options = ag_text_init(data, sizeof(data));
	size_t path_len;

	ag_text_put(&options, dir);
	ag_text_put(&options, "/");
	ag_text_put(&options, name);
	path_len = options.len;
	ag_text_put(&options, ",");
	ag_text_put(&options, token);
	/* Ignore an error, because a client that still runs notices that no session connects. */
	(void)ag_session_start(asleep_in, data);
	data[path_len] = '\0';
	(void)unlink(data); /* ignore a failure, because the client also removes the request */
}

/* Serves the requests in the directory `fd`, from which no entry has been read yet. */
static void serve_all(const char *dir, int fd)
{
	char data[2048] __attribute__((aligned(8)));
	const struct ag_dirent *entry;
	int served = 0;
	long n;

	for (int i = 0; i < READS_MAX; i++) {
		n = syscall(SYS_getdents64, fd, data, sizeof(data));
		for (long at = 0; at < n; at += entry->len) {
			const char *token;

			entry = (const struct ag_dirent *)(data + at);
			token = ag_wake_token(entry->name, (uintptr_t)__ehdr_start);
			if (!token || !is_private(fd, entry->name, S_IFSOCK))
				continue;
			serve(dir, entry->name, token);
			if (++served == SERVED_MAX)
				return;
		}
		if (n <= 0)
			return;
	}
}

static void look_into(const char *parent)
{
	char data[64];
	struct ag_text dir = ag_text_init(data, sizeof(data));
	int fd;

	ag_text_put(&dir, parent);
	ag_text_put(&dir, "/.jtool-");
	ag_text_number(&dir, geteuid());
	ag_text_put(&dir, "-");
	ag_text_number(&dir, (uint64_t)getpid());
	fd = open(data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_private(fd, "", S_IFDIR))
		serve_all(data, fd);
	(void)close(fd); /* read-only descriptor, nothing to flush */
}

static void JNICALL on_data_dump(jvmtiEnv *ti)
{
	(void)ti;
	look_into("/tmp");
	look_into(".");
}

const char *ag_wake_enable(JavaVM *vm)
{
	const jvmtiEventCallbacks callbacks = { .DataDumpRequest = on_data_dump };
	struct ag_jvm jvm = { .vm = vm };

	if (asleep_in)
		return NULL;
	if ((*vm)->GetEnv(vm, (void **)&jvm.ti, JVMTI_VERSION_1_1) != JNI_OK)
		return "no JVMTI environment";
	asleep_in = vm;
	if (ag_jvmti_listen(&jvm, jvm.ti, &callbacks, JVMTI_EVENT_DATA_DUMP_REQUEST) == 0)
		return NULL;
	asleep_in = NULL;
	(void)(*jvm.ti)->DisposeEnvironment(jvm.ti); /* a failure leaves an unused environment */
	return jvm.err.why;
}
