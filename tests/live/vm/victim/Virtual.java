import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * N virtual threads that wait, and four with names: "owner" holds a monitor and a lock, for which
 * "blocked" and "queued" wait; "spinner" runs.
 *
 * Usage: Virtual N, on JDK 21 or later. Reflection: javac --release 8 does not have the classes.
 */
final class Virtual extends Victim {
	static volatile long sum;

	private static void start(String name, Runnable body) throws Exception {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
		Method named = type.getMethod("name", String.class);

		if (name != null)
			builder = named.invoke(builder, name);
		type.getMethod("start", Runnable.class).invoke(builder, body);
	}

	private static void spin() {
		for (;;)
			sum++;
	}

	private static void sleep() {
		try {
			Thread.sleep(Long.MAX_VALUE / 1_000_000);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		final CountDownLatch held = new CountDownLatch(1), never = new CountDownLatch(1);
		final CountDownLatch started = new CountDownLatch(n);
		final ReentrantLock lock = new ReentrantLock();
		final Object monitor = new Object();

		start("owner", () -> {
			lock.lock();
			synchronized (monitor) {
				held.countDown();
				sleep();
			}
		});
		held.await();
		start("queued", lock::lock);
		start("blocked", () -> {
			synchronized (monitor) {
				sum++;
			}
		});
		start("spinner", Virtual::spin);
		for (int i = 0; i < n; i++) {
			start(null, () -> {
				started.countDown();
				try {
					never.await();
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			});
		}
		started.await();
		new Virtual().serve();
	}
}
