import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Virtual threads (JDK 21 and later) that allocate and wait, between "loud" and "quiet", which
 * answers the number of objects once all threads have stopped allocating. "awake" answers how many
 * threads did a round since "again", "made" the number of objects so far; "warm" makes each thread
 * allocate some arrays.
 */
final class AllocVirtual extends Victim {
	private static final AtomicLong MADE = new AtomicLong();
	private static final AtomicInteger BUSY = new AtomicInteger();
	private static final AtomicInteger WARM = new AtomicInteger();
	private static volatile boolean loud;
	private static volatile AtomicInteger awake = new AtomicInteger();
	private static volatile int warmed;
	static volatile Object sink;

	static final class Made {
		final long a = 5;
	}

	private static void round() throws InterruptedException {
		for (int i = 0; i < 10; i++)
			sink = new Made();
		Thread.sleep(1);
		sink = new Made[3];
		MADE.addAndGet(10);
	}

	private static void run() {
		AtomicInteger seen = null;
		int warm = 0;

		try {
			for (;;) {
				BUSY.incrementAndGet();
				boolean works = loud;
				if (works)
					round();
				if (works && seen != awake) {
					seen = awake;
					seen.incrementAndGet();
				}
				BUSY.decrementAndGet();
				if (warm != warmed) {
					warm = warmed;
					for (int i = 0; i < 10; i++)
						sink = new byte[5000];
					WARM.incrementAndGet();
				}
				Thread.sleep(works ? 1 : 50);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	private static String warm(int threads) throws InterruptedException {
		WARM.set(0);
		warmed++;
		while (WARM.get() < threads)
			Thread.sleep(1);
		return "warm";
	}

	private static String quiet() throws InterruptedException {
		loud = false;
		while (BUSY.get() > 0)
			Thread.sleep(1);
		return "quiet " + MADE.getAndSet(0);
	}

	private final int threads;

	private AllocVirtual(int threads) {
		this.threads = threads;
	}

	@Override
	String answer(String line) throws Exception {
		switch (line) {
		case "again":
			awake = new AtomicInteger();
			return "again";
		case "awake":
			return "awake " + awake;
		case "made":
			return "made " + MADE;
		case "warm":
			return warm(threads);
		case "quiet":
			return quiet();
		case "loud":
			loud = true;
			return "loud";
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		int threads = Integer.parseInt(args[0]);

		for (int i = 0; i < threads; i++)
			start.invoke(null, (Runnable) AllocVirtual::run);
		new AllocVirtual(threads).serve();
	}
}
