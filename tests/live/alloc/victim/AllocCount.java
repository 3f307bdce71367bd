import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Allocates objects in every possible way, and counts them: "run PHASE N" runs a phase N times.
 * "counts" answers the number of allocations since "clear": "own" for classes of which only this
 * program has objects, and "jdk" for its objects of JDK classes, of which other code allocates
 * some, too. "keep 1" retains the "own" objects from now on. "phases" answers the phases' names,
 * "all N" runs all of them, and "jdk N" those whose JDK objects are counted completely.
 *
 * With an argument N it runs all phases before READY, and counts since its start.
 */
final class AllocCount extends Victim {
	private static final Map<String, LongAdder> OWN = new ConcurrentHashMap<>();
	private static final Map<String, LongAdder> JDK = new ConcurrentHashMap<>();
	private static final List<Object> KEPT = new ArrayList<>();
	private static final Object[] RING = new Object[64];
	private static volatile boolean keeps;
	private static volatile long finalized;
	private static volatile long toFinalize;

	/* The allocated classes. */

	static class Plain {
		int a;
		Object b;

		Plain() {
		}

		Plain(int a) {
			this.a = a;
		}
	}

	static class Sub extends Plain {
		long c;

		Sub(int a) {
			super(a);
		}
	}

	static final class SubSub extends Sub {
		byte d;

		SubSub() {
			super(3);
		}
	}

	static final class Chain {
		final int a;

		Chain() {
			this(1);
		}

		Chain(int a) {
			this(a, 2);
		}

		Chain(int a, int b) {
			this.a = a + b;
		}
	}

	/** Its constructor allocates two more trees, down to a depth. */
	static final class Tree {
		Tree left, right;

		Tree(int depth) {
			if (depth > 0) {
				left = new Tree(depth - 1);
				right = new Tree(depth - 1);
			}
		}
	}

	static class Holder {
		final Object held;

		Holder(Object held) {
			this.held = held;
		}
	}

	/** Allocates another Before in the arguments of super(). */
	static final class Before extends Holder {
		Before(int depth) {
			super(depth > 0 ? new Before(depth - 1) : null);
		}
	}

	static final class Throws {
		Throws() {
			keep(this);
			throw new Oops("thrown by a constructor");
		}
	}

	static final class Oops extends RuntimeException {
		Oops(String message) {
			super(message);
		}
	}

	static class Cloned implements Cloneable {
		int a;

		@Override
		public Cloned clone() throws CloneNotSupportedException {
			return (Cloned) super.clone();
		}
	}

	/** Inherits clone(). */
	static final class ClonedChild extends Cloned {
		long b;
	}

	/** Calls super.clone(). */
	static class ClonedOver extends Cloned {
		@Override
		public ClonedOver clone() throws CloneNotSupportedException {
			ClonedOver it = (ClonedOver) super.clone();
			it.a++;
			return it;
		}
	}

	static final class ClonedTwice extends ClonedOver {
		Object c;

		@Override
		public ClonedTwice clone() throws CloneNotSupportedException {
			return (ClonedTwice) super.clone();
		}
	}

	/** clone() calls a constructor. */
	static final class Copied implements Cloneable {
		@Override
		public Object clone() {
			return new Copied();
		}
	}

	/** Cannot be cloned. */
	static final class Single {
		Object another() throws CloneNotSupportedException {
			return super.clone();
		}
	}

	interface Copyable<T> {
		T clone();
	}

