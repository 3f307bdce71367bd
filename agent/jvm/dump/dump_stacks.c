#include "jvm/dump/dump_stacks.h"

#include "jvm/frame_names.h"
#include "jvm/jni_refs.h"

#define THREADS 32   /* number of threads whose stacks one JVMTI call reads, in one pause */
#define DEPTH 1024   /* maximum frames of a stack; frames further from the top are omitted */
#define FRAMES_MAX 524288 /* maximum frames of all threads together; the others are omitted */
#define METHODS_FIRST 1024
#define LINE_UNKNOWN (-1)
#define LINE_NATIVE (-3)

struct reading {
	struct ag_jvm *jvm;
	struct ag_hprof *out;
	struct ag_dump_layout *layout;
	struct ag_dump_stacks *stacks;
};

/* Doubles the capacity of a list of n items of `size` bytes, if the list is full. */
static int grow(struct ag_jvm *jvm, void **list, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : METHODS_FIRST;
	void *larger;

	if (n < *cap)
		return 0;
	larger = ag_jvm_alloc(jvm, more, size);
	if (!larger)
		return -1;
	if (n)
		memcpy(larger, *list, n * size);
	ag_free(jvm->mem, *list);
	*list = larger;
	*cap = more;
	return 0;
}

static int put_symbol(struct reading *r, const char *text, uint32_t *symbol)
{
	if (text)
		*symbol = ag_dump_symbol(r->jvm, r->out, r->layout, text);
	return text && *symbol == 0 ? -1 : 0;
}

/* Reads the names of a method.  The names remain 0 if the method's class has been unloaded. */
static int name_method(struct reading *r, jmethodID id, struct ag_dump_method *m)
{
	jvmtiEnv *ti = r->jvm->ti;
	char *name = NULL, *signature = NULL, *source = NULL;
	int rc;

	if ((*ti)->GetMethodDeclaringClass(ti, id, &m->class) != JVMTI_ERROR_NONE) {
		m->class = NULL;
		return 0;
	}
	if ((*ti)->GetMethodName(ti, id, &name, &signature, NULL) != JVMTI_ERROR_NONE)
		name = signature = NULL;
	if ((*ti)->GetSourceFileName(ti, m->class, &source) != JVMTI_ERROR_NONE)
		source = NULL;
	rc = put_symbol(r, name, &m->name);
	if (rc == 0)
		rc = put_symbol(r, signature, &m->signature);
	if (rc == 0)
		rc = put_symbol(r, source, &m->source);
	ag_jvmti_free(r->jvm, name);
	ag_jvmti_free(r->jvm, signature);
	ag_jvmti_free(r->jvm, source);
	return rc == 0 ? ag_ref_expect(r->jvm, 64) : -1;
}

static int find_method(struct reading *r, jmethodID id, uint32_t *number)
{
	struct ag_dump_stacks *s = r->stacks;
	uint64_t key = (uint64_t)(uintptr_t)id;
	const struct ag_hash_entry *known = ag_hash_map_probe(&s->numbers, key);

	if (known->key != 0) {
		*number = known->number;
		return 0;
	}
	if (grow(r->jvm, (void **)&s->methods, s->n_methods, &s->cap_methods,
		 sizeof(*s->methods)) != 0)
		return -1;
	if (s->numbers.n == s->numbers.max &&
	    ag_hash_map_grow(&s->numbers, r->jvm->mem, FRAMES_MAX) != 0)
		return ag_fail_memory(r->jvm);
	*number = s->n_methods;
	(void)ag_hash_map_add(&s->numbers, key, *number); /* cannot fail: new key, enough room */
	return name_method(r, id, &s->methods[s->n_methods++]);
}

static int add_frame(struct reading *r, const jvmtiFrameInfo *info)
{
	struct ag_dump_stacks *s = r->stacks;
	struct ag_dump_frame *f;
	jint line = ag_frame_line(r->jvm, info);

	if (grow(r->jvm, (void **)&s->frames, s->n_frames, &s->cap_frames,
		 sizeof(*s->frames)) != 0)
		return -1;
	f = &s->frames[s->n_frames++];
	f->id = info->method;
	f->line = line == WIRE_LINE_NATIVE  ? LINE_NATIVE
		: line == WIRE_LINE_UNKNOWN ? LINE_UNKNOWN
					    : line;
	return find_method(r, info->method, &f->method);
}

static int read_threads(struct reading *r, const jthread *threads, jint n, uint32_t *first)
{
	jvmtiStackInfo *list = NULL;
	int rc = AG_JVMTI(r->jvm, GetThreadListStackTraces, n, threads, DEPTH, &list);

	for (jint i = 0; list && i < n; i++) {
		first[i] = r->stacks->n_frames;
		for (jint k = 0; k < list[i].frame_count && rc == 0 &&
				 r->stacks->n_frames < FRAMES_MAX; k++)
			rc = add_frame(r, &list[i].frame_buffer[k]);
		if (list[i].thread != threads[i]) /* never in HotSpot, which copies threads[i] */
			ag_ref_drop(r->jvm, list[i].thread);
	}
	ag_jvmti_free(r->jvm, list);
	return rc;
}

int ag_dump_stacks_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_graph *graph,
			struct ag_dump_layout *layout, struct ag_dump_stacks *stacks)
{
	struct reading r = { jvm, out, layout, stacks };
	jthread threads[THREADS];
	int rc = 0;

	*stacks = (struct ag_dump_stacks){ 0 };
	stacks->first = ag_jvm_alloc(jvm, graph->n_threads + 1, sizeof(*stacks->first));
	if (!stacks->first)
		return -1;
	if (ag_hash_map_init(&stacks->numbers, jvm->mem, METHODS_FIRST) != 0)
		return ag_fail_memory(jvm);
	for (uint32_t i = 0; i < graph->n_threads && rc == 0; i += THREADS) {
		uint32_t n = graph->n_threads - i < THREADS ? graph->n_threads - i : THREADS;

		for (uint32_t k = 0; k < n; k++)
			threads[k] = graph->threads[i + k].thread;
		rc = read_threads(&r, threads, (jint)n, stacks->first + i);
	}
	stacks->first[graph->n_threads] = stacks->n_frames;
	return rc;
}

void ag_dump_stacks_release(struct ag_jvm *jvm, struct ag_dump_stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->n_methods; i++)
		ag_ref_drop(jvm, stacks->methods[i].class);
	ag_free(jvm->mem, stacks->methods);
	ag_free(jvm->mem, stacks->frames);
	ag_free(jvm->mem, stacks->first);
	ag_hash_map_release(&stacks->numbers, jvm->mem);
	*stacks = (struct ag_dump_stacks){ 0 };
}
