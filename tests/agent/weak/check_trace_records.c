/* The records of a trace: a record has the values of one call, and each call is reported once. */
#include "agent/weak/weak.h"
#include "jvm/trace/trace_record.h"
#include "jvm/trace/trace_state.h"

#define RECORDS 64u
#define ROOM 8u
#define STRIDE ((uint32_t)((sizeof(struct ag_record) + 2 * ROOM + 63) / 64 * 64))

struct ag_trace ag_traces[AG_TRACES];
static uint8_t records[RECORDS * STRIDE] __attribute__((aligned(64)));
static uint64_t unused, order[RECORDS];
static char kinds[] = "II";
static struct ag_method method = { kinds, 1 };
static unsigned reported[WEAK_THREADS + 1];

void *ag_jvm_alloc(struct ag_jvm *jvm, size_t n, size_t size)
{
	(void)jvm, (void)n, (void)size;
	return NULL;
}

void ag_free(struct ag_mem *mem, void *p)
{
	(void)mem, (void)p;
}

void ag_value_put(const struct ag_value_context *d, struct ag_values *to, char kind,
		  const jvalue *value)
{
	(void)d, (void)kind;
	*to->at++ = (uint8_t)value->i;
}

void ag_value_put_thrown(const struct ag_value_context *d, struct ag_values *to, jobject thrown,
			 bool message)
{
	(void)d, (void)to, (void)thrown, (void)message;
}

void ag_value_thread(const struct ag_value_context *d, char *name, size_t size, uint64_t *id)
{
	(void)d, (void)size;
	name[0] = '\0';
	*id = weak_self();
}

uint32_t ag_value_stack(const struct ag_value_context *d, jvmtiFrameInfo *frames, uint32_t max)
{
	(void)d, (void)frames, (void)max;
	return 0;
}

/* Sets up a pool of which the records in `bits` are unused. */
static void set_up(uint64_t bits)
{
	struct ag_trace *trace = &ag_traces[0];

	unused = bits;
	trace->pool = (struct ag_pool){
		.records = records, .unused = &unused, .order = order, .n = RECORDS,
		.stride = STRIDE, .args_room = ROOM, .result_room = ROOM,
	};
	trace->methods = &method;
	trace->wanted.flags = WIRE_TRACE_VALUES;
}

static void one_record(void)
{
	set_up(1);
}

static void all_records(void)
{
	set_up(UINT64_MAX);
}

static struct ag_hook hook(void)
{
	return (struct ag_hook){
		.trace = &ag_traces[0], .at = &ag_traces[0].presence[weak_self()],
		.range = UINT64_C(1) << 32 | 1, .now_ns = INT64_MAX / 2,
	};
}

/* The argument and the result of a call are the number of its thread. */
static void call(void)
{
	struct ag_hook h = hook();
	jlong token = ag_call_open(&h);

	if (token == 0)
		return;
	ag_call_argument(&h, token, &(jvalue){ .i = (jint)weak_self() });
	ag_call_close(&h, token, false, &(jvalue){ .i = (jint)weak_self() });
}

static void one_done(void)
{
	all_records();
	call();
}

/* A call that does not end. */
static void call_without_end(void)
{
	struct ag_hook h = hook();
	jlong token = ag_call_open(&h);

	if (token != 0)
		ag_call_argument(&h, token, &(jvalue){ .i = (jint)weak_self() });
}

static int report(struct ag_jvm *jvm, const struct ag_call *c, void *arg)
{
	(void)jvm, (void)arg;
	WEAK_CHECK(c->values_len == 1 && c->result_len == 1);
	WEAK_CHECK(c->values[0] == c->thread_id && c->result[0] == c->thread_id);
	WEAK_CHECK(reported[c->thread_id]++ == 0);
	return 0;
}

static void drain(void)
{
	(void)ag_pool_take(NULL, &ag_traces[0], report, NULL);
}

static void all_are_reported(void)
{
	drain();
	WEAK_CHECK(reported[1] == 1 && reported[2] == 1);
	WEAK_CHECK(unused == UINT64_MAX);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a reported call is complete", { call, drain }, all_records, NULL },
		{ "two calls take a record each", { call, call }, all_records,
		  all_are_reported },
		{ "a call takes the record of another", { call_without_end, call }, one_record,
		  NULL },
		{ "a record is used again", { drain, call_without_end }, one_done, NULL },
		{ 0 },
	};

	return weak_run(tests, NULL);
}