	static final class ByInterface implements Cloneable, Copyable<Object> {
		@Override
		public Object clone() {
			try {
				return super.clone();
			} catch (CloneNotSupportedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static final class Hidden {
		private Hidden() {
		}

		static Hidden make() {
			return new Hidden();
		}
	}

	static final class Bare {
		int set = 1;

		Bare() {
		}
	}

	static final class Raw {
		int set = 1;
	}

	static class NotSaved {
		NotSaved() {
		}
	}

	static final class Saved extends NotSaved implements Serializable {
		private static final long serialVersionUID = 1;
		int a;
		Saved next;
	}

	public static final class Written implements Externalizable {
		private static final long serialVersionUID = 1;

		public Written() {
		}

		@Override
		public void writeExternal(ObjectOutput out) {
		}

		@Override
		public void readExternal(ObjectInput in) {
		}
	}

	enum Color { RED, GREEN, BLUE }

	static final class Final {
		@Override
		@SuppressWarnings("deprecation")
		protected void finalize() {
			synchronized (RING) {
				finalized++;
			}
		}
	}

	final class Inner {
		final int a;

		Inner(int a) {
			this.a = a;
		}
	}

	/* Counting. */

	private static void count(Map<String, LongAdder> map, String name, long n) {
		map.computeIfAbsent(name, key -> new LongAdder()).add(n);
	}

	private static String nameOf(Class<?> c) {
		return c.isArray() ? nameOf(c.getComponentType()) + "[]" : c.getName();
	}

	static void own(Class<?> c, long n) {
		count(OWN, nameOf(c), n);
	}

	/** Compiled or native code allocates objects of this class without a hook: up to n may be
	 * missing in the profile. */
	private static void unseen(Class<?> c, long n) {
		count(OWN, nameOf(c) + "?", n);
	}

	static void jdk(Class<?> c, long n) {
		count(JDK, nameOf(c), n);
	}

	/** Makes an object reachable, for a while or permanently. */
	static void keep(Object o) {
		if (keeps) {
			synchronized (KEPT) {
				KEPT.add(o);
			}
		} else {
			RING[System.identityHashCode(o) & 63] = o;
		}
	}

	/* The ways to allocate. */

	interface Phase {
		void run(int n) throws Exception;
	}

	private static void plain(int n) {
		for (int i = 0; i < n; i++)
			keep(new Plain());
		own(Plain.class, n);
	}

	private static void subclasses(int n) {
		for (int i = 0; i < n; i++) {
			keep(new Sub(i));
			keep(new SubSub());
			keep(new Plain(i));
		}
		own(Sub.class, n);
		own(SubSub.class, n);
		own(Plain.class, n);
	}

	private static void chains(int n) {
		for (int i = 0; i < n; i++) {
			keep(new Chain());
			keep(new Chain(1, 2));
		}
		own(Chain.class, 2L * n);
	}

	private static void nested(int n) {
		for (int i = 0; i < n; i++) {
			keep(new Tree(3));
			keep(new Before(2));
		}
		own(Tree.class, 15L * n);
		own(Before.class, 3L * n);
	}

	private static void thrown(int n) {
		for (int i = 0; i < n; i++) {
			try {
				keep(new Throws());
			} catch (Oops e) {
				keep(e);
			}
		}
		own(Throws.class, n);
		own(Oops.class, n);
	}

	private static void primitives(int n) {
		for (int i = 0; i < n; i++) {
			int length = i % 9;
			keep(new boolean[][] { new boolean[length] });
			keep(new byte[][][] { { new byte[length] } });
			keep(new char[][][] { { new char[length] } });
			keep(new short[length]);
			keep(new int[][][] { { new int[length] } });
			keep(new long[][][] { { new long[length] } });
			keep(new float[length]);
			keep(new double[length]);
		}
		own(boolean[][].class, n);
		jdk(boolean[].class, n);
		own(byte[][][].class, n);
		jdk(byte[][].class, n);
		jdk(byte[].class, n);
		own(char[][][].class, n);
		jdk(char[][].class, n);
		jdk(char[].class, n);
		jdk(short[].class, n);
		own(int[][][].class, n);
		jdk(int[][].class, n);
		jdk(int[].class, n);
		own(long[][][].class, n);
		jdk(long[][].class, n);
		jdk(long[].class, n);
		jdk(float[].class, n);
		jdk(double[].class, n);
	}

	private static void references(int n) {
		for (int i = 0; i < n; i++) {
			keep(new Plain[i % 5]);
			keep(new Plain[0]);
			keep(new Plain[3][]);
			keep(new Chain[2 + i % 3]);
		}
		own(Plain[].class, 2L * n);
		own(Plain[][].class, n);
		own(Chain[].class, n);
	}

	private static void dimensions(int n) {
		for (int i = 0; i < n; i++) {
			keep(new short[2][3][4]);
			keep(new float[3][2][]);
			keep(new double[0][5][]);
			keep(new double[2][0][7]);
			keep(new Plain[2][2]);
			keep(new Chain[i % 3][1][2][]);
			keep(new long[1][2][3][1 + i % 2]);
		}
		long inner = 0;
		for (int i = 0; i < n; i++)
			inner += i % 3;
		own(short[][][].class, n);
		own(short[][].class, 2L * n);
		jdk(short[].class, 6L * n);
		own(float[][][].class, n);
		own(float[][].class, 3L * n);
		own(double[][][].class, 2L * n);
		own(double[][].class, 2L * n);
		own(Plain[][].class, n);
		own(Plain[].class, 2L * n);
		own(Chain[][][][].class, n);
		own(Chain[][][].class, inner);
		own(Chain[][].class, inner);
		own(long[][][][].class, n);
		own(long[][][].class, n);
		jdk(long[][].class, 2L * n);
		jdk(long[].class, 6L * n);
	}

	private static void negative(int n) {
		for (int i = 0; i < n; i++) {
			try {
				keep(new Plain[-1 - i][2]);
			} catch (NegativeArraySizeException e) {
				keep(e);
			}
		}
	}

	private static void clones(int n) throws Exception {
		Cloned cloned = new Cloned();
		Cloned child = new ClonedChild();
		Cloned over = new ClonedOver();
		ClonedTwice twice = new ClonedTwice();
		Copied copied = new Copied();
		ByInterface by = new ByInterface();
		Copyable<Object> seen = by;
		Single single = new Single();

		for (Object o : Arrays.asList(cloned, child, over, twice, copied, by, single)) {
			own(o.getClass(), 1);
			keep(o);
		}
		for (int i = 0; i < n; i++) {
			keep(cloned.clone());
			keep(child.clone());
			keep(over.clone());
			keep(twice.clone());
			keep(((Cloned) twice).clone());
			keep(copied.clone());
			keep(seen.clone());
			keep(by.clone());
		}
		for (int i = 0; i < Math.min(n, 100); i++) {
			try {
				keep(single.another());
			} catch (CloneNotSupportedException e) {
				keep(e);
			}
		}
		own(Cloned.class, n);
		own(ClonedChild.class, n);
		own(ClonedOver.class, n);
		own(ClonedTwice.class, 2L * n);
		own(Copied.class, n);
		own(ByInterface.class, 2L * n);
	}

	private static void arrayClones(int n) {
		Plain[] plains = new Plain[3];
		short[][] shorts = new short[2][];
		long[] longs = new long[4];

		own(Plain[].class, 1);
		own(short[][].class, 1);
		jdk(long[].class, 1);
		keep(plains);
		keep(shorts);
		keep(longs);
		for (int i = 0; i < n; i++) {
			keep(plains.clone());
			keep(shorts.clone());
			keep(longs.clone());
			keep(Color.values());
		}
		own(Plain[].class, n);
		own(short[][].class, n);
		jdk(long[].class, n);
		own(Color[].class, n);
	}

	private static <T> T[] generic(T[] array) {
		return array.clone();
	}

	/** Before JDK 11 such a handle accepts only objects of the class that looks it up. */
	private static MethodHandle arrayClone() throws Exception {
		MethodHandle clone = MethodHandles.lookup().findVirtual(Single[].class, "clone",
			MethodType.methodType(Object.class));

		own(Single[].class, 1);
		try {
			Single[] singles = new Single[0];
			keep(singles);
			keep((Object) clone.invoke(singles));
			unseen(Single[].class, 1);
			return clone;
		} catch (ClassCastException e) {
			return null;
		} catch (Throwable e) {
			throw new IllegalStateException(e);
		}
	}

	private static void genericClones(int n) throws Exception {
		Chain[] chains = new Chain[2];
		MethodHandle clone = arrayClone();

		Single[] singles = new Single[2];

		own(Chain[].class, 1);
		own(Single[].class, 1);
		keep(chains);
		keep(singles);
		try {
			for (int i = 0; i < n; i++) {
				keep(generic(chains));
				if (clone != null)
					keep((Object) clone.invoke(singles));
			}
		} catch (Throwable e) {
			throw new IllegalStateException(e);
		}
		own(Chain[].class, n);
		if (clone != null)
			unseen(Single[].class, n);
	}

	@SuppressWarnings("deprecation")
	private static void reflection(int n) throws Exception {
		Constructor<Sub> sub = Sub.class.getDeclaredConstructor(int.class);
		Constructor<Hidden> hidden = Hidden.class.getDeclaredConstructor();
		Method make = Hidden.class.getDeclaredMethod("make");

		hidden.setAccessible(true);
		for (int i = 0; i < n; i++) {
			keep(Plain.class.newInstance());
			keep(sub.newInstance(5));
			keep(hidden.newInstance());
			keep(make.invoke(null));
		}
		for (int i = 0; i < Math.min(n, 100); i++) {
			try {
				keep(Throws.class.getDeclaredConstructor().newInstance());
			} catch (InvocationTargetException e) {
				keep(e.getCause());
				own(Throws.class, 1);
				own(Oops.class, 1);
			}
		}
		own(Plain.class, n);
		own(Sub.class, n);
		own(Hidden.class, 2L * n);
	}

	static int thousand() {
		return 1000;
	}

	private static void boxing(int n) throws Exception {
		Method thousand = AllocCount.class.getDeclaredMethod("thousand");
		Field set = Bare.class.getDeclaredField("set");
		Bare bare = new Bare();

		own(Bare.class, 1);
		keep(bare);
		bare.set = 1000;
		for (int i = 0; i < n; i++) {
			keep(thousand.invoke(null));
			keep(set.get(bare));
		}
		jdk(Integer.class, 2L * n);
	}

	private static void handles(int n) throws Exception {
		MethodHandle plain = MethodHandles.lookup().findConstructor(Plain.class,
			MethodType.methodType(void.class));
		MethodHandle sub = MethodHandles.lookup().findConstructor(Sub.class,
			MethodType.methodType(void.class, int.class));

		try {
			for (int i = 0; i < n; i++) {
				keep((Plain) plain.invokeExact());
				keep((Object) sub.invoke(i));
			}
		} catch (Throwable e) {
			throw new IllegalStateException(e);
		}
		own(Plain.class, n);
		own(Sub.class, n);
	}

	/** Allocates without a constructor. */
	private static void unsafe(int n) throws Exception {
		Class<?> c = Class.forName("sun.misc.Unsafe");
		Field field = c.getDeclaredField("theUnsafe");
		Method allocate = c.getMethod("allocateInstance", Class.class);

		field.setAccessible(true);
		Object it = field.get(null);
		for (int i = 0; i < n; i++) {
			Raw raw = (Raw) allocate.invoke(it, Raw.class);
			if (raw.set != 0)
				throw new IllegalStateException("its constructor ran");
			keep(raw);
		}
		/* JDK 8: at first, reflection itself calls the native method. */
		int first = Modifier.isNative(allocate.getModifiers()) ? Math.min(n, 16) : 0;
		own(Raw.class, n - first);
		unseen(Raw.class, first);
	}

	private static void arrayNew(int n) {
		for (int i = 0; i < n; i++) {
			keep(Array.newInstance(Chain.class, i % 4));
			keep(Array.newInstance(Plain[].class, 2));
			keep(Array.newInstance(short.class, 2, 3));
			keep(Array.newInstance(Sub.class, 2, 2));
			keep(Array.newInstance(float[].class, 1));
		}
		own(Chain[].class, n);
		own(Plain[][].class, n);
		own(short[][].class, n);
		jdk(short[].class, 2L * n);
		own(Sub[][].class, n);
		own(Sub[].class, 2L * n);
		own(float[][].class, n);
	}

	private static void copies(int n) {
		Plain[] plains = new Sub[2];
		Object[] objects = new Object[] { null, null };
		List<Plain> list = new ArrayList<>();
		LinkedList<Plain> linked = new LinkedList<>();

		for (int i = 0; i < 3; i++) {
			list.add(null);
			linked.add(null);
		}
		own(Sub[].class, 1);
		keep(plains);
		for (int i = 0; i < n; i++) {
			keep(Arrays.copyOf(plains, 5));
			keep(Arrays.copyOf(objects, i % 3, Chain[].class));
			keep(Arrays.copyOfRange(plains, 1, 2));
			keep(Arrays.copyOfRange(objects, 0, 2, Tree[].class));
			keep(Arrays.copyOf(new float[1], 3));
			keep(Arrays.copyOfRange(new double[3], 1, 2));
			Plain[] none = new Plain[0];
			keep(none);
			keep(list.toArray(none));
			keep(list.toArray(new Plain[3]));
			Plain[] one = new Plain[1];
			keep(one);
			keep(linked.toArray(one));
		}
		own(Sub[].class, 2L * n);
		own(Chain[].class, n);
		own(Tree[].class, n);
		jdk(float[].class, 2L * n);
		jdk(double[].class, 2L * n);
		own(Plain[].class, 5L * n); /* per round: toArray() allocates two of these */
	}

	private static void boxes(int n) {
		for (int i = 0; i < n; i++) {
			keep(Integer.valueOf(1000 + i));
			keep(Long.valueOf(1000 + i));
			keep(Double.valueOf(i));
			Object character = (char) (1000 + i % 1000);
			keep(character);
			Object number = (short) (1000 + i % 1000);
			keep(number);
		}
		jdk(Integer.class, n);
		jdk(Long.class, n);
		jdk(Double.class, n);
		jdk(Character.class, n);
		jdk(Short.class, n);
	}

	private static void strings(int n) {
		char[] chars = "characters".toCharArray();
		String text = new String(chars);

		for (int i = 0; i < n; i++) {
			keep(new String(chars));
			keep(new String(chars, 1, 4));
			keep(new String(text));
			keep(text.substring(1 + i % 3));
			keep(text.concat("x"));
			keep(text.replace('c', 'd'));
			keep(text.toUpperCase());
		}
		jdk(String.class, 7L * n + 1);
	}

	private static void concatenated(int n) {
		String text = "text";

		for (int i = 0; i < n; i++) {
			keep(text + i);
			keep(text + i + "and" + n);
			keep(new StringBuilder(text).append(i).append('x').toString());
			keep(String.valueOf(1000 + i));
		}
		jdk(String.class, 4L * n);
		jdk(StringBuilder.class, 3L * n);
	}

	private static void serial(int n) throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		Object[] all = new Object[] { new Saved(), new Saved(), new Written(), new short[1][2] };

		((Saved) all[0]).next = new Saved();
		keep(all);
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(all);
		}
		for (int i = 0; i < n / 100 + Math.min(n, 1); i++) {
			try (ObjectInputStream in = new ObjectInputStream(
					new ByteArrayInputStream(bytes.toByteArray()))) {
				keep(in.readObject());
			}
			own(Saved.class, 3);
			own(Written.class, 1);
			own(short[][].class, 1);
		}
		own(Saved.class, 3);
		own(Written.class, 1);
		own(short[][].class, 1);
	}

