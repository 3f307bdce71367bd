/* The agent's memory accounting, hash maps and channel, without a JVM. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "util/chan.h"
#include "util/class_map.h"
#include "util/hash_map.h"
#include "util/mem.h"

static struct ag_mem mem;

static void setup(void)
{
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
}

static void assert_nothing_allocated(void)
{
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
}

START_TEST(memory_is_counted_and_zeroed)
{
	char *a = ag_alloc(&mem, 10, 10), *b = ag_alloc(&mem, 0, 8);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(mem.blocks, 2);
	ck_assert_uint_ge(mem.bytes, 100);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(a[i], 0);
	ag_free(&mem, a);
	ag_free(&mem, b);
	ag_free(&mem, NULL);
	assert_nothing_allocated();
	ck_assert_uint_ge(mem.peak, 100);
}
END_TEST

START_TEST(memory_is_limited_by_the_budget)
{
	void *a = ag_alloc(&mem, 1000, 1000);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_null(ag_alloc(&mem, 1000, 100));
	ck_assert_ptr_null(ag_alloc(&mem, SIZE_MAX, 1));
	ck_assert_ptr_null(ag_alloc(&mem, SIZE_MAX / 2, 3));
	ag_free(&mem, a);
	assert_nothing_allocated();
}
END_TEST

START_TEST(no_memory_is_left_above_the_budget)
{
	void *a = ag_alloc(&mem, 1000, 100);
	size_t budget = mem.budget;

	ck_assert_ptr_nonnull(a);
	mem.budget = mem.bytes - 1;
	ck_assert_ptr_null(ag_alloc(&mem, 1, 1));
	mem.budget = budget;
	ag_free(&mem, a);
	assert_nothing_allocated();
}
END_TEST

/* glibc's malloc() would retain large blocks after a few calls to free(). */
START_TEST(large_blocks_are_unmapped_when_freed)
{
	size_t len = 300000, page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < 3; i++) {
		uint8_t *block = ag_alloc(&mem, len, 1);
		uint8_t *last = (uint8_t *)((uintptr_t)(block + len - 1) & ~(page - 1));
		unsigned char resident;

		ck_assert_ptr_nonnull(block);
		ck_assert_uint_eq(block[0] | block[len / 2] | block[len - 1], 0);
		memset(block, 0xff, len);
		ck_assert_int_eq(mincore(last, 1, &resident), 0);
		ag_free(&mem, block);
		ck_assert_int_eq(mincore(last, 1, &resident), -1);
		ck_assert_int_eq(errno, ENOMEM);
	}
	ck_assert_uint_eq(mem.bytes + mem.blocks, 0);
}
END_TEST

START_TEST(class_map_finds_every_key)
{
	struct ag_class_map map;

	ck_assert_int_eq(ag_class_map_init(&map, &mem, 1000), 0);
	for (uint32_t i = 1; i <= 1000; i++)
		ck_assert(ag_class_map_add(&map, i << 16, i));
	ck_assert(!ag_class_map_add(&map, 77, 1001)); /* full */
	for (uint32_t i = 1; i <= 1000; i++) {
		ck_assert_uint_eq(ag_class_map_probe(&map, i << 16)->key, i << 16);
		ck_assert_uint_eq(ag_class_map_probe(&map, i << 16)->index, i);
		ck_assert_uint_eq(ag_class_map_probe(&map, i)->key, 0);
	}
	ag_class_map_release(&map, &mem);
	assert_nothing_allocated();
}
END_TEST

