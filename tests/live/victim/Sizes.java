import java.io.File;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Objects of every kind whose size is difficult to compute: fields that leave gaps, fields that the
 * JVM adds or stores elsewhere, static fields of all types, and all kinds of threads.
 */
final class Sizes extends Victim {
	static class A { byte a; }
	static class B extends A { long b; }
	static class C extends B { byte c; short d; Object e; }
	static class D extends C { int f; boolean g, h, i; char j; double k; }
	static class E extends D { Object l; byte m; long n; float o; Object p; short q; }
	static class F { Object a; }
	static class G extends F { byte b; }
	static class H extends G { Object c; byte d; }
	static class I extends H { long e; }
	static class J { boolean a, b, c; }
	static class K extends J { short d; }
	static class L extends K { int e; byte f; }
	static class M extends L { long g; byte h; Object i; }
	static class N { long a; }
	static class O extends N { byte b; }
	static class P extends O { byte c; Object d; }
	static class Q { short a, b, c; }
	static class R extends Q { Object d; byte e; short f; }

	static class S1 { static long a; static byte b; static Object c; }
	static class S2 { static Object a, b; static short c; static int d; static long e; static char f; }
	static class S3 { static boolean a, b, c; static Object d; }
	static class S4 { static int a; static long b = System.nanoTime(); static double c; }
	static class S5 extends S4 { static final String A = "a"; static final long B = 5; static byte c; }

	private final List<Object> kept = new ArrayList<Object>();
	private final LongAdder adder = new LongAdder();
	private final ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<Integer, Integer>();

	private void shapes() throws Exception {
		Class<?>[] all = { A.class, B.class, C.class, D.class, E.class, F.class, G.class,
			H.class, I.class, J.class, K.class, L.class, M.class, N.class, O.class, P.class,
			Q.class, R.class, S1.class, S2.class, S3.class, S4.class, S5.class };

		for (Class<?> c : all) {
			for (int i = 0; i < 3; i++)
				kept.add(c.getDeclaredConstructor().newInstance());
		}
		for (int n = 0; n < 40; n++) {
			kept.add(new byte[n]);
			kept.add(new char[n]);
			kept.add(new int[n]);
			kept.add(new long[n]);
			kept.add(new boolean[n][n % 3]);
			kept.add(new double[n]);
			kept.add(new Object[n]);
		}
	}

	private void references() {
		ReferenceQueue<Object> queue = new ReferenceQueue<Object>();

		kept.add(new WeakReference<Object>(kept));
		kept.add(new SoftReference<Object>(kept));
		kept.add(new PhantomReference<Object>(kept, queue));
		kept.add(queue);
	}

	private void library() throws Exception {
		MethodHandles.Lookup lookup = MethodHandles.lookup();

		kept.add(lookup.findVirtual(String.class, "length", MethodType.methodType(int.class)));
		kept.add(lookup.unreflect(Sizes.class.getDeclaredMethod("park")));
		kept.add(Pattern.compile("(a+)|[^b]*?"));
		kept.add(new InternalError("kept"));
		kept.add(new java.net.URLClassLoader(new java.net.URL[0]));
		kept.add(new File("/").toPath());
		kept.add((Runnable) () -> kept.clear());
		for (Object e : new Exception("a").getStackTrace())
			kept.add(e);
	}

	/** Makes the adder and the map create counter cells, which the JVM pads. */
	private void contend() throws Exception {
		Thread[] threads = new Thread[4];

		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				for (int i = 0; i < 20000; i++) {
					adder.increment();
					map.put(i, i);
					map.remove(i);
				}
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		Exchanger<Object> exchanger = new Exchanger<Object>();
		kept.add(exchanger);
		try {
			exchanger.exchange(this, 1, TimeUnit.MILLISECONDS);
		} catch (TimeoutException e) {
			kept.add(e);
		}
		ForkJoinPool pool = new ForkJoinPool(2);
		pool.submit(() -> kept.size()).get();
		kept.add(pool);
	}

	private static void park() {
		for (;;)
			LockSupport.park();
	}

	/** Starts named threads, and virtual ones if available; by reflection, because the source
	 * is compiled for JDK 8. */
	private void threads() throws Exception {
		for (int i = 0; i < 3; i++) {
			Thread t = new Thread(Sizes::park, "parked \u00e4\u00f6\u00fc \u65e5\u672c " + i);
			t.setDaemon(true);
			t.start();
			kept.add(t);
		}
		try {
			for (int i = 0; i < 5; i++)
				kept.add(Thread.class.getMethod("startVirtualThread", Runnable.class)
						.invoke(null, (Runnable) Sizes::park));
		} catch (ReflectiveOperationException | UnsupportedOperationException e) {
			kept.add(e.getClass());
		}
	}

	public static void main(String[] args) throws Exception {
		Sizes sizes = new Sizes();

		sizes.shapes();
		sizes.references();
		sizes.library();
		sizes.contend();
		sizes.threads();
		sizes.serve();
	}
}