	private static void lambdas(int n) {
		for (int i = 0; i < n; i++) {
			int captured = i;
			Supplier<Integer> lambda = () -> captured;
			keep(lambda);
			IntFunction<Plain[]> maker = Plain[]::new;
			keep(maker.apply(1));
			Plain plain = new Plain();
			Supplier<String> bound = plain::toString;
			keep(bound);
		}
		count(OWN, "AllocCount$$Lambda*", 2L * n);
		own(Plain.class, n);
		own(Plain[].class, n);
	}

	private static int many(Plain... plains) {
		keep(plains);
		return plains.length;
	}

	private static void varargs(int n) {
		for (int i = 0; i < n; i++) {
			many();
			many(null, null);
		}
		own(Plain[].class, 2L * n);
	}

	private static int divide(int a, int b) {
		return a / b;
	}

	/** A few only: after many throws, compiled code throws a preallocated exception. */
	private static void exceptions(int n) {
		int elements = 0;

		for (int i = 0; i < Math.min(n, 200); i++) {
			try {
				keep(divide(i, 0));
			} catch (ArithmeticException e) {
				keep(e);
			}
			Oops oops = new Oops("made");
			keep(oops);
			keep(oops.getStackTrace());
			elements += oops.getStackTrace().length;
		}
		jdk(StackTraceElement.class, elements);
		own(Oops.class, Math.min(n, 200));
		jdk(ArithmeticException.class, Math.min(n, 200));
	}