/* Klass addresses are often equidistant; a probe still visits only a few slots. */
START_TEST(class_map_spreads_equidistant_keys)
{
	enum { KEYS = 30000 };

	mem.budget = (size_t)8 << 20;
	for (uint32_t stride = 1; stride <= 1024; stride *= 2) {
		size_t run = 0, longest = 0;
		struct ag_class_map map;

		ck_assert_int_eq(ag_class_map_init(&map, &mem, KEYS), 0);
		for (uint32_t i = 1; i <= KEYS; i++)
			ck_assert(ag_class_map_add(&map, 0x08000000 + i * stride * 3, i));
		for (size_t i = 0; i < ag_class_map_slots(&map); i++) {
			run = map.slots[i].key ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		ck_assert_uint_lt(longest, 200);
		ag_class_map_release(&map, &mem);
	}
	assert_nothing_allocated();
}
END_TEST

START_TEST(class_map_refuses_duplicates_and_zero)
{
	struct ag_class_map map;

	ck_assert_int_eq(ag_class_map_init(&map, &mem, 4), 0);
	ck_assert(!ag_class_map_add(&map, 0, 1));
	ck_assert(ag_class_map_add(&map, UINT32_MAX, 1));
	ck_assert(!ag_class_map_add(&map, UINT32_MAX, 2));
	ck_assert_uint_eq(ag_class_map_probe(&map, UINT32_MAX)->index, 1);
	ag_class_map_release(&map, &mem);
	mem.budget = 100;
	ck_assert_int_ne(ag_class_map_init(&map, &mem, 4), 0);
	ag_class_map_release(&map, &mem);
	assert_nothing_allocated();
}
END_TEST

/* Opens a channel; sets *peer to the other end. */
static struct ag_chan open_channel(int *peer)
{
	struct ag_chan ch;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	*peer = fds[1];
	ck_assert_int_eq(ag_chan_init(&ch, &mem, fds[0]), 0);
	return ch;
}

static void shut_channel(struct ag_chan *ch)
{
	ag_chan_release(ch);
	ag_chan_close(ch);
	assert_nothing_allocated();
}

START_TEST(hash_map_grows_and_keeps_its_entries)
{
	struct ag_hash_map map;

	ck_assert_int_eq(ag_hash_map_init(&map, &mem, 4), 0);
	for (uint64_t i = 1; i <= 10; i++) {
		if (map.n == map.max)
			ck_assert_int_eq(ag_hash_map_grow(&map, &mem, 10), 0);
		ag_hash_map_add(&map, i << 40, (uint32_t)i)->note = 7;
	}
	ck_assert_uint_eq(map.max, 10);
	ck_assert_int_eq(ag_hash_map_grow(&map, &mem, 10), -1);
	for (uint64_t i = 1; i <= 10; i++) {
		ck_assert_uint_eq(ag_hash_map_probe(&map, i << 40)->number, i);
		ck_assert_uint_eq(ag_hash_map_probe(&map, i << 40)->note, 7);
	}
	/* Without memory, the map stays unchanged. */
	mem.budget = mem.bytes;
	ck_assert_int_eq(ag_hash_map_grow(&map, &mem, 100), -1);
	ck_assert_uint_eq(ag_hash_map_probe(&map, UINT64_C(3) << 40)->number, 3);
	ag_hash_map_release(&map, &mem);
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

/* Not more than necessary: a slot has 16 bytes, and the memory is that of the application. */
START_TEST(slots_of_a_hash_map_are_the_smallest_power_of_two)
{
	static const uint32_t sizes[][2] = {
		{ 1, 16 }, { 8, 16 }, { 9, 32 }, { 16, 32 }, { 1024, 2048 }, { 1025, 4096 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ag_hash_map map;

		ck_assert_int_eq(ag_hash_map_init(&map, &mem, sizes[i][0]), 0);
		ck_assert_uint_eq(ag_hash_map_slots(&map), sizes[i][1]);
		ck_assert_uint_ge(mem.bytes, sizes[i][1] * sizeof(*map.slots));
		ag_hash_map_release(&map, &mem);
	}
	ck_assert_uint_eq(mem.blocks, 0);
}
END_TEST

START_TEST(frame_is_sent_when_flushed)
{
	static const uint8_t expected[] = {
		0, 0, 0, 4, WIRE_VERSION, 0, 0, WIRE_HISTO_END, 0, 0, 1, 2
	};
	uint8_t got[sizeof(expected)];
	int peer;
	struct ag_chan ch = open_channel(&peer);

	wire_put_u32(ag_chan_begin(&ch), 0x102);
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_HISTO_END), 0);
	ck_assert_int_eq(recv(peer, got, sizeof(got), MSG_DONTWAIT), -1); /* not flushed */
	ck_assert_int_eq(ag_chan_flush(&ch), 0);
	ck_assert_int_eq(recv(peer, got, sizeof(got), 0), sizeof(got));
	ck_assert_mem_eq(got, expected, sizeof(expected));
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

/* A frame has room for the name, descriptor and generic signature of a method. */
START_TEST(longest_texts_of_a_class_file_fit)
{
	static const char text[UINT16_MAX];
	static uint8_t got[WIRE_HEADER_LEN + 3 * (4 + UINT16_MAX)];
	int peer;
	struct ag_chan ch = open_channel(&peer);

	ck_assert_int_eq(setsockopt(ch.fd, SOL_SOCKET, SO_SNDBUF, &(int){ 1 << 20 },
				    sizeof(int)), 0);
	wire_put_u32(ag_chan_begin(&ch), 1);
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_CLASS_END), 0);
	(void)ag_chan_begin(&ch);
	for (int i = 0; i < 3; i++)
		wire_put_text(&ch.payload, text, sizeof(text));
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_CLASS_METHOD), 0);
	ck_assert_int_eq(ag_chan_flush(&ch), 0);
	ck_assert_int_eq(recv(peer, got, WIRE_HEADER_LEN + 4, MSG_WAITALL), WIRE_HEADER_LEN + 4);
	ck_assert_int_eq(recv(peer, got, sizeof(got), MSG_WAITALL), sizeof(got));
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

