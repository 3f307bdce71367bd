import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The application's own count of calls and returns for each method. */
final class TraceCount {
	private static final Map<String, LongAdder> CALLS = new ConcurrentHashMap<>();
	private static final Map<String, LongAdder> NORMAL = new ConcurrentHashMap<>();
	private static final Map<String, LongAdder> UNSEEN = new ConcurrentHashMap<>();

	private TraceCount() {
	}

	private static void add(Map<String, LongAdder> to, String method, long n) {
		LongAdder adder = to.get(method);

		if (adder == null)
			adder = to.computeIfAbsent(method, m -> new LongAdder());
		adder.add(n);
	}

	static void in(String method) {
		add(CALLS, method, 1);
	}

	/** Counts in the arguments of this() or super(). */
	static int in(String method, int value) {
		add(CALLS, method, 1);
		return value;
	}

	static void out(String method) {
		add(NORMAL, method, 1);
	}

	static <T> T out(String method, T value) {
		add(NORMAL, method, 1);
		return value;
	}

	/** Discounts a call of a constructor in which this() or super() threw: a trace cannot see
	 * that end, because no exception handler may cover these calls. */
	static void unseen(String method) {
		add(UNSEEN, method, 1);
	}

	/** Adds the counts of a generated class. */
	static void add(String method, long calls, long normal) {
		add(CALLS, method, calls);
		add(NORMAL, method, normal);
	}

	static void clear() {
		CALLS.clear();
		NORMAL.clear();
		UNSEEN.clear();
	}

	private static long sum(Map<String, LongAdder> of, String method) {
		LongAdder adder = of.get(method);

		return adder == null ? 0 : adder.sum();
	}

	/** {"method": [calls, exceptional ones], ...}, for methods whose end is visible. */
	static String asJson() {
		StringBuilder json = new StringBuilder("{");

		for (String method : new TreeMap<>(CALLS).keySet()) {
			long calls = sum(CALLS, method) - sum(UNSEEN, method);
			if (calls == 0)
				continue;
			json.append(json.length() > 1 ? ", " : "").append('"').append(method);
			json.append("\": [").append(calls).append(", ");
			json.append(calls - sum(NORMAL, method)).append(']');
		}
		return json.append('}').toString();
	}
}