	private void inner(int n) {
		class Local {
			int a = n;
		}

		for (int i = 0; i < n; i++) {
			keep(new Inner(i));
			keep(new Local());
			keep(new Object() {
				int b = n;
			});
			keep(new Chain[] { new Chain() });
		}
		own(Inner.class, n);
		own(Local.class, n);
		count(OWN, "AllocCount$1", n);
		own(Chain[].class, n);
		own(Chain.class, n);
	}

	private static void collections(int n) {
		List<Object> list = new ArrayList<>();
		LinkedList<Object> linked = new LinkedList<>();
		Map<Integer, Object> map = new HashMap<>();
		Map<Integer, Object> tree = new TreeMap<>();

		for (int i = 0; i < n; i++) {
			list.add(list);
			linked.add(list);
			map.put(i - n, list); /* outside the cache of boxes, except for 128 */
			tree.put(i & 127, list);
		}
		keep(list);
		keep(linked);
		keep(map);
		keep(new ArrayList<>(linked).clone());
		count(JDK, "java.util.LinkedList$Node", n);
		count(JDK, "java.util.HashMap$Node", n);
		count(JDK, "java.util.TreeMap$Entry", Math.min(n, 128));
		jdk(Integer.class, Math.max(n - 128, 0));
		/* The same number for any n: */
		jdk(ArrayList.class, 3);
	}

