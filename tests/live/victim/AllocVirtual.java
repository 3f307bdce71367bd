import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicLong;

/**
 * So many virtual threads (JDK 21 on) that make objects and wait: "beats" tells how many rounds they
 * did since it was last asked, and how many objects they made since "clear", when "quiet" has stopped
 * them all ("loud": they go on).
 */
final class AllocVirtual extends Victim {
	private static final AtomicLong MADE = new AtomicLong();
	private static final AtomicLong ROUNDS = new AtomicLong();
	private static final AtomicLong WORKING = new AtomicLong();
	private static volatile boolean quiet;

	static final class Made {
		final long a = 5;
	}

	private static void round() throws InterruptedException {
		Object[] kept = new Object[10];

		for (int i = 0; i < 10; i++)
			kept[i] = new Made();
		Thread.sleep(1);
		Made[] array = new Made[3];
		array[0] = (Made) kept[0];
		MADE.addAndGet(10);
		ROUNDS.incrementAndGet();
	}

	private static void run() {
		try {
			for (;;) {
				WORKING.incrementAndGet();
				if (!quiet)
					round();
				WORKING.decrementAndGet();
				Thread.sleep(quiet ? 50 : 1);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	String answer(String line) throws Exception {
		switch (line) {
		case "beats":
			return "beats " + ROUNDS.getAndSet(0);
		case "quiet":
			quiet = true;
			Thread.sleep(100); /* who saw that it is not has counted itself */
			while (WORKING.get() > 0)
				Thread.sleep(1);
			return "quiet " + MADE.getAndSet(0);
		case "loud":
			quiet = false;
			return "loud " + MADE.getAndSet(0);
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

		for (int i = 0; i < Integer.parseInt(args[0]); i++)
			start.invoke(null, (Runnable) AllocVirtual::run);
		new AllocVirtual().serve();
	}
}
