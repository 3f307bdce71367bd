import java.lang.reflect.Method;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures the cost of a call: "time KIND" answers the picoseconds of a call of an empty method.
 * KIND is bare, natives (with two native methods, each of which reads the clock) or advice (with
 * typical Java code of a tracer: a dispatcher, an interface, boxing, sums). The argument is the
 * path of the native library.
 */
final class TraceCost extends Victim {
	private static final int CALLS = 2000000;

	private static int sink;

	static native long enter(int id);

	static native void exit(long token, int id);

	static void empty() {
	}

	/* As with Arthas, instrumented code calls Spy, and Spy calls a Listener. */

	interface Listener {
		void before(Class<?> c, String method, Object target, Object[] arguments);

		void after(Class<?> c, String method, Object target, Object[] arguments, Object result);
	}

	static final class Spy {
		private static volatile Listener listener;

		private Spy() {
		}

		static void atEnter(Class<?> c, String method, Object target, Object[] arguments) {
			listener.before(c, method, target, arguments);
		}

		static void atExit(Class<?> c, String method, Object target, Object[] arguments, Object result) {
			listener.after(c, method, target, arguments, result);
		}
	}

	private static final class Sums implements Listener {
		private final ConcurrentHashMap<String, LongAdder[]> sums = new ConcurrentHashMap<>();
		private final ThreadLocal<long[]> began = ThreadLocal.withInitial(() -> new long[1]);

		@Override
		public void before(Class<?> c, String method, Object target, Object[] arguments) {
			began.get()[0] = System.nanoTime();
		}

		@Override
		public void after(Class<?> c, String method, Object target, Object[] arguments, Object result) {
			long took = System.nanoTime() - began.get()[0];
			LongAdder[] sum = sums.computeIfAbsent(c.getName() + method,
				key -> new LongAdder[] { new LongAdder(), new LongAdder() });
			sum[0].increment();
			sum[1].add(took);
		}
	}

	static void advised() {
		Spy.atEnter(TraceCost.class, "advised|()V", null, new Object[0]);
		Spy.atExit(TraceCost.class, "advised|()V", null, new Object[0], null);
	}

	/* Each loop is in its own method, so that it is compiled separately. */

	private static long bare() {
		long begin = System.nanoTime();
		for (int i = 0; i < CALLS; i++) {
			empty();
			sink += i;
		}
		return System.nanoTime() - begin;
	}

	private static long natives() {
		long begin = System.nanoTime();
		for (int i = 0; i < CALLS; i++) {
			exit(enter(1), 1);
			sink += i;
		}
		return System.nanoTime() - begin;
	}

	private static long advice() {
		long begin = System.nanoTime();
		for (int i = 0; i < CALLS; i++) {
			advised();
			sink += i;
		}
		return System.nanoTime() - begin;
	}

	/** Typical application code with many methods, whose speed is compared before and after. */
	static final class Application {
		private int seed = 1;

		private int next(int bound) {
			seed = seed * 1103515245 + 12345;
			return (seed >>> 8) % bound;
		}

		private int parse(String text) {
			int n = 0;
			for (int i = 0; i < text.length(); i++)
				n = digit(n, text.charAt(i));
			return n;
		}

		private static int digit(int n, char c) {
			return n * 10 + c - '0';
		}

		private int step(int i) {
			return parse(Integer.toString(next(1000) + i));
		}

		int run(int n) {
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += step(i);
			return sum;
		}
	}

	private static long application() {
		Application application = new Application();
		long begin = System.nanoTime();

		for (int i = 0; i < CALLS / 1000; i++)
			sink += application.run(1000);
		return System.nanoTime() - begin;
	}

	private static long time(String kind) throws Exception {
		Method method = TraceCost.class.getDeclaredMethod(kind);

		return (Long) method.invoke(null);
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		if (!words[0].equals("time"))
			return null;
		return "took " + time(words[1]) * 1000 / CALLS;
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		Spy.listener = new Sums();
		for (int i = 0; i < 5; i++) {
			for (String kind : new String[] { "bare", "natives", "advice", "application" })
				time(kind);
		}
		new TraceCost().serve();
	}
}