	private static void finals(int n) {
		for (int i = 0; i < n; i++)
			keep(new Final());
		toFinalize += n;
		own(Final.class, n);
		count(JDK, "java.lang.ref.Finalizer", n);
	}

	private static void mixed(int n) throws Exception {
		plain(n);
		nested(n / 4);
		references(n);
		clones(n);
		boxes(n);
		concatenated(n / 4);
	}

	interface Starter {
		Thread start(Runnable task) throws Exception;
	}

	private static void inThreads(int threads, int n, Starter starter) throws Exception {
		Thread[] all = new Thread[threads];
		Throwable[] wrong = new Throwable[1];

		for (int i = 0; i < threads; i++) {
			all[i] = starter.start(() -> {
				try {
					mixed(n);
				} catch (Throwable t) {
					wrong[0] = t;
				}
			});
		}
		for (Thread t : all)
			t.join();
		count(OWN, "AllocCount$$Lambda*", threads);
		if (wrong[0] != null)
			throw new IllegalStateException(wrong[0]);
	}

	private static void threads(int n) throws Exception {
		inThreads(8, n / 8, task -> {
			Thread t = new Thread(task);
			t.start();
			return t;
		});
	}

	private static void virtuals(int n) throws Exception {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

		inThreads(50, n / 50, task -> (Thread) start.invoke(null, task));
	}

