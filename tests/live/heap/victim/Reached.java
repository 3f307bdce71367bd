import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** One class for each way in which an object can be reachable; the names of the referrers say
 * which. */
final class Reached extends Victim {
	private static final int MANY = 1000, MILLION = 1000000;

	interface Marked {
	}

	static class ByStatic implements Marked {
	}

	static final class Special extends ByStatic {
	}

	static final class ByLocal {
	}

	static final class ByPool {
	}

	static final class ByThreadLocal {
	}

	static final class ByWeak {
	}

	static final class BySoft {
	}

	static final class ByHashMap {
	}

	static final class ByTreeMap {
	}

	static final class ByArrayList {
	}

	static final class ByConcurrentMap {
	}

	static final class ByLinkedList {
	}

	static final class ByArray {
	}

	static final class ByLambda {
	}

	static final class ByNothing {
	}

	static final class Outer {
		final class Inner {
		}
	}

	public static final class Twin {
		public Twin() {
		}
	}

	/** The loader of one application. */
	static final class Shop extends ClassLoader {
		Class<?> define(String name) throws Exception {
			byte[] bytes = renamed(name);

			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	static final class Holder {
		static ByStatic one = new ByStatic();
		static final Special SPECIAL = new Special();
		static final Map<Object, Object> HASH = new HashMap<>(), TREE = new TreeMap<>(),
				CONCURRENT = new ConcurrentHashMap<>();
		static final List<Object> ARRAY = new ArrayList<>(), LINKED = new LinkedList<>(),
				REFERENCES = new ArrayList<>(), LEAKED = new ArrayList<>();
		static final Object[][] CUBE = new Object[3][MANY];
		static Outer.Inner inner = new Outer().new Inner();
		static Supplier<Object> supplier = supplier(new ByLambda());
		static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();
		static Object hostile;
	}

	static Supplier<Object> supplier(ByLambda captured) {
		return () -> captured;
	}

	/** The class file of Twin with another name of the same length. */
	private static byte[] renamed(String name) throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();

		try (InputStream in = Twin.class.getResourceAsStream("/Reached$Twin.class")) {
			for (int b = in.read(); b >= 0; b = in.read())
				bytes.write(b);
		}
		return new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1)
				.replace("Reached$Twin", name).getBytes(StandardCharsets.ISO_8859_1);
	}

	private static void fill() {
		for (int i = 0; i < MANY; i++) {
			Holder.HASH.put(new Object(), new ByHashMap());
			Holder.TREE.put(i, new ByTreeMap());
			Holder.CONCURRENT.put(i, new ByConcurrentMap());
			Holder.ARRAY.add(new ByArrayList());
			Holder.CUBE[i % 3][i] = new ByArray();
		}
		extend(MANY);
		Holder.REFERENCES.add(new SoftReference<>(new BySoft()));
	}

	private static void extend(int n) {
		for (int i = 0; i < n; i++)
			Holder.LINKED.add(new ByLinkedList());
	}

	private static void waitWith(Object kept, CountDownLatch ready) {
		CountDownLatch never = new CountDownLatch(1);

		ready.countDown();
		try {
			never.await();
		} catch (InterruptedException e) {
			System.out.println(kept);
		}
	}

	private static void start(String name, Runnable body) {
		Thread thread = new Thread(body, name);

		thread.setDaemon(true);
		thread.start();
	}

	private static Object twinOf(Shop shop) {
		try {
			return shop.define("Reached$Twin").getDeclaredConstructor().newInstance();
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	@Override
	String answer(String line) {
		if (line.equals("weak"))
			Holder.REFERENCES.add(new WeakReference<>(new ByWeak()));
		else if (line.equals("million"))
			extend(MILLION - MANY);
		else
			return null;
		return "done " + line;
	}

	public static void main(String[] args) throws Exception {
		CountDownLatch ready = new CountDownLatch(6);

		fill();
		start("keeper of one", () -> waitWith(new ByLocal(), ready));
		for (int i = 1; i <= 3; i++)
			start("pool-1-thread-" + 9 * i, () -> waitWith(new ByPool(), ready));
		start("worker", () -> {
			Holder.LOCAL.set(new ByThreadLocal());
			waitWith(null, ready);
		});
		start("forgetful", () -> {
			Holder.LOCAL.set(twinOf(new Shop()));
			waitWith(null, ready);
		});
		for (int i = 0; i < 2; i++)
			Holder.LEAKED.add(twinOf(new Shop()));
		Holder.hostile = new Shop().define("Rea\u001b\"\nd$Twin").getDeclaredConstructor()
				.newInstance();
		ready.await();
		Class.forName("Reached$ByNothing");
		System.gc();
		new Reached().serve();
	}
}
