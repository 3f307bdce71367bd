/*
 * Heap dumps and counts: records have the format of HPROF, objects are dumped with their contents
 * in memory, and a session leaves nothing in the fake JVM when a call fails.  Real dumps are
 * compared with the JVM's own in tests/live/hprof/snapdump.sh, real counts in
 * tests/live/heap/snapshot.sh.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fake/converse.h"
#include "agent/fake/peer.h"
#include "jvm/dump/dump_internal.h"
#include "jvm/heap/self_objects.h"
#include "jvm/snapshot/snapshot.h"

#define PAUSE_MS 60000
#define LIFE_MS 50000
#define HEADER_LEN (19 + 4 + 8)

/* What was received as DUMP_DATA. */
static uint8_t dump[16u << 20];
static size_t dump_len;

static struct ag_mem mem = { .budget = 1 << 26 };
static struct ag_chan chan;
static int client;

static void connect_client(void)
{
	int ends[2], size = 1 << 24;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	(void)setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	ck_assert_int_eq(ag_chan_init(&chan, &mem, ends[0]), 0);
	client = ends[1];
	dump_len = 0;
}

static void read_all(uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = read(client, data, len);

		ck_assert_int_gt(n, 0);
		data += n;
		len -= (size_t)n;
	}
}

/* Forks a child that writes a dump with `run`, and receives the dump. */
static int receive(void (*run)(struct ag_hprof *h))
{
	struct ag_hprof h = { .chan = &chan };
	pid_t pid;
	int status;

	connect_client();
	pid = fork();
	if (pid == 0) {
		h.segment = calloc(1, AG_HPROF_SEGMENT_MAX);
		run(&h);
		ag_hprof_end_piece(&h);
		_exit(ag_chan_flush(&chan) == 0 ? 0 : 1);
	}
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	for (;;) {
		uint8_t raw[WIRE_HEADER_LEN];
		struct wire_header header;

		if (read(client, raw, 1) == 0)
			break;
		read_all(raw + 1, sizeof(raw) - 1);
		ck_assert(wire_header_read(raw, &header));
		ck_assert_uint_eq(header.type, WIRE_DUMP_DATA);
		ck_assert_uint_le(dump_len + header.len, sizeof(dump));
		read_all(dump + dump_len, header.len);
		dump_len += header.len;
	}
	(void)close(client);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static uint64_t number(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *at++;
	return value;
}

/* Returns the length of the segment at *at, and moves *at to its contents. */
static uint32_t segment(const uint8_t **at)
{
	uint32_t len = (uint32_t)number(*at + 5, 4);

	ck_assert_uint_eq(**at, AG_HPROF_SEGMENT);
	*at += 9;
	return len;
}

static void put_records(struct ag_hprof *h)
{
	struct ag_hash_map symbols = { 0 };

	if (ag_hash_map_init(&symbols, &mem, 4) != 0)
		_exit(1);
	ag_hprof_header(h, 0x123456789a);
	if (ag_hprof_symbol(h, &symbols, "one", 3) != 1 ||
	    ag_hprof_symbol(h, &symbols, "two", 3) != 2 ||
	    ag_hprof_symbol(h, &symbols, "one", 3) != 1)
		_exit(2);
	for (uint32_t i = 0; i < 1000; i++) {
		if (ag_hprof_symbol(h, &symbols, (const char *)&i, sizeof(i)) != i + 3)
			_exit(3);
	}
}

START_TEST(records_are_those_of_hprof)
{
	static const uint8_t expected[] =
		"JAVA PROFILE 1.0.2\0" "\0\0\0\x08" "\0\0\0\x12\x34\x56\x78\x9a"
		"\x01" "\0\0\0\0" "\0\0\0\x0b" "\0\0\0\0\0\0\0\x01" "one"
		"\x01" "\0\0\0\0" "\0\0\0\x0b" "\0\0\0\0\0\0\0\x02" "two";

	ck_assert_int_eq(receive(put_records), 0);
	ck_assert_mem_eq(dump, expected, sizeof(expected) - 1);
	ck_assert_uint_eq(dump_len, sizeof(expected) - 1 + 1000 * (9 + 8 + 4));
}
END_TEST

#define BODY 100000

static void put_sub_records(struct ag_hprof *h)
{
	static const uint8_t body[3 * AG_HPROF_SEGMENT_MAX];

	for (int i = 0; i < 25; i++) {
		ag_hprof_sub(h, AG_HPROF_ROOT_UNKNOWN, 1 + BODY);
		ag_hprof_put(h, body, BODY);
	}
	ag_hprof_sub(h, AG_HPROF_PRIMITIVES_DUMP, 1 + sizeof(body));
	ag_hprof_put(h, body, sizeof(body));
	ag_hprof_sub(h, AG_HPROF_ROOT_MONITOR_USED, 1 + 8);
	ag_hprof_u8(h, 0x123456789abcdef0);
	ag_hprof_end_segment(h);
	ag_hprof_end_segment(h);
}

START_TEST(segments_are_limited_and_a_larger_sub_record_is_one)
{
	const uint8_t *at = dump;

	ck_assert_int_eq(receive(put_sub_records), 0);
	for (int left = 25; left > 0;) {
		uint32_t len = segment(&at);

		ck_assert_uint_le(len, AG_HPROF_SEGMENT_MAX);
		ck_assert_uint_eq(len % (1 + BODY), 0);
		left -= (int)(len / (1 + BODY));
		at += len;
		ck_assert_int_ge(left, 0);
	}
	ck_assert_uint_eq(segment(&at), 1 + 3 * AG_HPROF_SEGMENT_MAX);
	ck_assert_uint_eq(*at, AG_HPROF_PRIMITIVES_DUMP);
	at += 1 + 3 * AG_HPROF_SEGMENT_MAX;
	ck_assert_uint_eq(segment(&at), 9);
	ck_assert_uint_eq(*at, AG_HPROF_ROOT_MONITOR_USED);
	ck_assert_uint_eq(number(at + 1, 8), 0x123456789abcdef0);
	ck_assert_ptr_eq(at + 9, dump + dump_len);
}
END_TEST

/*
 * A heap in memory, with narrow class words and references: n stands for base + 8 * n, where the
 * base is 8 bytes before the heap.  The classes' keys are 1, 2, ….
 */
enum { C_CLASS, C_NODE, C_SUB, C_OBJECTS, C_CHARS, C_BYTES, C_LONGS, C_STACK, C_UNLINKED, C_N };

static _Alignas(8) uint8_t memory[1u << 16];
static size_t used;
static struct ag_dump_class classes[C_N];
static struct ag_dump_field fields[6];
static struct ag_dump_layout layout = { .classes = classes, .n = C_N, .fields = fields };
static struct ag_dump_heap heap;
static volatile uint64_t progress;

static uint64_t new(uint32_t class, uint32_t size)
{
	uint8_t *at = memory + used;
	uint32_t key = class + 1;

	used += (size + 7) & ~7u;
	memset(at, 0, size);
	at[0] = 1; /* an unlocked mark word */
	memcpy(at + 8, &key, sizeof(key));
	return (uint64_t)(uintptr_t)at;
}

static void set32(uint64_t object, uint32_t at, uint32_t value)
{
	memcpy((char *)(uintptr_t)object + at, &value, sizeof(value));
}

static uint32_t narrow(uint64_t object)
{
	return (uint32_t)((object - (uint64_t)(uintptr_t)memory + 8) >> 3);
}

static uint64_t new_array(uint32_t class, uint32_t n, uint32_t size)
{
	uint64_t array = new(class, 16 + n * size);

	set32(array, 12, n);
	return array;
}

static void set_field(uint32_t i, uint32_t offset, enum ag_hprof_type type)
{
	fields[i] = (struct ag_dump_field){
		.id = (jfieldID)(uintptr_t)(offset << 2 | 2), .name = i + 1, .type = (uint8_t)type,
	};
}

static void make_classes(void)
{
	static const uint8_t kinds[] = {
		AG_DUMP_CLASS, AG_DUMP_INSTANCE, AG_DUMP_INSTANCE, AG_DUMP_OBJECTS,
		AG_DUMP_PRIMITIVES, AG_DUMP_PRIMITIVES, AG_DUMP_PRIMITIVES, AG_DUMP_STACK,
		AG_DUMP_UNKNOWN,
	};
	struct ag_klass_probe *probe = &heap.probe;

	used = 0;
	heap = (struct ag_dump_heap){ .layout = &layout, .progress = &progress };
	probe->header = (struct ag_header){ 8, 0, UINT32_MAX, false };
	probe->encoding.mirror_offset = 16;
	ck_assert_int_eq(ag_dump_heap_reserve(&heap), 0);
	ck_assert_int_eq(ag_class_map_init(&heap.by_key, &mem, C_N), 0);
	ck_assert_int_eq(ag_hash_map_init(&heap.by_address, &mem, C_N), 0);
	set_field(0, 12, AG_HPROF_OBJECT); /* of Node */
	set_field(1, 16, AG_HPROF_CHAR);
	set_field(2, 18, AG_HPROF_BYTE);
	set_field(3, 24, AG_HPROF_LONG); /* of Sub, which extends Node */
	set_field(4, 12, AG_HPROF_OBJECT); /* of Class: classLoader */
	layout.class_loader = 4;
	for (uint32_t i = 0; i < C_N; i++) {
		classes[i] = (struct ag_dump_class){ .kind = kinds[i], .super = AG_DUMP_NONE };
		ck_assert(ag_class_map_add(&heap.by_key, i + 1, i));
	}
	for (uint32_t i = 0; i < C_N; i++) {
		classes[i].address = new(C_CLASS, 32);
		set32(classes[i].address, 16, 1); /* it has a Klass */
		ck_assert_ptr_nonnull(
			ag_hash_map_add(&heap.by_address, classes[i].address, i));
	}
	classes[C_CLASS].first = 4;
	classes[C_CLASS].n = 1;
	classes[C_NODE].n = 3;
	classes[C_SUB].first = 3;
	classes[C_SUB].n = 1;
	classes[C_SUB].super = C_NODE;
	classes[C_CHARS].element = AG_HPROF_CHAR;
	classes[C_BYTES].element = AG_HPROF_BYTE;
	classes[C_LONGS].element = AG_HPROF_LONG;
}

static void free_classes(void)
{
	ag_dump_heap_release(&heap);
	ag_class_map_release(&heap.by_key, &mem);
	ag_hash_map_release(&heap.by_address, &mem);
	ck_assert_uint_eq(mem.bytes, 0);
}

/* The arrays from which the layout is found. */
static void calibrate(void)
{
	uint64_t holder = new_array(C_OBJECTS, 3, 4), bytes, longs, elements[3];

	bytes = new_array(C_BYTES, AG_DUMP_PATTERN, 1);
	longs = new_array(C_LONGS, AG_DUMP_PATTERN, 8);
	elements[0] = bytes;
	elements[1] = holder;
	elements[2] = longs;
	for (uint32_t i = 0; i < 3; i++)
		set32(holder, 16 + 4 * i, narrow(elements[i]));
	for (uint32_t i = 0; i < AG_DUMP_PATTERN; i++) {
		*((uint8_t *)(uintptr_t)bytes + 16 + i) = (uint8_t)(i + 1);
		set32(longs, 16 + 8 * i, i + 1);
	}
	ag_dump_heap_init(&heap, holder, elements, 3, bytes, longs);
}

static uint64_t node, sub, chars;

static void make_objects(void)
{
	uint64_t objects = new_array(C_OBJECTS, 5, 4);

	node = new(C_NODE, 24);
	sub = new(C_SUB, 32);
	chars = new_array(C_CHARS, 3, 2);
	set32(node, 12, narrow(sub));
	set32(node, 16, 'x' | 0x7f << 16);
	set32(sub, 12, narrow(objects));
	set32(sub, 24, 0x89abcdef);
	set32(sub, 28, 0x01234567);
	set32(objects, 16, narrow(node)); /* a circle */
	set32(objects, 24, narrow(chars));
	set32(objects, 28, narrow(classes[C_NODE].address));
	set32(chars, 16, 'a' | 'b' << 16);
	set32(chars, 20, 'c');
}

static void put_objects(struct ag_hprof *h)
{
	heap.out = h;
	calibrate();
	make_objects();
	ag_dump_reach(&heap, 0);
	ag_dump_reach(&heap, node);
	ag_dump_reach(&heap, node);
	ag_dump_objects(&heap);
	ag_hprof_end_segment(h);
}

START_TEST(each_reachable_object_is_written_once)
{
	static const uint8_t sub_values[] = "\x01\x23\x45\x67\x89\xab\xcd\xef";
	const uint8_t *at = dump;
	uint32_t len;

	make_classes();
	ck_assert_int_eq(receive(put_objects), 0);
	calibrate(); /* the same addresses as in the child */
	make_objects();
	len = segment(&at);
	ck_assert_uint_eq(len, dump_len - 9);
	ck_assert_uint_eq(at[0], AG_HPROF_INSTANCE_DUMP);
	ck_assert_uint_eq(number(at + 1, 8), node);
	ck_assert_uint_eq(number(at + 13, 8), classes[C_NODE].address);
	ck_assert_uint_eq(number(at + 21, 4), 8 + 2 + 1);
	ck_assert_uint_eq(number(at + 25, 8), sub);
	ck_assert_mem_eq(at + 33, "\0x\x7f", 3);
	at += 36;
	ck_assert_uint_eq(number(at + 1, 8), sub);
	ck_assert_uint_eq(number(at + 21, 4), 8 + 8 + 2 + 1);
	ck_assert_mem_eq(at + 25, sub_values, 8); /* its own fields first */
	at += 25 + 19;
	ck_assert_uint_eq(at[0], AG_HPROF_OBJECTS_DUMP);
	ck_assert_uint_eq(number(at + 13, 4), 5);
	ck_assert_uint_eq(number(at + 25, 8), node);
	ck_assert_uint_eq(number(at + 33, 8), 0);
	ck_assert_uint_eq(number(at + 41, 8), chars);
	ck_assert_uint_eq(number(at + 49, 8), classes[C_NODE].address);
	at += 25 + 5 * 8;
	ck_assert_uint_eq(at[0], AG_HPROF_PRIMITIVES_DUMP);
	ck_assert_uint_eq(number(at + 13, 4), 3);
	ck_assert_mem_eq(at + 17, "\x05\0a\0b\0c", 7);
	ck_assert_ptr_eq(at + 24, dump + dump_len); /* the java.lang.Class was not dumped */
	free_classes();
}
END_TEST

static int doubt;

static void put_doubtful(struct ag_hprof *h)
{
	uint64_t object;

	heap.out = h;
	calibrate();
	object = new(doubt == 0 ? C_STACK : doubt == 1 ? C_UNLINKED : C_NODE, 24);
	if (doubt == 2)
		set32(object, 8, C_N + 7);
	if (doubt == 3)
		set32(object, 0, 0x7b); /* a forwarding pointer */
	if (doubt == 4) { /* a class that is not known, and has a loader */
		object = new(C_CLASS, 32);
		set32(object, 16, 1);
		set32(object, 12, narrow(object));
	}
	ag_dump_reach(&heap, object);
	ag_dump_objects(&heap);
}

START_TEST(any_doubt_ends_the_child)
{
	static const int codes[] = {
		AG_CHILD_STACKS, AG_CHILD_UNLINKED, AG_CHILD_CLASSES, AG_CHILD_MOVED,
		AG_CHILD_CLASSES,
	};

	for (doubt = 0; doubt < 5; doubt++) {
		make_classes();
		ck_assert_int_eq(receive(put_doubtful), codes[doubt]);
		free_classes();
	}
}
END_TEST

static void put_many(struct ag_hprof *h)
{
	uint64_t array;

	heap.out = h;
	calibrate();
	array = new_array(C_OBJECTS, 2000, 4);
	for (uint32_t i = 0; i < 2000; i++)
		set32(array, 16 + 4 * i, narrow(new_array(C_BYTES, 1, 1)));
	heap.cap = 512; /* one page, because mremap(2) moves complete pages */
	ag_dump_reach(&heap, array);
	ag_dump_objects(&heap);
	ag_hprof_end_segment(h);
}

static bool is_mapped(void *page)
{
	return msync(page, 1, MS_ASYNC) == 0 || errno != ENOMEM;
}

START_TEST(memory_of_a_heap_is_unmapped)
{
	struct ag_dump_heap h = { 0 };

	ck_assert_int_eq(ag_dump_heap_reserve(&h), 0);
	ck_assert(is_mapped(h.marks) && is_mapped(h.stack) && is_mapped(h.values));
	ag_dump_heap_release(&h);
	ck_assert(!is_mapped(h.marks) && !is_mapped(h.stack) && !is_mapped(h.values));
}
END_TEST

START_TEST(stack_grows)
{
	make_classes();
	ck_assert_int_eq(receive(put_many), 0);
	ck_assert_uint_eq(dump_len, 9 + 25 + 2000 * 8 + 2000 * (18 + 1));
	free_classes();
}
END_TEST

/* The layout helpers of HotSpot, see ag_dump_size(). */
static void set_layout_helpers(void)
{
	static const unsigned logs[] = { [C_OBJECTS] = 2, [C_CHARS] = 1, [C_LONGS] = 3 };

	for (uint32_t i = 0; i < C_N; i++) {
		classes[i].layout_helper = i == C_SUB ? 32 : 24 | 1;
		if (i >= C_OBJECTS && i <= C_LONGS)
			classes[i].layout_helper = INT32_MIN | 16 << 16 | (int32_t)logs[i];
		set32(classes[i].address, 20, 32 / AG_DUMP_WORD);
	}
}

static struct ag_tally tallies[C_N];
static enum { RIGHT, WRONG_SIZE, WRONG_ARRAY, WRONG_CLASS } reports;

/* Counts the objects, except an array that the agent has created. */
static void put_counts(struct ag_hprof *h)
{
	uint64_t own;

	heap.out = h;
	heap.tallies = tallies;
	heap.size_offsets = UINT64_MAX;
	calibrate();
	make_objects();
	set_layout_helpers();
	own = new_array(C_BYTES, 5, 1);
	set32(node, 12, narrow(own));
	ag_dump_skip(&heap, own);
	for (uint32_t i = 0; i < C_N; i++)
		ag_dump_count_verify(&heap, classes[i].address, reports == WRONG_CLASS ? 40 : 32);
	ag_dump_count_verify(&heap, node, reports == WRONG_SIZE ? 32 : 24);
	ag_dump_count_verify(&heap, sub, 32);
	ag_dump_count_verify(&heap, chars, reports == WRONG_ARRAY ? 16 : 24);
	ag_dump_count_begin(&heap);
	ag_dump_reach(&heap, node);
	ag_dump_reach(&heap, sub);
	ag_dump_objects(&heap);
	ag_hprof_bytes(h, tallies, sizeof(tallies));
}

START_TEST(reachable_objects_are_counted)
{
	static const struct ag_tally wanted[C_N] = {
		[C_CLASS] = { 1, 32 }, [C_NODE] = { 1, 24 }, [C_SUB] = { 1, 32 },
		[C_OBJECTS] = { 1, 40 }, [C_CHARS] = { 1, 24 },
	};

	make_classes();
	reports = RIGHT;
	ck_assert_int_eq(receive(put_counts), 0);
	ck_assert_uint_eq(dump_len, sizeof(wanted));
	for (uint32_t i = 0; i < C_N; i++) {
		const struct ag_tally *found = (const void *)(dump + i * sizeof(*found));

		ck_assert_msg(memcmp(found, &wanted[i], sizeof(*found)) == 0,
			      "class %u: %llu objects of %llu bytes", i,
			      (unsigned long long)found->instances,
			      (unsigned long long)found->bytes);
	}
	free_classes();
}
END_TEST

/* Reaches the java.lang.Class of a class that is not in the class list. */
static void count_new_class(struct ag_hprof *h)
{
	uint64_t mirror;

	heap.out = h;
	heap.tallies = tallies;
	calibrate();
	set_layout_helpers();
	mirror = new(C_CLASS, 32);
	set32(mirror, 12, narrow(mirror)); /* its loader */
	set32(mirror, 16, 1);
	set32(mirror, 20, 32 / AG_DUMP_WORD);
	ag_dump_reach(&heap, mirror);
	ag_dump_objects(&heap);
}

START_TEST(new_class_ends_a_count)
{
	make_classes();
	ck_assert_int_eq(receive(count_new_class), AG_CHILD_CLASSES);
	free_classes();
}
END_TEST

START_TEST(sizes_that_differ_from_those_of_hotspot_end_the_child)
{
	for (reports = WRONG_SIZE; reports <= WRONG_CLASS; reports++) {
		make_classes();
		ck_assert_int_eq(receive(put_counts), AG_CHILD_LAYOUT);
		free_classes();
	}
}
END_TEST

START_TEST(counts_of_all_classes_are_received_in_order)
{
	enum { N = 3000 };
	static struct ag_tally sent[N], received[N];
	struct ag_dump child = { .chan = &chan, .tallies = sent, .n_tallies = N };
	struct ag_dump jvm = { .tallies = received, .n_tallies = N };
	static uint8_t payload[1u << 16];

	for (uint32_t i = 0; i < N; i++)
		sent[i] = (struct ag_tally){ i, (uint64_t)i << 40 };
	connect_client();
	ag_dump_count_send(&child);
	ck_assert_int_eq(ag_chan_flush(&chan), 0);
	while (jvm.n_received < N) {
		uint8_t raw[WIRE_HEADER_LEN];
		struct wire_header header;

		read_all(raw, sizeof(raw));
		ck_assert(wire_header_read(raw, &header));
		ck_assert_uint_eq(header.type, AG_DUMP_COUNTS);
		read_all(payload, header.len);
		ag_dump_count_take(&jvm, &(struct wire_writer){ .data = payload,
								.len = header.len });
	}
	ck_assert_mem_eq(sent, received, sizeof(sent));
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	(void)close(client);
}
END_TEST

/* Sessions */

static uint32_t asked_flags; /* WIRE_DUMP_* */

struct seen {
	uint8_t data[1 << 16];
	size_t len;
	uint32_t n_ends, why;
};
static struct seen seen;

static void take(void *arg, uint16_t type, struct wire_reader *r)
{
	size_t len = (size_t)(r->end - r->at);

	(void)arg;
	if (type == WIRE_DUMP_DATA) {
		ck_assert_uint_le(seen.len + len, sizeof(seen.data));
		memcpy(seen.data + seen.len, r->at, len);
		seen.len += len;
		r->at = r->end;
		return;
	}
	ck_assert_uint_eq(type, WIRE_DUMP_END);
	seen.n_ends++;
	seen.why = wire_get_u32(r);
	(void)wire_get_i32(r);
	for (int i = 0; i < 3; i++)
		(void)wire_get_u64(r);
}

static void ask(int fd, const void *arg)
{
	uint8_t data[12];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	(void)arg;
	wire_put_u32(&w, PAUSE_MS);
	wire_put_u32(&w, LIFE_MS);
	wire_put_u32(&w, asked_flags);
	peer_send(fd, WIRE_DUMP, &w);
}

static struct talk say(enum end end)
{
	struct talk talk = { .ask = ask, .take = take, .end = end };

	memset(&seen, 0, sizeof(seen));
	converse(&talk);
	/* If a tag cannot be removed, it remains until the environment is disposed of. */
	if (fake.fail_at == 0)
		ck_assert_uint_eq(fake_tagged(), 0);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
	return talk;
}

static bool has(const char *text)
{
	return memmem(seen.data, seen.len, text, strlen(text)) != NULL;
}

/* The reason depends on the bytes in memory where the child expects an object's fields. */
static bool is_doubt(uint32_t why)
{
	return why == WIRE_SNAPSHOT_LAYOUT || why == WIRE_SNAPSHOT_SIGNAL ||
	       why == WIRE_SNAPSHOT_CLASSES || why == WIRE_SNAPSHOT_MOVED;
}

/* The fake JVM's objects have no fields in memory, which the child must notice. */
START_TEST(names_are_sent_and_wrong_layouts_are_noticed)
{
	static const int releases[] = { 1, 17, 21, 25 };

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct talk talk;

		heap_world_init(releases[i], FAKE_NARROW);
		talk = say(BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.n_ends, 1);
		ck_assert_msg(is_doubt(seen.why), "why %u", seen.why);
		ck_assert_uint_gt(seen.len, HEADER_LEN);
		ck_assert(has("JAVA PROFILE 1.0.2"));
		ck_assert(has("java/lang/String") && !has("Ljava/lang/String;"));
		ck_assert(has("[Ljava/lang/Object;") && has("interruptLock"));
		heap_world_stop();
	}
}
END_TEST

