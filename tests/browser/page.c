/*
 * Writes pages for tests/browser/run: a known tree as a flame graph by jtool.
 *
 *     page small|one|threads|diff|hostile|empty|large [NODES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/profile/flamegraph.h"

static void add(struct call_tree *t, const char *const *frames, uint64_t value, uint64_t other)
{
	const uint64_t values[CALL_TREE_VALUES] = { value, other };
	uint32_t node = 0;

	for (; *frames; frames++)
		node = call_tree_child(t, node, *frames);
	call_tree_add(t, node, values);
}
#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define MAIN "com.acme.shop.Main.main(Main.java:12)"
#define ORDER "com.acme.shop.Orders.take(Orders.java:40)"
#define BILL "org.example.bill.Printer.print(Printer.java:7)"
#define LIST "java.util.ArrayList.grow(ArrayList.java:237)"

/* Three stacks: 500 KiB and 1000 objects, 300 KiB and 2000, 200 KiB and 5000. */
static void make_small(struct call_tree *t)
{
	t->ends_in_classes = true;
	add(t, STACK(MAIN, ORDER, "byte[]"), 500 << 10, 1000);
	add(t, STACK(MAIN, ORDER, LIST, "java.lang.Object[]"), 300 << 10, 2000);
	add(t, STACK(MAIN, BILL, "com.acme.shop.Bill$Line"), 200 << 10, 5000);
}

/* Two threads, frames with lines, recursion, and a truncated stack. */
static void make_threads(struct call_tree *t)
{
	add(t, STACK("[main]", "a.Shop.main:1", "a.Shop.pay:10"), 300, 3);
	add(t, STACK("[main]", "a.Shop.main:2", "a.Shop.pay:11"), 300, 3);
	add(t, STACK("[worker]", "a.Shop.main:1", "a.Shop.tax:20", "a.Shop.tax:21"), 300, 3);
	add(t, STACK("[worker]", "(64 frames or more)", "a.Shop.pay:10"), 100, 1);
}

/* Three methods, before and now: pay 60 % and 30 %, tax 10 % and 40 %, log 30 % and 30 %. */
static void make_diff(struct call_tree *t)
{
	t->is_diff = true;
	add(t, STACK("a.Shop.main", "a.Shop.pay"), 30, 600);
	add(t, STACK("a.Shop.main", "a.Shop.tax"), 40, 100);
	add(t, STACK("a.Shop.main", "a.Shop.log"), 30, 300);
}

/* Strings that look like markup, scripts or data. */
static void make_hostile(struct call_tree *t)
{
	static const char *const texts[] = {
		"</script><script>document.title = 'pwned'</script>",
		"<img src=x onerror=\"document.title = 'pwned'\">",
		"<!--<script>", "\"],\"units\":[\"pwned\"],\"x\":[\"", "'\\\"\\",
		"@SCRIPT@", "&lt;b&gt;", "line\nbreak\r\t\x01\x7f",
		"separators \xe2\x80\xa8 \xe2\x80\xa9", "turned \xe2\x80\xae around",
		"broken \xff\xc3(\xed\xa0\x80", "__proto__", "constructor", "",
		"\xe5\x90\x8d\xe5\x89\x8d.\xf0\x9f\x94\xa5(\xf0\x9f\x94\xa5.java:1)",
	};

	t->ends_in_classes = true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		add(t, STACK("a.b.C.m(C.java:1)", texts[i], texts[i]), 100, 1);
}

/* A few hundred thousand nodes, at most 60 deep, each large enough to be shown. */
static void make_large(struct call_tree *t, uint32_t nodes)
{
	uint32_t seed = 1;
	char name[96];

	t->ends_in_classes = true;
	while (t->n < nodes) {
		uint32_t node = 0;

		for (unsigned depth = 0; depth < 60; depth++) {
			unsigned way = seed >> 16 & (depth % 3 ? 1 : 3);

			seed = seed * 1103515245 + 12345;
			(void)snprintf(name, sizeof(name),
				       "org.app%u.module%u.Service%u.handle%u(Service%u.java:%u)",
				       way, depth % 7, depth, way, depth, 100 + way);
			node = call_tree_child(t, node, name);
			if (depth > 20 && (seed >> 20 & 31) == 0)
				break;
		}
		node = call_tree_child(t, node, seed & 0x10000 ? "byte[]" : "java.lang.String");
		call_tree_add(t, node, (const uint64_t[]){ 1 + (seed >> 24), 1 });
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	const char *title = "Allocations of com.acme.shop.Main", *other = "objects";
	_cleanup_buf_ struct buf page = BUF_INIT;
	struct call_tree t;
	struct err err = { 0 };
	int rc;

	call_tree_init(&t, "bytes", strcmp(kind, "one") == 0 ? NULL
			      : strcmp(kind, "diff") == 0 ? "bytes" : other);
	if (strcmp(kind, "hostile") == 0) {
		title = "</title></script><script>document.title = 'pwned'</script>";
		make_hostile(&t);
	} else if (strcmp(kind, "large") == 0) {
		make_large(&t, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000);
	} else if (strcmp(kind, "diff") == 0) {
		make_diff(&t);
	} else if (strcmp(kind, "threads") == 0) {
		make_threads(&t);
	} else if (strcmp(kind, "small") == 0 || strcmp(kind, "one") == 0) {
		make_small(&t);
	} else if (strcmp(kind, "empty") != 0) {
		fprintf(stderr, "usage: page small|one|threads|diff|hostile|empty|large [NODES]\n");
		return 2;
	}
	call_tree_sum(&t);
	rc = flamegraph_add(&page, &t, title, "JVM 4711, sampled for 10 s & more", &err);
	call_tree_release(&t);
	if (rc < 0) {
		fprintf(stderr, "page: %s\n", err.text);
		return 1;
	}
	return fwrite(page.data, 1, page.len, stdout) == page.len && fflush(stdout) == 0 ? 0 : 1;
}