	/* Allocation sites.  Each one records its own line number with here(). */

	static int here() {
		return new Throwable().getStackTrace()[1].getLineNumber();
	}

	static final class Line {
	}

	static final class Deep {
		final Object first = new Line[1]; int there = here();
	}

	private static String lines(int n) {
		List<Integer> all = new ArrayList<>();

		for (int i = 0; i < n; i++) {
			keep(new Line()); int a = here();
			keep(new Line[2]); int b = here();
			keep(new Line[1][2]); int c = here();
			keep(new Line[1].clone()); int d = here();
			keep(Array.newInstance(Line.class, 1)); int e = here();
			keep(Arrays.copyOf(new Line[0], 1)); int f = here();
			Deep deep = new Deep(); int g = here();
			if (i == 0)
				all.addAll(Arrays.asList(a, b, c, d, e, f, g, deep.there));
		}
		return "lines " + all.toString().replaceAll("[^0-9 ]", "");
	}

	private final Map<String, Phase> phases = new LinkedHashMap<>();

	private AllocCount() {
		phases.put("plain", AllocCount::plain);
		phases.put("subclasses", AllocCount::subclasses);
		phases.put("chains", AllocCount::chains);
		phases.put("nested", AllocCount::nested);
		phases.put("thrown", n -> thrown(n / 10 + Math.min(n, 1)));
		phases.put("primitives", AllocCount::primitives);
		phases.put("references", AllocCount::references);
		phases.put("dimensions", n -> dimensions(n / 2 + Math.min(n, 1)));
		phases.put("negative", n -> negative(Math.min(n, 100)));
		phases.put("clones", AllocCount::clones);
		phases.put("arrayClones", AllocCount::arrayClones);
		phases.put("genericClones", AllocCount::genericClones);
		phases.put("reflection", AllocCount::reflection);
		phases.put("boxing", AllocCount::boxing);
		phases.put("handles", AllocCount::handles);
		phases.put("unsafe", AllocCount::unsafe);
		phases.put("arrayNew", n -> arrayNew(n / 2 + Math.min(n, 1)));
		phases.put("copies", AllocCount::copies);
		phases.put("boxes", AllocCount::boxes);
		phases.put("strings", AllocCount::strings);
		phases.put("concatenated", AllocCount::concatenated);
		phases.put("serial", AllocCount::serial);
		phases.put("lambdas", AllocCount::lambdas);
		phases.put("varargs", AllocCount::varargs);
		phases.put("exceptions", AllocCount::exceptions);
		phases.put("inner", this::inner);
		phases.put("collections", AllocCount::collections);
		phases.put("finals", n -> finals(n / 10 + Math.min(n, 1)));
		phases.put("threads", AllocCount::threads);
		try {
			Thread.class.getMethod("startVirtualThread", Runnable.class);
			if (!System.getProperty("java.specification.version").matches("19|20"))
				phases.put("virtuals", AllocCount::virtuals);
		} catch (NoSuchMethodException e) {
			RING[0] = e; /* JDKs before 21 have no virtual threads */
		}
	}

