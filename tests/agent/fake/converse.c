#include "agent/fake/converse.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/fake/peer.h"
#include "session.h"

static char directory[64], path[80];

static int listener(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(directory, sizeof(directory), "/tmp/jtool,check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	memcpy(address.sun_path, path, strlen(path) + 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

static void close_listener(int fd)
{
	(void)close(fd);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}

void copy_text(char *out, size_t size, struct wire_text text)
{
	ck_assert_uint_lt(text.len, size);
	memcpy(out, text.data, text.len);
	out[text.len] = '\0';
}

static bool is_text(struct wire_text text, const char *s)
{
	return text.len == strlen(s) && memcmp(text.data, s, text.len) == 0;
}

static void read_payload(struct talk *talk, uint16_t type, struct wire_reader *r)
{
	struct wire_text what;

	switch (type) {
	case WIRE_HELLO:
		talk->hello = true;
		ck_assert_mem_eq(wire_get_text(r).data, TOKEN, WIRE_TOKEN_LEN);
		ck_assert_uint_eq(wire_get_u32(r), (uint32_t)getpid());
		ck_assert_uint_ne(wire_get_u32(r), 0);
		(void)wire_get_text(r);
		ck_assert_uint_le(wire_get_u32(r), 1);
		break;
	case WIRE_ERROR:
		talk->errors++;
		what = wire_get_text(r);
		ck_assert(!is_text(what, "") && !is_text(what, "answer the request"));
		(void)wire_get_i32(r);
		ck_assert_uint_gt(wire_get_text(r).len, 0);
		break;
	case WIRE_GONE:
		talk->gone = true;
		for (int i = 0; i < 3; i++)
			talk->left[i] = wire_get_u64(r);
		break;
	default:
		talk->take(talk->seen, type, r);
	}
	ck_assert(wire_reader_ok(r));
	ck_assert_ptr_eq(r->at, r->end);
}

static void read_frames(struct talk *talk, int fd)
{
	uint8_t raw[WIRE_HEADER_LEN];

	while (recv(fd, raw, sizeof(raw), MSG_WAITALL) == sizeof(raw)) {
		struct wire_header header;
		struct wire_reader r;
		uint8_t *payload;

		ck_assert(!talk->gone);
		ck_assert(wire_header_read(raw, &header));
		payload = malloc(header.len + 1);
		ck_assert_int_eq(recv(fd, payload, header.len, MSG_WAITALL), header.len);
		r = wire_reader_init(payload, header.len);
		read_payload(talk, header.type, &r);
		free(payload);
	}
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

jint converse_attach(const char *options)
{
	jint refused;

	fake.in_agent = true;
	refused = ag_session_start(fake_vm(), options);
	fake.in_agent = false;
	return refused;
}

/* Runs one session.  Sends the requests, unless the client hangs up before them. */
static void serve(struct talk *talk, int server)
{
	int fd = accept(server, NULL, NULL);

	ck_assert_int_ge(fd, 0);
	if (talk->end != HANG_UP_EARLY)
		talk->ask(fd, talk->arg);
	if (talk->end == BYE)
		peer_send(fd, WIRE_BYE, NULL);
	else if (talk->end == HALF_CLOSE)
		ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	else
		(void)close(fd);
	fake.in_agent = true;
	fake_run_thread();
	fake.in_agent = false;
	if (talk->end == BYE)
		read_frames(talk, fd);
	if (talk->end <= HALF_CLOSE)
		(void)close(fd);
}

void converse(struct talk *talk)
{
	size_t files = open_files();
	char options[200];
	int server = listener();

	heap_world_start();
	snprintf(options, sizeof(options), "%s,%s", path, TOKEN);
	talk->refused = converse_attach(options);
	if (talk->refused == 0)
		serve(talk, server);
	close_listener(server);
	ck_assert_uint_eq(open_files(), files);
	ck_assert_uint_eq(fake.disposed_with_capabilities, 0);
	ck_assert_uint_eq(talk->left[0], 0);
	ck_assert_uint_eq(talk->left[1], 0);
	ck_assert_uint_eq(talk->left[2], talk->leaked);
	ck_assert_int_eq(fake.counts.weak, talk->leaked);
	ck_assert_ptr_null(fake.thread);
	fake.counts.weak = 0;
	fake_nothing_left();
}
