/* The JSON documents of `jtool top`. */
#include <inttypes.h>
#include <time.h>

#include "render/limit.h"
#include "render/top/top_view.h"

static void put_real(struct json *json, const char *key, double value)
{
	if (value < 0)
		json_put_null(json, key);
	else
		json_put_real(json, key, value);
}

static void put_bytes(struct json *json, const char *key, int64_t bytes)
{
	json_put_known(json, key, bytes >= 0, (uint64_t)bytes);
}

static void put_time(struct json *json, int64_t when_ns)
{
	time_t seconds = when_ns / 1000000000;
	_cleanup_buf_ struct buf text = BUF_INIT;
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) > 0)
		buf_addf(&text, "%s.%03" PRId64 "Z", date, when_ns % 1000000000 / 1000000);
	json_put_text(json, "time", buf_str(&text));
}

static struct json *jvm_json(const struct top_jvm *jvm)
{
	const struct vm_rates *rates = &jvm->rates;
	struct json *json = json_object();

	json_put_number(json, "pid", jvm->pid);
	json_put_text(json, "main", jvm->main);
	json_put_text(json, "version", jvm->version);
	json_put_text(json, "gc", jvm->gc);
	put_real(json, "uptime", jvm->uptime);
	put_real(json, "cpu", jvm->cpu_s);
	put_real(json, "cpu_percent", rates->cpu_percent);
	put_real(json, "cpu_limit", jvm->cpu_limit);
	put_real(json, "throttled_percent", rates->throttled_percent);
	put_real(json, "gc_percent", rates->gc_percent);
	put_real(json, "safepoint_percent", rates->safepoint_percent);
	put_bytes(json, "heap_used", rates->heap_used);
	put_bytes(json, "heap_committed", rates->heap_committed);
	put_bytes(json, "heap_max", jvm->heap_max);
	put_bytes(json, "heap_after_gc", rates->heap_after);
	put_bytes(json, "allocation_rate", rates->allocation < 0 ? -1 : (int64_t)rates->allocation);
	put_bytes(json, "rss", jvm->resident);
	put_bytes(json, "memory_limit", jvm->memory_limit);
	json_put_unsigned(json, "threads", jvm->threads);
	return json;
}

static struct json *thread_json(const struct top_thread *t)
{
	struct json *json = json_object();

	json_put_text(json, "name", top_thread_name(t));
	json_put_known(json, "id", t->id >= 0, (uint64_t)t->id);
	json_put_number(json, "tid", t->tid);
	if (t->name)
		json_put_bool(json, "daemon", t->daemon);
	else
		json_put_null(json, "daemon");
	json_put_text(json, "state", top_thread_state(t));
	put_real(json, "cpu", t->cpu_s);
	put_real(json, "cpu_percent", t->cpu_percent);
	return json;
}

struct json *top_view_json(const struct top_view *v)
{
	size_t n = limit_rows(v->limit, true, LIMIT_ROWS, v->n);
	struct json *json = json_object(), *rows = json_array();

	put_time(json, v->when_ns);
	put_real(json, "interval", v->seconds);
	if (v->jvm) {
		json_put_number(json, "pid", v->jvm->pid);
		json_put(json, "jvm", jvm_json(v->jvm));
	}
	for (size_t i = 0; i < n; i++)
		json_put(rows, NULL, v->jvm ? thread_json(&v->threads->list[v->rows[i]]) :
					      jvm_json(&v->jvms[v->rows[i]]));
	json_put(json, v->jvm ? "threads" : "jvms", rows);
	return json;
}