	/** The phases in which every further object of a JDK class is counted. */
	private static final String[] OF_THE_JDK = { "primitives", "dimensions", "arrayClones", "boxing",
		"arrayNew", "copies", "boxes", "strings", "concatenated", "exceptions", "collections",
		"finals" };

	private static String json(Map<String, LongAdder> map) {
		StringBuilder out = new StringBuilder();

		for (Map.Entry<String, LongAdder> e : new TreeMap<>(map).entrySet())
			out.append(out.length() > 0 ? ", " : "").append('"').append(e.getKey())
				.append("\": ").append(e.getValue().sum());
		return "{" + out + "}";
	}

	private static void clear() {
		OWN.clear();
		JDK.clear();
		KEPT.clear();
		Arrays.fill(RING, null);
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		switch (words[0]) {
		case "phases":
			return "phases " + String.join(" ", phases.keySet());
		case "run":
			phases.get(words[1]).run(Integer.parseInt(words[2]));
			return "ran " + words[1];
		case "all":
			for (Phase phase : phases.values())
				phase.run(Integer.parseInt(words[1]));
			return "ran all";
		case "jdk":
			for (String phase : OF_THE_JDK)
				phases.get(phase).run(Integer.parseInt(words[1]));
			return "ran jdk";
		case "lines":
			return lines(Integer.parseInt(words[1]));
		case "counts":
			return "counts {\"own\": " + json(OWN) + ", \"jdk\": " + json(JDK) + "}";
		case "keep":
			keeps = words[1].equals("1");
			return "keeps " + words[1];
		case "clear":
			clear();
			return "cleared";
		case "finalized":
			clear();
			System.gc();
			return "finalized " + finalized + " of " + toFinalize;
		case "exit":
			System.exit(0);
			return null;
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		AllocCount it = new AllocCount();

		/* Loads and links all classes that later rounds use. */
		for (Phase phase : it.phases.values()) {
			phase.run(1);
			phase.run(1);
		}
		if (args.length > 0) {
			for (Phase phase : it.phases.values())
				phase.run(Integer.parseInt(args[0]));
		} else {
			lines(1);
			clear();
		}
		it.serve();
	}
}
