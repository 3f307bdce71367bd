import java.io.Writer;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Methods with all kinds of arguments and results, and a log of their calls by the application:
 * "log FILE N T" makes N calls in each of T threads, "virtual FILE N T" in virtual ones, and writes
 * them in the trace's format, one object per line, in each thread's order. "touched" answers how
 * often code ran that formatting must not call.
 */
final class TraceValues extends Victim {
	private static final AtomicInteger TOUCHED = new AtomicInteger();

	/** Formatting must not call its methods. */
	static class Touchy implements CharSequence, Comparable<Touchy> {
		private final String text;

		Touchy(String text) {
			this.text = text;
		}

		private static <T> T touched(T value) {
			TOUCHED.incrementAndGet();
			return value;
		}

		@Override
		public String toString() {
			return touched(text);
		}

		@Override
		public int hashCode() {
			return touched(1);
		}

		@Override
		public boolean equals(Object other) {
			return touched(other == this);
		}

		@Override
		public int length() {
			return touched(1);
		}

		@Override
		public char charAt(int i) {
			return touched('x');
		}

		@Override
		public CharSequence subSequence(int from, int to) {
			return touched(this);
		}

		@Override
		public int compareTo(Touchy other) {
			return touched(0);
		}
	}

	static final class TouchyException extends RuntimeException {
		private static final long serialVersionUID = 1;
		final String message;

		TouchyException(String message) {
			super(message);
			this.message = message;
		}

		@Override
		public String getMessage() {
			TOUCHED.incrementAndGet();
			return "not this";
		}

		@Override
		public String toString() {
			TOUCHED.incrementAndGet();
			return "nor this";
		}
	}

	enum Colour {
		RED {
			@Override
			String hue() {
				return "warm";
			}
		},
		GREEN;

		String hue() {
			TOUCHED.incrementAndGet();
			return "cold";
		}

		@Override
		public String toString() {
			TOUCHED.incrementAndGet();
			return "colour";
		}
	}

	static final class Made {
		final int n;

		Made(int n, String text) {
			if (n % 3 == 0)
				throw new TouchyException(text);
			this.n = n;
		}
	}

	/** The traced methods. */
	static class Traced {
		static boolean booleans(boolean a) {
			return !a;
		}

		static byte bytes(byte a, byte b) {
			return (byte) (a + b);
		}

		static char chars(char a) {
			return (char) (a + 1);
		}

		static short shorts(short a) {
			return (short) -a;
		}

		int ints(int a, int b) {
			return a / (b % 4);
		}

		long longs(long a, int b, long c) {
			return a * b + c;
		}

		float floats(float a, float b) {
			return a / b;
		}

		double doubles(double a, float b, double c) {
			return a * b / c;
		}

		void nothing() {
		}

		String strings(String a, String b) {
			return a == null ? b : a.concat(b);
		}

		Object boxed(Boolean z, Byte b, Character c, Short s, Integer i, Long j, Float f, Double d) {
			return new Object[] { z, b, c, s, i, j, f, d }[Math.abs(i % 8)];
		}

		Colour enums(Colour a, Colour b) {
			return a == b ? null : a;
		}

		Object touchy(Touchy a, Object b, CharSequence c) {
			return c;
		}

		int[] arrays(boolean[] z, byte[] b, char[] c, short[] s, int[] i, long[] j) {
			return i;
		}

		Object[] moreArrays(float[] f, double[] d, String[] texts, Object[] mixed, int[][] deep) {
			return mixed == null ? deep : mixed;
		}

		Throwable throwables(TouchyException e, Exception f) {
			return f;
		}

		Object throwing(TouchyException e) {
			if (e == null)
				throw null;
			throw e;
		}

		static synchronized long synchronously(long a) {
			if (a < 0)
				throw new IllegalStateException("below 0: " + a);
			return a;
		}

		int made(int n, String text) {
			return n;
		}

		/** Calls others before it returns. */
		long outer(Log log, int depth) throws Exception {
			for (int i = 0; i < depth % 4; i++)
				log.call();
			return depth;
		}
	}

