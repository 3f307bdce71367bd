import java.lang.reflect.Constructor;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Loads a class again and again, each time with a new loader; the class allocates arrays and
 * objects. "loads N" does so N times, in two threads, and answers the counts.
 */
final class AllocLoads extends Victim {
	static volatile Object sink;

	static final class Maker implements Callable<Object> {
		@Override
		public Object call() throws Exception {
			Object[] all = new Object[60];

			for (int i = 0; i < 10; i++) {
				all[6 * i] = new long[2][3][1];
				all[6 * i + 1] = new Maker[i];
				all[6 * i + 2] = new Maker[1].clone();
				all[6 * i + 3] = new Part(i);
				all[6 * i + 4] = java.lang.reflect.Array.newInstance(float.class, 1, 2, 3);
				all[6 * i + 5] = new char[1][][];
			}
			return all;
		}
	}

	static final class Part {
		final int a;

		Part(int a) {
			this.a = a;
		}
	}

	private static final class Loader extends ClassLoader {
		private final byte[] maker;
		private final byte[] part;

		Loader(byte[] maker, byte[] part) {
			super(AllocLoads.class.getClassLoader());
			this.maker = maker;
			this.part = part;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			byte[] bytes = name.equals(Maker.class.getName()) ? maker
				: name.equals(Part.class.getName()) ? part : null;

			if (bytes == null)
				return super.loadClass(name, resolve);
			Class<?> found = findLoadedClass(name);
			return found != null ? found : defineClass(name, bytes, 0, bytes.length);
		}
	}

	@SuppressWarnings("unchecked")
	private static void once(byte[] maker, byte[] part) throws Exception {
		Class<?> c = new Loader(maker, part).loadClass(Maker.class.getName(), true);
		Constructor<?> constructor = c.getDeclaredConstructor();

		constructor.setAccessible(true);
		Callable<Object> it = (Callable<Object>) constructor.newInstance();

		if (it.getClass() == Maker.class)
			throw new IllegalStateException("it is not another class");
		sink = it.call();
	}

	private static String loads(int n) throws Exception {
		byte[] maker = Kinds.bytesOf(Maker.class);
		byte[] part = Kinds.bytesOf(Part.class);
		Thread[] threads = new Thread[2];
		AtomicLong done = new AtomicLong();

		for (int t = 0; t < 2; t++) {
			threads[t] = new Thread(() -> {
				try {
					for (int i = 0; i < n / 2; i++) {
						once(maker, part);
						done.incrementAndGet();
					}
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		long k = done.get();
		return "counts {\"own\": {\"AllocLoads$Loader\": " + k + ", \"AllocLoads$$Lambda*\": 2"
			+ ", \"AllocLoads$Maker\": " + k + ", \"AllocLoads$Part\": " + 10 * k
			+ ", \"long[][][]\": " + 10 * k + ", \"AllocLoads$Maker[]\": " + 30 * k
			+ ", \"float[][][]\": " + 10 * k + ", \"float[][]\": " + 10 * k
			+ ", \"char[][][]\": " + 10 * k + "}, \"jdk\": {}}";
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		return words[0].equals("loads") ? loads(Integer.parseInt(words[1])) : null;
	}

	public static void main(String[] args) throws Exception {
		loads(4);
		new AllocLoads().serve();
	}
}