START_TEST(no_counts_are_sent_if_the_layout_is_wrong)
{
	struct talk talk;

	heap_world_init(21, FAKE_NARROW);
	asked_flags = WIRE_DUMP_COUNTS;
	talk = say(BYE);
	asked_flags = 0;
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_ends, 1);
	ck_assert_msg(is_doubt(seen.why), "why %u", seen.why);
	ck_assert_uint_eq(seen.len, 0);
	heap_world_stop();
}
END_TEST

START_TEST(unknown_references_are_noticed)
{
	struct talk talk;

	heap_world_init(21, FAKE_NARROW);
	fake.odd_references = true;
	talk = say(BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.why, WIRE_SNAPSHOT_LAYOUT);
	heap_world_stop();
}
END_TEST

/* Each JDK has some of the fields; the agent's own objects are not counted. */
START_TEST(objects_of_the_own_thread_are_found)
{
	static const char *const rows[][2] = {
		{ "holder", "Ljava/lang/Thread$FieldHolder;" },
		{ "inheritedAccessControlContext", "Ljava/security/AccessControlContext;" },
		{ "blockerLock", "Ljava/lang/Object;" },
		{ "interruptLock", "Ljava/lang/Object;" },
	};
	struct ag_self_objects own = { 0 };
	struct fake_field field = { .name = rows[_i][0], .signature = rows[_i][1], .index = 1 };
	struct ag_jvm jvm;

	heap_world_init(21, FAKE_NARROW);
	heap_world_start();
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	field.class = fake.current_thread->class;
	fake.fields = &field;
	fake.n_fields = 1;
	fake.current_thread->fields[1].l = (jobject)fake.thread_group;
	ck_assert_int_eq(ag_self_objects_add_thread(&jvm, &own), 0);
	ck_assert_uint_eq(own.n, 2);
	ck_assert_ptr_eq(fake_object_of(own.objects[0]), fake.current_thread);
	ck_assert_ptr_eq(fake_object_of(own.objects[1]), fake.thread_group);
	ag_self_objects_forget(&jvm, &own, 0);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	heap_world_stop();
}
END_TEST