	private static final Method[] METHODS = methods();
	private static final Traced TRACED = new Traced();

	private static Method[] methods() {
		Method[] methods = Traced.class.getDeclaredMethods();

		Arrays.sort(methods, Comparator.comparing(Method::getName));
		return methods;
	}

	/** The calls of one thread. */
	static final class Log implements Runnable {
		private final Random random;
		private final int calls;
		private final List<String> lines = new ArrayList<>();
		private final CountDownLatch begin;
		private final Traced traced = TRACED;
		private int depth;

		Log(long seed, int calls, CountDownLatch begin) {
			random = new Random(seed);
			this.calls = calls;
			this.begin = begin;
		}

		@Override
		public void run() {
			try {
				begin.await();
				while (lines.size() < calls)
					call();
			} catch (Exception e) {
				lines.add("\"" + e + '"');
			}
		}

		void call() throws Exception {
			Method method = METHODS[random.nextInt(METHODS.length)];
			Class<?>[] types = method.getParameterTypes();
			Object[] arguments = new Object[types.length];

			if (method.getName().equals("outer") && depth > 3)
				return;
			depth++;
			for (int i = 0; i < types.length; i++)
				arguments[i] = types[i] == Log.class ? this : value(types[i]);
			Class<?> c = Traced.class;
			String name = method.getName(), returned = method.getReturnType() == void.class ? "void" : "value";
			Object result = null;
			Throwable thrown = null;
			String told = describe(arguments);
			try {
				if (name.equals("made")) {
					c = Made.class;
					name = "<init>";
					returned = "void";
					new Made((Integer) arguments[0], (String) arguments[1]);
				} else {
					result = method.invoke(traced, arguments);
				}
			} catch (InvocationTargetException e) {
				thrown = e.getCause();
			} catch (TouchyException e) {
				thrown = e;
			}
			depth--;
			lines.add("{\"thread\": " + quoted(Thread.currentThread().getName())
				+ ", \"thread_id\": " + Thread.currentThread().getId() + ", \"method\": "
				+ quoted(c.getName() + "." + name) + ", \"args\": " + told + ", \"returned\": "
				+ quoted(thrown != null ? "exception" : returned) + ", \"result\": "
				+ describe(result) + ", \"exception\": "
				+ (thrown == null ? "null" : quoted(message(thrown))) + "}");
		}

		private String text() {
			String[] texts = { "", "tea", null, "a\"b\\c\n\t\u0000\u0007", "\u00e4\u20ac\u4e2d",
				"\ud83d\ude00 smile", "lone \ud800 x", new String(new char[150]).replace('\0', 'y'),
				new String(new char[60]).replace("\0", "\ud83d\ude00"), "</script>\u2028\u202e\u007f" };
			return texts[random.nextInt(texts.length)];
		}

		/** Returns an argument of this type. */
		private Object value(Class<?> type) {
			if (type.isArray())
				return array(type.getComponentType());
			if (!type.isPrimitive() && random.nextInt(6) == 0 && Number.class != type.getSuperclass())
				return null;
			switch (type.getSimpleName()) {
			case "boolean":
			case "Boolean":
				return random.nextBoolean();
			case "byte":
			case "Byte":
				return (byte) random.nextInt();
			case "char":
			case "Character":
				return (char) (random.nextInt(3) == 0 ? random.nextInt() : ' ' + random.nextInt(94));
			case "short":
			case "Short":
				return (short) random.nextInt();
			case "int":
			case "Integer":
				return random.nextBoolean() ? random.nextInt(100) : random.nextInt();
			case "long":
			case "Long":
				return random.nextLong() >> random.nextInt(64);
			case "float":
			case "Float":
				return random.nextInt(4) == 0 ? 0f : (float) random.nextGaussian() * 1e9f;
			case "double":
			case "Double":
				return random.nextInt(4) == 0 ? -0.0 : random.nextGaussian() * 1e-9;
			case "String":
				return text();
			case "Colour":
				return Colour.values()[random.nextInt(2)];
			case "TouchyException":
				return new TouchyException(text());
			case "Exception":
				return random.nextBoolean() ? new TouchyException(text()) : new Exception(text());
			case "Object":
				Class<?>[] some = { String.class, Integer.class, Double.class, int[].class,
					Touchy.class, Colour.class, Object[].class };
				return value(some[random.nextInt(some.length)]);
			default:
				return new Touchy("touchy");
			}
		}

