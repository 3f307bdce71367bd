#include "render/profile/profile_view.h"

#include "render/units.h"

static void add_counted(struct buf *out, uint64_t n, const char *one, const char *more)
{
	units_count(out, n);
	buf_addf(out, " %s", n == 1 ? one : more);
}

static void add_idle(struct buf *out, const struct profile *p, uint64_t n)
{
	if (p->kind == PROFILE_LOCK) {
		add_counted(out, n, "time", "times");
		buf_adds(out, " that a thread was parked to wait for work, not for a lock: not "
			 "counted; -e wall has them");
		return;
	}
	add_counted(out, n, "sample", "samples");
	buf_adds(out, " of threads that wait in native code, such as for a socket: not counted; "
		 "-e wall has them");
}

static void add_lost(struct buf *out, const struct profile *p, uint64_t n)
{
	units_count(out, n);
	buf_adds(out, " of ");
	add_counted(out, p->samples, "sample", "samples");
	buf_adds(out, " were lost by the recorder, mostly of threads that work within the JVM, "
		 "such as to fill in a stack trace: counted as (lost samples), in no method");
}

static void add_few_threads(struct buf *out)
{
	buf_adds(out, "the sampler of this recording takes at most 5 threads in Java code and 1 in "
		 "native code each time: with more busy threads, only shares can be compared; "
		 "JDK 25 and later sample CPU time");
}

bool profile_gap_add(struct buf *out, const struct profile *p, enum profile_gap gap)
{
	uint64_t n = p->gaps[gap];

	if (n == 0)
		return false;
	switch (gap) {
	case PROFILE_FEW_THREADS:
		add_few_threads(out);
		break;
	case PROFILE_INEXACT:
		buf_adds(out, n == 1 ? "compiled code is sampled at the nearest place with debug "
				       "information, so that small methods count for others"
				     : "JDK 8 samples compiled code only at places with debug "
				       "information, so that hot loops may be missing");
		buf_adds(out, ": -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints changes "
			 "that at the JVM's start");
		break;
	case PROFILE_NO_NATIVE:
		buf_adds(out, "stacks have no native frames: native code counts for the Java "
			 "method that called it, and threads of the JVM itself are not in the "
			 "profile");
		break;
	case PROFILE_LOST_SAMPLES:
		add_lost(out, p, n);
		break;
	case PROFILE_LOST_BYTES:
		units_bytes(out, n > INT64_MAX ? INT64_MAX : (int64_t)n);
		buf_adds(out, " of events were lost by the recorder, and not counted");
		break;
	case PROFILE_FAILED:
		add_counted(out, n, "sample has", "samples have");
		buf_adds(out, " no stack: counted as (unknown stack)");
		break;
	case PROFILE_BIASED:
		add_counted(out, n, "sample was", "samples were");
		buf_adds(out, " taken at a later safepoint, not where the thread ran");
		break;
	case PROFILE_IDLE:
		add_idle(out, p, n);
		break;
	case PROFILE_TRUNCATED:
		add_counted(out, n, "sample lacks its", "samples lack their");
		buf_adds(out, " outer frames: the stack is deeper than the recorder's stackdepth; "
			 "jtool jfr TARGET configure stackdepth=N sets it before the JVM's first "
			 "recording");
		break;
	default:
		buf_adds(out, "waits that had not ended when the recording did, and shorter ones "
			 "than its threshold, are not counted");
		break;
	}
	return true;
}

struct json *profile_gaps_json(const struct profile *p)
{
	static const char *const names[N_PROFILE_GAPS] = {
		[PROFILE_FEW_THREADS] = "few_threads",
		[PROFILE_INEXACT] = "inexact",
		[PROFILE_NO_NATIVE] = "no_native",
		[PROFILE_LOST_SAMPLES] = "lost_samples",
		[PROFILE_LOST_BYTES] = "lost_bytes",
		[PROFILE_FAILED] = "failed",
		[PROFILE_BIASED] = "biased",
		[PROFILE_IDLE] = "idle",
		[PROFILE_TRUNCATED] = "truncated",
		[PROFILE_UNFINISHED] = "unfinished",
	};
	struct json *list = json_array();

	for (int gap = 0; gap < N_PROFILE_GAPS; gap++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct json *note;

		if (!profile_gap_add(&text, p, (enum profile_gap)gap))
			continue;
		note = json_object();
		json_put_text(note, "note", names[gap]);
		json_put_unsigned(note, "n", p->gaps[gap]);
		json_put_text(note, "text", buf_str(&text));
		json_put(list, NULL, note);
	}
	return list;
}
