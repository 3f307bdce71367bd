import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Heaps that are extreme in one way, by N.
 *
 * list: a list of N elements, with a Tail at its end. arrays: three arrays of N elements, with a
 * Tail in the last element of one. threads, virtual: N threads, each with one Held in a local
 * variable.
 *
 * Usage: Extremes list|arrays|threads|virtual N
 */
final class Extremes extends Victim {
	private static final long STACK_BYTES = 256 * 1024;
	private static final int LEAVES = 10;

	private static Object held;
	private static volatile Object sink;

	private static final class Link {
		Object next;
	}

	private static final class Tail {
	}

	private static final class Leaf {
	}

	private static final class Held {
		int value;
	}

	private static final class Arrays {
		final Object[] objects;
		final int[] numbers;
		final byte[] bytes;

		Arrays(int n) {
			Leaf[] leaves = new Leaf[LEAVES];

			objects = new Object[n];
			numbers = new int[n];
			bytes = new byte[n];
			for (int i = 0; i < LEAVES; i++)
				leaves[i] = new Leaf();
			for (int i = 0; i < n; i++)
				objects[i] = leaves[i % LEAVES];
			objects[n - 1] = new Tail();
		}
	}

	private static Object list(int n) {
		Object first = new Tail();

		for (int i = 0; i < n; i++) {
			Link link = new Link();
			link.next = first;
			first = link;
		}
		return first;
	}

	private static Runnable holder(final CountDownLatch ready) {
		return new Runnable() {
			@Override
			public void run() {
				Held local = new Held();

				ready.countDown();
				while (local.value == 0)
					LockSupport.park();
				sink = local;
			}
		};
	}

	private static void startThreads(int n) throws InterruptedException {
		CountDownLatch ready = new CountDownLatch(n);

		for (int i = 0; i < n; i++) {
			Thread thread = new Thread(null, holder(ready), "holder-" + i, STACK_BYTES);
			thread.setDaemon(true);
			thread.start();
		}
		ready.await();
	}

	/** Since JDK 21. They are stored, because nothing else refers to a parked virtual
	 * thread. */
	private static Object startVirtualThreads(int n) throws Exception {
		CountDownLatch ready = new CountDownLatch(n);
		Object[] threads = new Object[n];

		for (int i = 0; i < n; i++)
			threads[i] = Thread.class.getMethod("startVirtualThread", Runnable.class)
					.invoke(null, holder(ready));
		ready.await();
		return threads;
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[1]);

		switch (args[0]) {
		case "list":
			held = list(n);
			break;
		case "arrays":
			held = new Arrays(n);
			break;
		case "threads":
			startThreads(n);
			break;
		default:
			held = startVirtualThreads(n);
		}
		System.gc();
		new Extremes().serve();
	}
}