		private Object array(Class<?> of) {
			if (random.nextInt(6) == 0)
				return null;
			Object array = Array.newInstance(of, random.nextInt(of == int[].class ? 3 : 9));
			for (int i = 0; i < Array.getLength(array); i++)
				Array.set(array, i, of == Object.class && depth > 6 ? null : value(of));
			return array;
		}
	}

	/* In jtool's format, without truncation. */

	private static String quoted(String text) {
		StringBuilder json = new StringBuilder("\"");

		for (char c : text.toCharArray())
			json.append(c < ' ' || c > '~' || c == '"' || c == '\\'
				? String.format("\\u%04x", (int) c) : c);
		return json.append('"').toString();
	}

	private static String describe(Object[] values) {
		StringBuilder json = new StringBuilder("[");

		for (Object value : values)
			json.append(json.length() > 1 ? ", " : "").append(describe(value));
		return json.append(']').toString();
	}

	private static String name(Class<?> c) {
		return c.isArray() ? name(c.getComponentType()) + "[]" : c.getName();
	}

	private static String identity(Object value) {
		return quoted(name(value.getClass()) + '@' + Integer.toHexString(System.identityHashCode(value)));
	}

	/** An exception is reported with its message. */
	private static String message(Throwable t) {
		String message = t instanceof TouchyException ? ((TouchyException) t).message : t.getMessage();

		return t.getClass().getName() + (message == null ? "" : ": " + message);
	}

	private static String describe(Object value) {
		if (value == null)
			return "null";
		if (value instanceof Float && (((Float) value).isNaN() || ((Float) value).isInfinite())
				|| value instanceof Double && !(Math.abs((Double) value) < Double.POSITIVE_INFINITY))
			return quoted(value.toString());
		if (value instanceof Float) /* exact value */
			return Double.toString((Float) value);
		if (value instanceof Number || value instanceof Boolean)
			return value.toString();
		if (value instanceof Character || value instanceof String)
			return quoted(value.toString());
		if (value instanceof Enum)
			return quoted(((Enum<?>) value).name());
		if (!value.getClass().isArray())
			return identity(value);
		StringBuilder json = new StringBuilder("{\"class\": " + quoted(name(value.getClass()))
			+ ", \"length\": " + Array.getLength(value) + ", \"elements\": [");
		for (int i = 0; i < Array.getLength(value); i++) {
			Object element = Array.get(value, i);
			boolean deep = element != null && element.getClass().isArray();
			json.append(i > 0 ? ", " : "").append(deep ? identity(element) : describe(element));
		}
		return json.append("]}").toString();
	}

	private static String log(String file, int n, int threads, boolean virtually) throws Exception {
		CountDownLatch begin = new CountDownLatch(1);
		List<Log> logs = new ArrayList<>();
		List<Thread> all = new ArrayList<>();
		int lines = 0;

		for (int i = 0; i < threads; i++) {
			Log log = new Log(i * 7919L + n, n, begin);
			Thread t;
			if (virtually) {
				t = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
					.invoke(null, log);
			} else {
				t = new Thread(log, "caller \u00e4 " + i);
				t.start();
			}
			logs.add(log);
			all.add(t);
		}
		begin.countDown();
		for (Thread t : all)
			t.join();
		try (Writer out = Files.newBufferedWriter(Paths.get(file), StandardCharsets.UTF_8)) {
			for (Log log : logs) {
				lines += log.lines.size();
				for (String line : log.lines)
					out.write(line + "\n");
			}
		}
		return "logged " + lines;
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");
		switch (words[0]) {
		case "log":
		case "virtual":
			return log(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]),
				words[0].equals("virtual"));
		case "touched":
			return "touched " + TOUCHED;
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		log("/dev/null", 200, 1, false);
		TOUCHED.set(0);
		new TraceValues().serve();
	}
}