/* A number of the other classes alone would hide that the boot loader has loaded more. */
START_TEST(boot_classes_are_not_counted_if_a_loader_is_unknown)
{
	struct ag_classes list;
	struct ag_jvm jvm;
	uint32_t n = 0;

	heap_world_init(21, FAKE_NARROW);
	heap_world_start();
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	ck_assert_int_eq(ag_classes_get(&jvm, &list), 0);
	ck_assert_int_eq(ag_classes_count_boot(&jvm, &list, &n), 0);
	ck_assert(n > 0 && n < list.n);
	fake.fail_at = fake.calls + 1;
	ck_assert_int_eq(ag_classes_count_boot(&jvm, &list, &n), -1);
	ag_classes_release(&jvm, &list);
	heap_world_stop();
}
END_TEST

static int n_linked;

/* getDeclaredFields0(true) */
static jobject JNICALL link_class(JNIEnv *jni, jobject class, jmethodID method, ...)
{
	(void)jni, (void)method;
	n_linked++;
	fake_object_of(class)->unprepared = false;
	return fake_ref(fake_plain(NULL));
}

/* Classes of other loaders remain as they are: linking them may run the application's code. */
START_TEST(classes_of_the_boot_loader_are_linked)
{
	static struct fake_method method = {
		.name = "getDeclaredFields0", .descriptor = "(Z)[Ljava/lang/reflect/Field;",
	};
	struct fake_object *class, *boot, *app;
	struct ag_jvm jvm;

	heap_world_init(21, FAKE_NARROW);
	heap_world_start();
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	class = fake_heap_class("Ljava/lang/Class;");
	boot = fake_heap_class("Ljava/lang/Record;");
	app = fake_heap_class("LUnlinked;");
	method.class = class;
	class->methods = &method;
	class->n_methods = 1;
	boot->unprepared = true;
	fake_jni_table.CallObjectMethod = link_class;
	ck_assert_int_eq(ag_dump_link(&jvm), 0);
	ck_assert_int_eq(n_linked, 1);
	ck_assert(!boot->unprepared && app->unprepared);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	heap_world_stop();
}
END_TEST

