/*
 * The sleeping agent in a fake JVM: which requests wake it, and that it does nothing without one.
 * The requests are in the working directory of the test.
 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/fake/heap_world.h"
#include "agent/fake/peer.h"
#include "wake.h"
#include "wire/wake.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define OTHER_USER 65534

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static char root[64], directory[64];

static uintptr_t own_address(void)
{
	return (uintptr_t)__ehdr_start;
}

/* Returns the name of a request in the private directory; `address` is that of the library. */
static const char *request(uintptr_t address, const char *token)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/" WIRE_WAKE_PREFIX "%016lx-%s", directory,
		 (unsigned long)address, token);
	return path;
}

static const char *own_request(void)
{
	return request(own_address(), TOKEN);
}

static void setup(void)
{
	snprintf(root, sizeof(root), "/tmp/jtool-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chdir(root), 0);
	snprintf(directory, sizeof(directory), ".jtool-%u-%d", (unsigned)geteuid(), (int)getpid());
	ck_assert_int_eq(mkdir(directory, 0700), 0);
	heap_world_init(21, FAKE_NARROW);
	heap_world_start();
}

static void teardown(void)
{
	char command[100];

	heap_world_stop();
	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* The sleeping agent's environment is the first one. */
static const struct fake_environment *sleeper(void)
{
	return fake_environment_at(0);
}

/* Sends the event, as the JVM does when a client runs JVMTI.data_dump. */
static void dump_data(void)
{
	fake.in_agent = true;
	sleeper()->callbacks.DataDumpRequest(fake_ti());
	fake.in_agent = false;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	mode_t mask = umask(077);

	ck_assert_int_ge(fd, 0);
	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	(void)umask(mask);
	return fd;
}

static bool is_connected(int listener)
{
	return poll(&(struct pollfd){ .fd = listener, .events = POLLIN }, 1, 0) == 1;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void assert_asleep(int listener)
{
	ck_assert(!is_connected(listener));
	ck_assert_ptr_null(fake.thread);
	ck_assert_int_eq(fake.counts.environments, 1);
}

/* Runs the thread of a session whose client sends BYE. */
static void end_session(int listener)
{
	uint8_t raw[WIRE_HEADER_LEN];
	struct wire_header header;
	uint16_t last = 0;
	int fd = accept(listener, NULL, NULL);

	ck_assert_int_ge(fd, 0);
	peer_send(fd, WIRE_BYE, NULL);
	fake.in_agent = true;
	fake_run_thread();
	fake.in_agent = false;
	while (recv(fd, raw, sizeof(raw), MSG_WAITALL) == sizeof(raw)) {
		char payload[512];

		ck_assert(wire_header_read(raw, &header));
		ck_assert_uint_le(header.len, sizeof(payload));
		ck_assert_int_eq(recv(fd, payload, header.len, MSG_WAITALL), header.len);
		if (header.type == WIRE_HELLO)
			ck_assert_ptr_nonnull(memmem(payload, header.len, TOKEN, strlen(TOKEN)));
		last = header.type;
	}
	/* A session whose JVM fails may end without a frame. */
	ck_assert(fake.fail_at > 0 || last == WIRE_GONE);
	(void)close(fd);
}

START_TEST(sleeping_agent_has_one_event_and_nothing_else)
{
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	ck_assert(fake_enabled(sleeper(), JVMTI_EVENT_DATA_DUMP_REQUEST));
	ck_assert_uint_eq(sleeper()->events & (sleeper()->events - 1), 0);
	ck_assert(!fake_has_capabilities(sleeper()));
	ck_assert_ptr_null(fake.thread);
	ck_assert_ptr_null(ag_wake_enable(fake_vm())); /* -agentpath twice */
	ck_assert_int_eq(fake.counts.environments, 1);
	fake.counts.environments = 0;
	fake_nothing_left();
	fake.counts.environments = 1;
}
END_TEST

START_TEST(each_request_starts_one_session)
{
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	for (int i = 0; i < 5; i++) {
		int listener = listen_at(own_request());

		dump_data();
		ck_assert(is_connected(listener));
		ck_assert_ptr_nonnull(fake.thread);
		ck_assert(!exists(own_request()));
		end_session(listener);
		dump_data(); /* requested by another client, or by SIGQUIT */
		assert_asleep(listener);
		(void)close(listener);
	}
}
END_TEST

START_TEST(event_without_a_request_does_nothing)
{
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	dump_data();
	ck_assert_int_eq(rmdir(directory), 0);
	dump_data();
	ck_assert_int_eq(fake.counts.environments, 1);
	ck_assert_int_eq(mkdir(directory, 0700), 0);
}
END_TEST

START_TEST(request_without_a_client_is_removed)
{
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	for (int i = 0; i < 100; i++) {
		char token[WIRE_TOKEN_LEN + 1];

		snprintf(token, sizeof(token), "%032d", i);
		(void)close(listen_at(request(own_address(), token)));
	}
	for (int i = 0; i < 10; i++)
		dump_data();
	ck_assert_ptr_null(fake.thread);
	ck_assert_int_eq(fake.counts.environments, 1);
	ck_assert_int_eq(rmdir(directory), 0);
	ck_assert_int_eq(mkdir(directory, 0700), 0);
}
END_TEST

/* Requests for other libraries, and names that are not requests. */
START_TEST(other_names_do_not_wake)
{
	const uintptr_t own = own_address();
	static const char *const tokens[] = { TOKEN, TOKEN, TOKEN, "", TOKEN "0", "short" };
	const uintptr_t addresses[] = { own + 4096, own ^ 1ul << 60, 0, own, own, own };

	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	for (int i = 0; i < 6; i++) {
		int listener = listen_at(request(addresses[i], tokens[i]));

		dump_data();
		assert_asleep(listener);
		(void)close(listener);
	}
}
END_TEST

START_TEST(names_are_compared_completely)
{
	static const char name[] = WIRE_WAKE_PREFIX "00007f0123456789-" TOKEN;
	const uintptr_t address = 0x7f0123456789;
	char changed[sizeof(name)];

	ck_assert_uint_eq(strlen(name), WIRE_WAKE_LEN);
	ck_assert_str_eq(ag_wake_token(name, address), TOKEN);
	ck_assert_ptr_null(ag_wake_token(name, address + 1));
	ck_assert_ptr_null(ag_wake_token(name, 0));
	for (size_t i = 0; i < sizeof(name); i++) {
		memcpy(changed, name, sizeof(name));
		changed[i] = '\0';
		if (i < WIRE_WAKE_LEN)
			ck_assert_ptr_null(ag_wake_token(changed, address));
		changed[i] = name[i] == 'X' ? 'Y' : 'X';
		if (i < WIRE_WAKE_LEN - WIRE_TOKEN_LEN)
			ck_assert_ptr_null(ag_wake_token(changed, address));
	}
	ck_assert_ptr_null(ag_wake_token("", address));
	ck_assert_ptr_null(ag_wake_token(WIRE_WAKE_PREFIX "00007F0123456789-" TOKEN, address));
}
END_TEST

/* Reasons why a request or its directory is not trustworthy. */
enum {
	OPEN_DIRECTORY,
	OPEN_SOCKET,
	LINKED_DIRECTORY,
	LINKED_SOCKET,
	FIFO,
	FILE_,
	DIRECTORY,
	FOREIGN_DIRECTORY,
	FOREIGN_SOCKET,
	WAYS,
};

static void spoil(int way)
{
	const char *name = own_request();

	switch (way) {
	case OPEN_DIRECTORY:
		ck_assert_int_eq(chmod(directory, 0750), 0);
		break;
	case OPEN_SOCKET:
		ck_assert_int_eq(chmod(name, 0602), 0);
		break;
	case LINKED_DIRECTORY:
		ck_assert_int_eq(rename(directory, "elsewhere"), 0);
		ck_assert_int_eq(symlink("elsewhere", directory), 0);
		break;
	case LINKED_SOCKET:
		ck_assert_int_eq(rename(name, "socket"), 0);
		ck_assert_int_eq(symlink("../socket", name), 0);
		break;
	case FIFO:
		ck_assert_int_eq(unlink(name), 0);
		ck_assert_int_eq(mkfifo(name, 0600), 0);
		break;
	case FILE_:
		ck_assert_int_eq(unlink(name), 0);
		ck_assert_int_ge(creat(name, 0600), 0);
		break;
	case DIRECTORY:
		ck_assert_int_eq(unlink(name), 0);
		ck_assert_int_eq(mkdir(name, 0700), 0);
		break;
	case FOREIGN_DIRECTORY:
		ck_assert_int_eq(chown(directory, OTHER_USER, OTHER_USER), 0);
		break;
	default:
		ck_assert_int_eq(chown(name, OTHER_USER, OTHER_USER), 0);
	}
}

START_TEST(request_that_others_could_have_made_does_not_wake)
{
	int listener = listen_at(own_request());

	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	if (_i < FOREIGN_DIRECTORY || geteuid() == 0) {
		spoil(_i);
		dump_data();
		assert_asleep(listener);
		ck_assert(exists(own_request()));
	}
	(void)close(listener);
}
END_TEST

/* A FIFO or a device in the place of the directory must not block the JVM's thread. */
START_TEST(fifo_in_place_of_the_directory_does_not_block)
{
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
	ck_assert_int_eq(rmdir(directory), 0);
	ck_assert_int_eq(mkfifo(directory, 0700), 0);
	(void)alarm(10);
	dump_data();
	(void)alarm(0);
	ck_assert_int_eq(fake.counts.environments, 1);
}
END_TEST

/* The agent stays asleep, and sleeps again after each session, whichever call fails. */
START_TEST(each_call_may_fail)
{
	unsigned n = 0, n_sessions = 0;

	do {
		int listener = listen_at(own_request());
		long before = fake.counts.environments;

		fake.calls = 0;
		fake.fail_at = ++n;
		fake.in_agent = true;
		(void)ag_wake_enable(fake_vm()); /* fails for the first values of n */
		fake.in_agent = false;
		if (fake.counts.environments == 0) {
			ck_assert_int_eq(before, 0);
			(void)unlink(own_request());
			(void)close(listener);
			continue;
		}
		dump_data();
		if (fake.thread) {
			n_sessions++;
			end_session(listener);
		}
		ck_assert_int_eq(fake.counts.environments, 1);
		ck_assert(!exists(own_request()));
		(void)close(listener);
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_gt(n_sessions, 2);
	ck_assert_ptr_null(fake.thread);
	fake.counts.environments = 0;
	fake_nothing_left();
	fake.counts.environments = 1;
}
END_TEST

START_TEST(failure_to_sleep_is_reported_and_leaves_nothing)
{
	for (unsigned n = 1; n <= 3; n++) {
		fake.calls = 0;
		fake.fail_at = n;
		ck_assert_ptr_nonnull(ag_wake_enable(fake_vm()));
		fake_nothing_left();
	}
	fake.fail_at = 0;
	ck_assert_ptr_null(ag_wake_enable(fake_vm()));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/wake");
	TCase *c = tcase_create("wake");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, sleeping_agent_has_one_event_and_nothing_else);
	tcase_add_test(c, each_request_starts_one_session);
	tcase_add_test(c, event_without_a_request_does_nothing);
	tcase_add_test(c, request_without_a_client_is_removed);
	tcase_add_test(c, other_names_do_not_wake);
	tcase_add_test(c, names_are_compared_completely);
	tcase_add_loop_test(c, request_that_others_could_have_made_does_not_wake, 0, WAYS);
	tcase_add_test(c, fifo_in_place_of_the_directory_does_not_block);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, failure_to_sleep_is_reported_and_leaves_nothing);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
