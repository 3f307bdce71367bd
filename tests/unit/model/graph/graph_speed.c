/*
 * Measures the time and memory that the graph of a large heap takes.  It is not a test; run it
 * before and after a change to src/model/graph.
 *
 *     make tests/unit/model/graph/graph_speed
 *     tests/unit/model/graph/graph_speed [big|rand [OBJECTS]]
 *
 * Another process generates the heap stream, in HotSpot's order, and sends it through a pipe, so
 * only the graph is measured.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "model/graph/graph.h"

#define CHUNK ((size_t)256 << 10)
#define CLASSES 1000
#define BASE UINT64_C(0x700000000)
#define FAN 9 /* objects in a group of the heap `big` */

/* A synthetic heap: objects are numbered in the order of addresses; number 0 is a long array. */
struct sample_heap {
	bool random;
	uint32_t n, n_elements;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

static uint64_t address_of(uint32_t i)
{
	return BASE + (uint64_t)i * 32;
}

static uint32_t elements_of(const struct sample_heap *h)
{
	return h->random ? 64 : h->n / FAN;
}

/*
 * Finds the k-th object (from 0) that object i refers to; returns false if there is none.  In
 * `big`, the objects of a group form trees and lists below the first of them.  In `rand`, an object
 * refers to three random objects or to none.
 */
static bool target(const struct sample_heap *h, uint32_t i, uint32_t k, uint32_t *to)
{
	uint32_t in_fan = (i - 1) % FAN;

	if (i == 0) {
		*to = h->random ? 1 + (uint32_t)(mix(k) % (h->n - 1)) : 1 + k * FAN;
		return k < elements_of(h) && *to < h->n;
	}
	if (h->random) {
		*to = 1 + (uint32_t)(mix((uint64_t)i * 3 + k) % (h->n - 1));
		return k < 3 && mix(i) % 16 < 14;
	}
	if (k == 2 && mix(i) % 16 == 0) {
		*to = 1 + (uint32_t)(mix(i) / 16 % (h->n - 1));
		return true;
	}
	*to = i + 1 + k * 2;
	return k < 2 - in_fan % 2 - (in_fan > 5) && in_fan + 1 + k * 2 < FAN && *to < h->n;
}

struct sender {
	struct heap_stream_state state;
	uint8_t chunk[CHUNK];
	size_t len;
	int fd;
};

static void send_chunk(struct sender *t)
{
	if (write(t->fd, &t->len, sizeof(t->len)) != (ssize_t)sizeof(t->len))
		_exit(1);
	for (size_t done = 0; done < t->len;) {
		ssize_t n = write(t->fd, t->chunk + done, t->len - done);

		if (n <= 0)
			_exit(1);
		done += (size_t)n;
	}
	t->len = 0;
}

static void send_record(struct sender *t, const struct heap_stream_record *r)
{
	if (CHUNK - t->len < HEAP_STREAM_RECORD_MAX)
		send_chunk(t);
	t->len = (size_t)(heap_stream_write(&t->state, t->chunk + t->len, r) - t->chunk);
}

/* Walks like HotSpot: pushes the references of an object and visits them when they are popped. */
static void walk(const struct sample_heap *h, struct sender *t)
{
	bool *seen = xcalloc(h->n, sizeof(*seen));
	size_t cap = (size_t)h->n * 4, n = 0;
	uint32_t *stack = xreallocarray(NULL, cap, sizeof(*stack));

	stack[n++] = 0;
	while (n > 0) {
		uint32_t i = stack[--n], to;
		enum heap_stream_kind kind = i == 0 ? HEAP_STREAM_ELEMENT : HEAP_STREAM_FIELD;

		if (seen[i])
			continue;
		seen[i] = true;
		send_record(t, &(struct heap_stream_record){ .kind = HEAP_STREAM_OBJECT,
							     .address = address_of(i),
							     .class = (uint32_t)mix(i) % CLASSES });
		for (uint32_t k = 0; target(h, i, k, &to); k++) {
			send_record(t, &(struct heap_stream_record){ .kind = kind,
								     .address = address_of(to),
								     .index = k,
								     .size = 32 });
			stack[n++] = to;
		}
	}
	send_chunk(t);
}

static int start_sender(const struct sample_heap *h, pid_t *pid)
{
	static struct sender t;
	int fds[2];

	if (pipe(fds) < 0)
		return -1;
	*pid = fork();
	if (*pid < 0)
		return -1;
	if (*pid == 0) {
		t.fd = fds[1];
		send_record(&t, &(struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
							      .address = address_of(0),
							      .size = 32,
							      .root = HEAP_STREAM_ROOT_STACK });
		walk(h, &t);
		_exit(0);
	}
	(void)close(fds[1]);
	return fds[0];
}

/* Returns the CPU time of this process in seconds, without that of the sender. */
static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool read_all(int fd, void *to, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(fd, (char *)to + done, len - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static double take_all(struct graph_builder *b, int fd, uint64_t *bytes)
{
	static uint8_t chunk[CHUNK];
	double taken = 0;
	size_t len;

	while (read_all(fd, &len, sizeof(len)) && read_all(fd, chunk, len)) {
		double before = seconds();

		if (graph_builder_take(b, chunk, len) < 0)
			_exit(1);
		taken += seconds() - before;
		*bytes += len;
	}
	return taken;
}

static long peak_kb(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static double print_step(const char *what, double *since, const struct graph *g)
{
	double now = seconds(), took = now - *since;

	printf("  %-12s %6.3f s  peak %5.1f bytes per object\n", what, took,
	       (double)peak_kb() * 1024 / graph_n(g));
	*since = seconds();
	return took;
}

static int measure(const char *name, const struct sample_heap *h)
{
	struct graph_builder *b = graph_builder_new(0);
	struct graph_facts facts = { .n_classes = CLASSES, .class_class = 0 };
	struct graph_sum sums[CLASSES];
	uint32_t group[CLASSES];
	struct dominators tree;
	struct graph_bfs bfs;
	uint64_t bytes = 0;
	double taken, since, total = 0;
	struct graph *g;
	int error;
	pid_t pid = -1;
	int fd = start_sender(h, &pid);

	taken = take_all(b, fd, &bytes);
	(void)waitpid(pid, NULL, 0);
	for (uint32_t i = 0; i < CLASSES; i++)
		group[i] = i;
	since = seconds();
	g = graph_build(b, &facts, &error);
	if (!g)
		return 1;
	graph_builder_free(b);
	printf("%s: %u objects, %llu references, %.1f bytes of heap stream per object\n", name,
	       graph_n(g), (unsigned long long)graph_n_edges(g), (double)bytes / graph_n(g));
	printf("  %-12s %6.3f s, %.0f MB/s, during the walk\n", "take", taken,
	       (double)bytes / taken / 1e6);
	total += print_step("build", &since, g);
	graph_bfs(g, false, &bfs);
	(void)print_step("bfs", &since, g);
	graph_bfs_release(&bfs);
	since = seconds();
	dominators_find(g, false, &tree);
	total += print_step("tree", &since, g);
	graph_sum_up(g, &tree, group, CLASSES, sums);
	total += print_step("sums", &since, g);
	printf("  after the walk, without bfs: %.3f s\n", total);
	dominators_release(&tree);
	graph_free(g);
	return 0;
}

int main(int argc, char **argv)
{
	struct sample_heap big = { .n = 8800000 }, random = { .random = true, .n = 6900000 };
	bool is_random = argc > 1 && strcmp(argv[1], "rand") == 0;

	if (argc > 2)
		big.n = random.n = (uint32_t)strtoul(argv[2], NULL, 10);
	return is_random ? measure("rand", &random) : measure("big", &big);
}