START_TEST(payload_that_does_not_fit_breaks_the_channel)
{
	static const char text[AG_CHAN_PAYLOAD];
	int peer;
	struct ag_chan ch = open_channel(&peer);

	wire_put_text(ag_chan_begin(&ch), text, sizeof(text));
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_ERROR), -1);
	ck_assert(ch.broken);
	ck_assert_int_eq(ag_chan_flush(&ch), -1);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

START_TEST(closed_connection_raises_no_signal)
{
	int peer;
	struct ag_chan ch = open_channel(&peer);
	struct ag_frame frame;

	(void)close(peer);
	wire_put_u32(ag_chan_begin(&ch), 1);
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_GONE), 0);
	ck_assert_int_eq(ag_chan_flush(&ch), -1);
	ck_assert_int_eq(ag_chan_receive(&ch, &frame), -1);
	shut_channel(&ch);
}
END_TEST

START_TEST(client_that_half_closes_and_never_reads_breaks_the_channel)
{
	static const char text[60000];
	int peer;
	struct ag_chan ch = open_channel(&peer);

	ck_assert_int_eq(shutdown(peer, SHUT_WR), 0);
	while (!ch.broken) {
		wire_put_text(ag_chan_begin(&ch), text, sizeof(text));
		(void)ag_chan_end(&ch, WIRE_ERROR);
	}
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

START_TEST(client_that_sends_half_a_frame_breaks_the_channel)
{
	int peer;
	struct ag_chan ch = open_channel(&peer);
	struct ag_frame frame;

	ck_assert_int_eq(write(peer, "abc", 3), 3);
	ck_assert_int_eq(ag_chan_receive(&ch, &frame), -1);
	ck_assert(ch.broken);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

static void on_alarm(int signal)
{
	(void)signal;
}

/* The client is stopped while the signals of a profiler interrupt the agent. */
START_TEST(client_that_never_reads_breaks_the_channel)
{
	static const char text[60000];
	const struct itimerval often = { { 0, 50000 }, { 0, 50000 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	int peer;
	struct ag_chan ch = open_channel(&peer);

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (!ch.broken) {
		wire_put_text(ag_chan_begin(&ch), text, sizeof(text));
		(void)ag_chan_end(&ch, WIRE_ERROR);
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sends frames with ag_chan_flush_within() until the client is too slow; returns their number. */
static uint32_t hurry_frames(struct ag_chan *ch, struct ag_wait_limit *limit)
{
	static const char text[60000];
	uint32_t n = 0;
	int rc;

	do {
		struct wire_writer *w = ag_chan_begin(ch);

		wire_put_u32(w, n++);
		wire_put_text(w, text, sizeof(text));
		ck_assert_int_eq(ag_chan_end(ch, WIRE_HEAP_STREAM), 0);
		rc = ag_chan_flush_within(ch, limit);
		ck_assert_int_ge(rc, 0);
	} while (rc == 1);
	return n;
}

static uint32_t read_u32(int fd, size_t skip)
{
	uint8_t raw[4];
	char rest[60000];

	ck_assert_int_eq(recv(fd, raw, sizeof(raw), MSG_WAITALL), sizeof(raw));
	ck_assert_int_eq(recv(fd, rest, skip, MSG_WAITALL), skip);
	return (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
}

static void *flush(void *ch)
{
	ck_assert_int_eq(ag_chan_flush(ch), 0);
	return NULL;
}

START_TEST(hurry_waits_a_limited_time_for_a_slow_client)
{
	struct ag_wait_limit limit = { .until_ns = INT64_MAX };
	int64_t begin = now_ms();
	int peer;
	struct ag_chan ch = open_channel(&peer);
	uint32_t n = hurry_frames(&ch, &limit);
	pthread_t thread;

	ck_assert_int_ge(now_ms() - begin, AG_CHAN_PAUSED_MS);
	ck_assert_int_lt(now_ms() - begin, 2 * AG_CHAN_PAUSED_MS);
	ck_assert_int_ge(limit.waited_ns, AG_CHAN_PAUSED_MS * INT64_C(1000000));
	/* When the client reads again, while flush() waits, no byte is missing. */
	ck_assert_int_eq(pthread_create(&thread, NULL, flush, &ch), 0);
	ck_assert_int_eq(poll(NULL, 0, AG_CHAN_STALL_MS / 10), 0);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(read_u32(peer, 4), 4 + 4 + 60000);
		ck_assert_uint_eq(read_u32(peer, 4), i);
		(void)read_u32(peer, 60000 - 4);
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(ag_chan_flush_within(&ch, &limit), 1);
	shut_channel(&ch);
	ck_assert_int_eq(recv(peer, &n, 1, 0), 0);
	(void)close(peer);
}
END_TEST

START_TEST(hurry_ends_at_its_deadline_or_with_the_connection)
{
	struct ag_wait_limit limit = { 0 }; /* the deadline has passed */
	int64_t begin = now_ms();
	int peer;
	struct ag_chan ch = open_channel(&peer);

	(void)hurry_frames(&ch, &limit);
	ck_assert_int_lt(now_ms() - begin, AG_CHAN_PAUSED_MS);
	ck_assert_int_eq(limit.waited_ns, 0);
	(void)close(peer);
	limit.until_ns = INT64_MAX;
	ck_assert_int_eq(ag_chan_flush_within(&ch, &limit), -1);
	ck_assert(ch.broken);
	shut_channel(&ch);
}
END_TEST

/* Adds a frame with the u32 n and `fill` more bytes. */
static void add_frame(struct ag_chan *ch, uint32_t n, size_t fill)
{
	static const char text[60000];
	struct wire_writer *w = ag_chan_begin(ch);

	wire_put_u32(w, n);
	wire_put_text(w, text, fill);
	ck_assert_int_eq(ag_chan_end(ch, WIRE_TRACE_CALLS), 0);
}

/* Adds frames while there is room for them; returns the next number. */
static uint32_t fill_up(struct ag_chan *ch, uint32_t n, size_t fill)
{
	while (ag_chan_has_room(ch, WIRE_HEADER_LEN + 8 + fill)) {
		add_frame(ch, n++, fill);
		ck_assert_int_eq(ag_chan_try_flush(ch), 0);
	}
	return n;
}

START_TEST(buffer_has_room_for_64_kib_and_one_frame)
{
	const size_t gathered = 64 * 1024;
	static const char text[AG_CHAN_PAYLOAD];
	int peer;
	struct ag_chan ch = open_channel(&peer);

	ck_assert(ag_chan_has_room(&ch, gathered));
	ck_assert(!ag_chan_has_room(&ch, gathered + 1));
	add_frame(&ch, 1, 20000);
	ck_assert(ag_chan_has_room(&ch, gathered - ch.out_len));
	ck_assert(!ag_chan_has_room(&ch, gathered - ch.out_len + 1));
	add_frame(&ch, 2, gathered - 2 * ch.out_len + 20000);
	ck_assert_uint_eq(ch.out_len, gathered);
	ck_assert(ag_chan_has_room(&ch, 0));
	wire_put_text(ag_chan_begin(&ch), text, sizeof(text) - 4);
	ck_assert_int_eq(ag_chan_end(&ch, WIRE_ERROR), 0);
	ck_assert_uint_eq(ch.out_len, gathered + WIRE_HEADER_LEN + AG_CHAN_PAYLOAD);
	ck_assert(!ag_chan_has_room(&ch, 0));
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

START_TEST(trickle_never_waits_for_a_slow_client)
{
	const size_t fill = 1000;
	int64_t begin = now_ms();
	int peer;
	struct ag_chan ch = open_channel(&peer);
	uint32_t n = fill_up(&ch, 0, fill), n_read = 0, big = n;

	ck_assert(!ag_chan_has_room(&ch, 64 * 1024));
	ck_assert_int_eq(ag_chan_try_flush(&ch), 0);
	ck_assert_int_lt(now_ms() - begin, AG_CHAN_STALL_MS);
	add_frame(&ch, n++, 60000); /* there is always room for one more frame */
	ck_assert_int_lt(now_ms() - begin, AG_CHAN_STALL_MS);
	ck_assert(!ch.broken);
	/* The client reads while frames are added: no byte is missing or duplicated. */
	while (n_read < n) {
		uint32_t len = read_u32(peer, 4) - 8;

		ck_assert_uint_eq(len, n_read == big ? 60000 : fill);
		ck_assert_uint_eq(read_u32(peer, 4), n_read++);
		ck_assert_int_eq(recv(peer, (char[60000]){ 0 }, len, MSG_WAITALL), len);
		ck_assert_int_eq(ag_chan_try_flush(&ch), 0);
		if (n_read < 1000)
			n = fill_up(&ch, n, fill);
	}
	ck_assert_uint_eq(ch.out_len, 0);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

START_TEST(watch_reports_requests_and_disconnection)
{
	int64_t begin;
	int peer;
	struct ag_chan ch = open_channel(&peer);
	struct ag_frame frame;
	uint8_t request[WIRE_HEADER_LEN];

	begin = now_ms();
	ck_assert_int_eq(ag_chan_watch(&ch, 50), 0);
	ck_assert_int_ge(now_ms() - begin, 49);
	/* Returns at once if more can be sent, and waits if the socket is full. */
	add_frame(&ch, 1, 10);
	begin = now_ms();
	ck_assert_int_eq(ag_chan_watch(&ch, 10000), 0);
	(void)fill_up(&ch, 0, 1000);
	ck_assert_int_lt(now_ms() - begin, 5000);
	begin = now_ms();
	ck_assert_int_eq(ag_chan_watch(&ch, 50), 0);
	ck_assert_int_ge(now_ms() - begin, 49);
	/* A request is reported even if the client does not read. */
	wire_header_write(request, WIRE_TRACE_STOP, 0);
	ck_assert_int_eq(send(peer, request, sizeof(request), 0), sizeof(request));
	ck_assert_int_eq(ag_chan_watch(&ch, 10000), 1);
	ck_assert_int_eq(ag_chan_receive(&ch, &frame), 1);
	ck_assert_uint_eq(frame.type, WIRE_TRACE_STOP);
	ck_assert_int_eq(ag_chan_watch(&ch, 0), 0);
	/* The client disconnects: requests that it sent before are dropped. */
	ck_assert_int_eq(send(peer, request, sizeof(request), 0), sizeof(request));
	if (_i)
		ck_assert_int_eq(shutdown(peer, SHUT_WR), 0);
	else
		(void)close(peer);
	ck_assert_int_eq(ag_chan_watch(&ch, 10000), -1);
	ck_assert(ch.broken);
	ck_assert_int_eq(ag_chan_try_flush(&ch), -1);
	ck_assert_int_eq(ag_chan_watch(&ch, 10000), -1);
	shut_channel(&ch);
	if (_i)
		(void)close(peer);
}
END_TEST

START_TEST(signal_ends_the_watch_early)
{
	const struct itimerval often = { { 0, 50000 }, { 0, 50000 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	int64_t begin = now_ms();
	int peer;
	struct ag_chan ch = open_channel(&peer);

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	ck_assert_int_eq(ag_chan_watch(&ch, 10000), 0);
	ck_assert_int_lt(now_ms() - begin, 9000);
	ck_assert(!ch.broken);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

static size_t make_request(uint8_t *out)
{
	struct wire_writer w = wire_writer_init(out + WIRE_HEADER_LEN, 100);

	wire_put_u32(&w, WIRE_HISTO_LIVE);
	wire_put_text(&w, "LApp;", 5);
	wire_header_write(out, WIRE_HISTO, (uint32_t)w.len);
	return WIRE_HEADER_LEN + w.len;
}

/* Sends the first len bytes of a request, closes, and returns the result of the receive. */
static int receive_part(const uint8_t *request, size_t len)
{
	int peer;
	struct ag_chan ch = open_channel(&peer);
	struct ag_frame frame;
	int rc;

	ck_assert_int_eq(send(peer, request, len, 0), len);
	(void)close(peer);
	rc = ag_chan_receive(&ch, &frame);
	if (rc == 1) {
		ck_assert_uint_eq(frame.type, WIRE_HISTO);
		ck_assert_uint_eq(wire_get_u32(&frame.payload), WIRE_HISTO_LIVE);
		ck_assert_uint_eq(wire_get_text(&frame.payload).len, 5);
		ck_assert(wire_reader_ok(&frame.payload));
		ck_assert_int_eq(ag_chan_receive(&ch, &frame), 0);
	}
	shut_channel(&ch);
	return rc;
}

START_TEST(request_is_received_only_if_complete)
{
	uint8_t request[WIRE_HEADER_LEN + 100];
	size_t len = make_request(request);

	ck_assert_int_eq(receive_part(request, 0), 0);
	for (size_t n = 1; n < len; n++)
		ck_assert_int_eq(receive_part(request, n), -1);
	ck_assert_int_eq(receive_part(request, len), 1);
}
END_TEST

START_TEST(header_with_wrong_version_or_length_is_refused)
{
	uint8_t request[WIRE_HEADER_LEN + 100];
	size_t len = make_request(request);

	request[4]++;
	ck_assert_int_eq(receive_part(request, len), -1);
	(void)make_request(request);
	request[0] = 0x7f;
	ck_assert_int_eq(receive_part(request, len), -1);
}
END_TEST

START_TEST(request_over_the_budget_breaks_the_channel)
{
	uint8_t request[WIRE_HEADER_LEN];
	int peer;
	struct ag_chan ch = open_channel(&peer);
	struct ag_frame frame;

	mem.budget = mem.bytes + 1000;
	wire_header_write(request, WIRE_HISTO, 5000);
	ck_assert_int_eq(send(peer, request, sizeof(request), 0), sizeof(request));
	ck_assert_int_eq(ag_chan_receive(&ch, &frame), -1);
	shut_channel(&ch);
	(void)close(peer);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/util");
	TCase *c = tcase_create("agent/util");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, memory_is_counted_and_zeroed);
	tcase_add_test(c, memory_is_limited_by_the_budget);
	tcase_add_test(c, no_memory_is_left_above_the_budget);
	tcase_add_test(c, large_blocks_are_unmapped_when_freed);
	tcase_add_test(c, class_map_finds_every_key);
	tcase_add_test(c, class_map_spreads_equidistant_keys);
	tcase_add_test(c, class_map_refuses_duplicates_and_zero);
	tcase_add_test(c, hash_map_grows_and_keeps_its_entries);
	tcase_add_test(c, slots_of_a_hash_map_are_the_smallest_power_of_two);
	tcase_add_test(c, frame_is_sent_when_flushed);
	tcase_add_test(c, longest_texts_of_a_class_file_fit);
	tcase_add_test(c, payload_that_does_not_fit_breaks_the_channel);
	tcase_add_test(c, closed_connection_raises_no_signal);
	tcase_add_test(c, client_that_half_closes_and_never_reads_breaks_the_channel);
	tcase_add_test(c, client_that_sends_half_a_frame_breaks_the_channel);
	tcase_add_test(c, client_that_never_reads_breaks_the_channel);
	tcase_add_test(c, hurry_waits_a_limited_time_for_a_slow_client);
	tcase_add_test(c, hurry_ends_at_its_deadline_or_with_the_connection);
	tcase_add_test(c, buffer_has_room_for_64_kib_and_one_frame);
	tcase_add_test(c, trickle_never_waits_for_a_slow_client);
	tcase_add_loop_test(c, watch_reports_requests_and_disconnection, 0, 2);
	tcase_add_test(c, signal_ends_the_watch_early);
	tcase_add_test(c, request_is_received_only_if_complete);
	tcase_add_test(c, header_with_wrong_version_or_length_is_refused);
	tcase_add_test(c, request_over_the_budget_breaks_the_channel);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