static void fail_every_call(int release, bool leaving)
{
	unsigned n = 0, n_errors = 0;
	struct talk talk;

	do {
		heap_world_init(release, FAKE_NARROW);
		fake.fail_at = ++n;
		fake.leaving = leaving;
		talk = say(BYE);
		if (leaving)
			ck_assert_msg(talk.errors == 0, "call %u", n);
		if (talk.gone)
			ck_assert_msg(seen.n_ends + talk.errors >= 1, "call %u", n);
		n_errors += talk.errors > 0;
		heap_world_stop();
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 300);
	ck_assert(leaving || n_errors > 200);
}

START_TEST(each_call_may_fail)
{
	fail_every_call(1, false);
	fail_every_call(25, false);
	asked_flags = WIRE_DUMP_COUNTS | WIRE_DUMP_MODULES;
	fail_every_call(25, false);
	asked_flags = 0;
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	fail_every_call(21, true);
}
END_TEST

START_TEST(client_may_disconnect)
{
	static const enum end ends[] = { HALF_CLOSE, HANG_UP, HANG_UP_EARLY };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		heap_world_init(21, FAKE_NARROW);
		(void)say(ends[i]);
		heap_world_stop();
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/dump");
	TCase *c = tcase_create("dump");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 120);
	tcase_add_test(c, records_are_those_of_hprof);
	tcase_add_test(c, segments_are_limited_and_a_larger_sub_record_is_one);
	tcase_add_test(c, each_reachable_object_is_written_once);
	tcase_add_test(c, any_doubt_ends_the_child);
	tcase_add_test(c, memory_of_a_heap_is_unmapped);
	tcase_add_test(c, stack_grows);
	tcase_add_test(c, reachable_objects_are_counted);
	tcase_add_test(c, new_class_ends_a_count);
	tcase_add_test(c, sizes_that_differ_from_those_of_hotspot_end_the_child);
	tcase_add_test(c, counts_of_all_classes_are_received_in_order);
	tcase_add_test(c, no_counts_are_sent_if_the_layout_is_wrong);
	tcase_add_test(c, names_are_sent_and_wrong_layouts_are_noticed);
	tcase_add_test(c, unknown_references_are_noticed);
	tcase_add_loop_test(c, objects_of_the_own_thread_are_found, 0, 4);
	tcase_add_test(c, boot_classes_are_not_counted_if_a_loader_is_unknown);
	tcase_add_test(c, classes_of_the_boot_loader_are_linked);
	tcase_add_test(c, client_may_disconnect);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
