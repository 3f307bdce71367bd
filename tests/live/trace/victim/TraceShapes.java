import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Methods with every feature of the language for which javac generates special code. Each method
 * counts its calls and returns. run() calls each once, and returns the results.
 */
final class TraceShapes {
	private static final String ME = "TraceShapes.";

	private final StringBuilder told = new StringBuilder();
	private int state;

	private static void in(String method) {
		TraceCount.in(ME + method);
	}

	private static <T> T out(String method, T value) {
		return TraceCount.out(ME + method, value);
	}

	static final class Trouble extends Exception {
		private static final long serialVersionUID = 1;

		Trouble(String message) {
			super(message);
		}
	}

	/* Recursion. */

	static long fibonacci(int n) {
		in("fibonacci");
		return out("fibonacci", n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
	}

	static boolean even(int n) {
		in("even");
		return out("even", n == 0 || odd(n - 1));
	}

	static boolean odd(int n) {
		in("odd");
		return out("odd", n != 0 && even(n - 1));
	}

	/** Throws at the bottom; some levels catch, wrap and rethrow. */
	static int thrower(int depth) throws Trouble {
		in("thrower");
		if (depth == 0)
			throw new Trouble("bottom");
		try {
			return out("thrower", thrower(depth - 1) + 1);
		} catch (Trouble t) {
			if (depth % 5 == 0)
				return out("thrower", depth);
			throw depth % 2 == 0 ? new Trouble(t.getMessage() + depth) : t;
		}
	}

	/* Handlers. */

	@SuppressWarnings("finally")
	static int finallyReturns(int n) {
		in("finallyReturns");
		try {
			if (n % 2 == 0)
				throw new IllegalStateException("swallowed");
			return 1;
		} finally {
			TraceCount.out(ME + "finallyReturns");
			return n;
		}
	}

	static String nested(int n, List<String> log) {
		in("nested");
		try {
			try {
				try {
					log.add("try " + 12 / (n % 3) + Integer.parseInt(n % 4 == 1 ? "x" : "7"));
				} catch (NumberFormatException e) {
					log.add("number");
					if (n % 5 == 0)
						throw new IllegalArgumentException(e.getMessage(), e);
				} finally {
					log.add("inner");
				}
			} catch (ArithmeticException | IllegalArgumentException e) {
				log.add("outer " + e.getClass().getSimpleName());
				if (n % 6 == 0)
					throw e;
			} finally {
				log.add("finally");
			}
		} catch (RuntimeException e) {
			log.add("last");
			Object o = n % 12 == 0 ? "text" : 1;
			log.add("cast " + (Integer) o); /* may throw out of the method */
		}
		return out("nested", log.toString());
	}

	static int loops(int n) {
		in("loops");
		int sum = 0;
		outer:
		for (int i = 0; i < n; i++) {
			for (int j = 0;; j++) {
				try {
					if (j > i)
						continue outer;
					if (i + j > 20)
						break outer;
					sum += j;
				} finally {
					sum += 3;
				}
			}
		}
		return out("loops", sum);
	}

	static int resources(int n) throws Exception {
		in("resources");
		int[] closed = new int[1];
		try (AutoCloseable a = () -> closed[0]++;
				AutoCloseable b = () -> {
					closed[0] += 2;
					if (n % 2 == 0)
						throw new Trouble("close");
				}) {
			if (n % 3 == 0)
				throw new IllegalStateException("body");
		} catch (IllegalStateException e) {
			return out("resources", closed[0] * 100 + e.getSuppressed().length);
		}
		return out("resources", closed[0]);
	}

	static int stackOverflow(int n) {
		return n + stackOverflow(n + 1);
	}

	static void nothing() {
		in("nothing");
		TraceCount.out(ME + "nothing");
	}

	static int nullPointer(int[] array) {
		in("nullPointer");
		return out("nullPointer", array.length);
	}

	/* Monitors. */

	static synchronized int synchronizedStatic(int n) {
		in("synchronizedStatic");
		if (n % 4 == 3)
			throw new IllegalStateException("held " + Thread.holdsLock(TraceShapes.class));
		return out("synchronizedStatic", n * 2);
	}

	synchronized int synchronizedMethod(int n) {
		in("synchronizedMethod");
		state += n;
		if (n % 3 == 2)
			throw new IllegalStateException("held " + Thread.holdsLock(this));
		return out("synchronizedMethod", n > 0 ? synchronizedMethod(n - 3) : state);
	}

	int synchronizedBlock(Object a, Object b, int n) {
		in("synchronizedBlock");
		synchronized (a) {
			synchronized (b) {
				if (n % 2 == 0)
					throw new IllegalStateException("in two");
				state++;
			}
		}
		return out("synchronizedBlock", state);
	}

	synchronized void waits(int[] turn, int mine) throws InterruptedException {
		in("waits");
		while (turn[0] != mine)
			wait();
		turn[0]++;
		notifyAll();
		TraceCount.out(ME + "waits");
	}

	private int takeTurns() throws InterruptedException {
		in("takeTurns");
		int[] turn = { 0 };
		List<Thread> threads = new ArrayList<>();
		for (int i = 3; i >= 0; i--) {
			int mine = i;
			Thread t = new Thread(() -> {
				try {
					waits(turn, mine);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			});
			t.start();
			threads.add(t);
		}
		for (Thread t : threads)
			t.join();
		return out("takeTurns", turn[0]);
	}

	/** A virtual thread may continue on another carrier. */
	static int parks(int n) {
		in("parks");
		LockSupport.parkNanos(1000);
		if (n % 3 == 0)
			throw new IllegalStateException("parked");
		Thread.yield();
		return out("parks", n);
	}

	/* All kinds of calls. */

	static int varargs(Object first, Object... rest) {
		in("varargs");
		return out("varargs", Arrays.asList(first, rest == null ? -1 : rest.length).hashCode());
	}

	interface Shape extends Comparable<Shape> {
		double area();

		default String shown() {
			TraceCount.in("TraceShapes$Shape.shown");
			return TraceCount.out("TraceShapes$Shape.shown", unit() + area());
		}

		static String unit() {
			TraceCount.in("TraceShapes$Shape.unit");
			return TraceCount.out("TraceShapes$Shape.unit", "cm2 ");
		}

		@Override
		default int compareTo(Shape other) {
			TraceCount.in("TraceShapes$Shape.compareTo");
			return TraceCount.out("TraceShapes$Shape.compareTo", Double.compare(area(), other.area()));
		}
	}

	abstract static class Base<T> {
		abstract T make(T from);

		T twice(T from) {
			TraceCount.in("TraceShapes$Base.twice");
			return TraceCount.out("TraceShapes$Base.twice", make(make(from)));
		}
	}

	static final class Derived extends Base<String> {
		@Override
		String make(String from) { /* a bridge method of the same name calls it */
			TraceCount.in("TraceShapes$Derived.make");
			TraceCount.in("TraceShapes$Derived.make");
			TraceCount.out("TraceShapes$Derived.make");
			return TraceCount.out("TraceShapes$Derived.make", from + "!");
		}
	}

	enum Colour {
		RED {
			@Override
			int weight() {
				return 3;
			}
		},
		GREEN, BLUE;

		int weight() {
			return ordinal();
		}
	}

	static int switches(Colour colour, String text, int n) {
		in("switches");
		int sum = 0;
		switch (colour) {
		case RED:
			sum += 1;
			break;
		case GREEN:
			sum += 2;
		default:
			sum += colour.weight();
		}
		switch (text) {
		case "Aa": /* equal hash codes */
			sum += 10;
			break;
		case "BB":
			sum += 20;
			break;
		case "text 2":
			sum += 30;
			return out("switches", -sum);
		default:
		}
		switch (n) {
		case -2000000000:
			return out("switches", sum * 3);
		case 0:
		case 1:
			sum++;
		case 2:
			sum += 100;
			break;
		case 2000000000:
			throw new IllegalArgumentException("big");
		default:
			sum += 1000;
		}
		return out("switches", sum);
	}

	static long primitives(boolean z, byte b, char c, short s, int i, long j, float f, double d) {
		in("primitives");
		long a = z ? b : c;
		a = a * 31 + (s ^ i) + (j >>> (i & 63)) + (j << s);
		a += (long) f + (long) d + (f > d ? 1 : 0) + (f != f ? 2 : 4);
		int k = i / (s | 1) % 7;
		a += k++ + --k;
		return out("primitives", a);
	}

	static Object[] objects(Object[] a) {
		in("objects");
		Object[] copy = a.clone();
		for (int i = 0; i < copy.length; i++) {
			if (copy[i] instanceof String)
				copy[i] = ((String) copy[i]).length();
			else if (copy[i] instanceof int[])
				((int[]) copy[i])[0]++;
		}
		return out("objects", copy);
	}

	private int lambdas(int n) throws Exception {
		in("lambdas");
		IntUnaryOperator f = x -> x * n + state;
		Supplier<List<String>> make = ArrayList::new;
		Callable<Integer> call = this::counter;
		List<String> names = make.get();
		for (int i = n; i > 0; i--)
			names.add("n" + f.applyAsInt(i));
		Collections.sort(names, (a, b) -> b.compareTo(a));
		return out("lambdas", names.hashCode() + call.call());
	}

	private int counter() {
		in("counter");
		return out("counter", ++state);
	}

	final class Inner {
		private final int value;

		Inner(int value) {
			TraceCount.in("TraceShapes$Inner.<init>");
			this.value = value + state;
			TraceCount.out("TraceShapes$Inner.<init>");
		}

		private int get() {
			TraceCount.in("TraceShapes$Inner.get");
			return TraceCount.out("TraceShapes$Inner.get", value);
		}
	}

	/* Constructors. */

	static class Parent {
		static final String NAME = "TraceShapes$Parent.<init>";
		final int value;

		Parent(int value) {
			TraceCount.in(NAME);
			if (Math.abs(value % 7) == 3) {
				if (this instanceof Child)
					TraceCount.unseen(Child.NAME);
				throw new IllegalStateException("parent " + value);
			}
			this.value = value;
			TraceCount.out(NAME);
		}
	}

	static int checked(int value) {
		in("checked");
		if (value % 5 == 4)
			throw new IllegalArgumentException("argument " + value);
		return out("checked", value);
	}

	static final class Child extends Parent {
		static final String NAME = "TraceShapes$Child.<init>";
		private final int[] more = { 1, 2, 3 };

		/** Throws in the arguments of super(), in super(), or after it. */
		Child(int value) {
			super(checked(TraceCount.in(NAME, value) > 50 ? value * 2 : value > 20 ? value : -value));
			more[0] = value;
			if (value % 11 == 5)
				throw new IllegalStateException("child " + value);
			TraceCount.out(NAME);
		}

		Child(String text, boolean or) {
			this(parsed(text, or));
			more[1] = 7;
			TraceCount.out(NAME);
		}

		private static int parsed(String text, boolean or) {
			TraceCount.in(NAME);
			return or ? text.length() : Integer.parseInt(text);
		}

		static Child make(String text, boolean or) {
			try {
				return new Child(text, or);
			} catch (NumberFormatException | NullPointerException e) {
				throw e; /* thrown by parsed() */
			} catch (RuntimeException e) {
				TraceCount.unseen(NAME);
				throw e;
			}
		}

		Child() {
			this(new Child("12", TraceCount.in(NAME, 1) > 0).more[0] + "", false);
			TraceCount.out(NAME);
		}

		int sum() {
			return value + more[0] + more[1];
		}
	}

	/** Each round initialises it again, by a new loader; the nested class throws. */
	public static class Initialised {
		static final int[] TABLE = new int[10];
		static {
			for (int i = 0; i < TABLE.length; i++)
				TABLE[i] = i * i;
		}

		public static class Fails {
			static final int ZERO = Integer.parseInt("0");
			static final int BAD = 1 / ZERO;
		}
	}

	private static final class OwnLoader extends ClassLoader {
		OwnLoader() {
			super(null);
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			String file = name.replace('.', '/') + ".class";
			try (java.io.InputStream in = TraceShapes.class.getClassLoader()
					.getResourceAsStream(file)) {
				byte[] bytes = new byte[65536];
				int n = 0, got;
				while ((got = in.read(bytes, n, bytes.length - n)) > 0)
					n += got;
				return defineClass(name, bytes, 0, n);
			} catch (java.io.IOException | NullPointerException e) {
				throw new ClassNotFoundException(name);
			}
		}
	}

	private String initialises() {
		in("initialises");
		String text = "";
		ClassLoader loader = new OwnLoader();
		for (String name : new String[] { "", "$Fails", "$Fails" }) {
			try {
				text += Class.forName("TraceShapes$Initialised" + name, true, loader).getName();
			} catch (Throwable t) {
				text += t.getClass();
			}
		}
		return out("initialises", text);
	}

	/* Everything. */

	private interface Step {
		Object take() throws Throwable;
	}

	private void step(Step step) {
		try {
			Object result = step.take();
			told.append(result instanceof Object[] ? Arrays.toString((Object[]) result) : result);
		} catch (Throwable t) {
			tell(told, t);
		}
		told.append('\n');
	}

	/** Appends an exception and the part of its stack that is in these classes. */
	static void tell(StringBuilder told, Throwable t) {
		told.append(t.getClass().getName()).append(' ').append(t.getMessage());
		for (StackTraceElement e : t.getStackTrace()) {
			String c = e.getClassName();
			if (!c.startsWith("made.") && !c.startsWith("TraceShapes") && !c.startsWith("java.jtool"))
				continue;
			told.append(' ').append(e.getMethodName());
			/* HotSpot moves code with jsr, and then reports a neighbour's line. */
			if (!c.equals("made.M49"))
				told.append(':').append(e.getLineNumber());
		}
		if (t.getCause() != null)
			tell(told.append(" by "), t.getCause());
	}

	private String overflow() {
		try {
			return "none " + stackOverflow(0);
		} catch (StackOverflowError e) {
			return "overflow";
		}
	}

	String run(boolean all) throws Exception {
		step(() -> fibonacci(12) + " " + even(30) + odd(8));
		for (int i = 0; i < 14; i++) {
			int n = i;
			step(() -> thrower(n));
			step(() -> finallyReturns(n));
			step(() -> nested(n, new ArrayList<>()));
			step(() -> loops(n));
			step(() -> resources(n));
			step(() -> synchronizedStatic(n));
			step(() -> synchronizedMethod(n));
			step(() -> synchronizedBlock(this, "a", n));
			step(() -> parks(n));
			step(() -> lambdas(n));
			step(() -> new Inner(n).get());
		}
		step(() -> nullPointer(new int[3]) + nullPointer(null));
		step(() -> {
			nothing();
			return null;
		});
		step(this::initialises);
		if (all) {
			step(this::takeTurns);
			step(this::overflow);
		}
		step(() -> varargs(1) + varargs(1, 2, 3) + varargs("a", (Object[]) null));
		step(() -> {
			Shape one = () -> 1.5, two = () -> 2.5;
			return one.shown() + one.compareTo(two) + two.shown();
		});
		step(() -> new Derived().twice("a"));
		for (Colour colour : Colour.values()) {
			for (String text : new String[] { "Aa", "BB", "C#", "text 2" }) {
				for (int n : new int[] { -2000000000, 0, 1, 2, 3, 2000000000 })
					step(() -> switches(colour, text, n));
			}
		}
		step(() -> primitives(true, (byte) -1, '\uffff', (short) 9, 1 << 30, 1L << 40, 1e30f, -1e300));
		step(() -> primitives(false, (byte) 1, 'x', (short) -9, -7, -1, Float.NaN, Double.NaN));
		step(() -> objects(new Object[] { "a", new String[2], 4, null }).length);
		step(() -> objects(new Object[] { "abc", 'c', 4L, null }));
		for (int i = 0; i < 70; i++) {
			int n = i;
			step(() -> new Child(n).sum());
			step(() -> Child.make(n % 9 == 8 ? "x" : "" + n, n % 2 == 0).sum());
		}
		step(() -> new Child().sum());
		step(() -> Child.make(null, true).sum());
		return told.toString();
	}
}
