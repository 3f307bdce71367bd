import java.util.concurrent.locks.LockSupport;

/** Ticks every millisecond and records the longest gap between two ticks: the pause that an
 * application experiences. */
final class Ticker extends Thread {
	private volatile long largestNanos;

	Ticker() {
		super("ticker");
		setDaemon(true);
	}

	@Override
	public void run() {
		long last = System.nanoTime();

		for (;;) {
			LockSupport.parkNanos(1000000);
			long now = System.nanoTime();
			if (now - last > largestNanos)
				largestNanos = now - last;
			last = now;
		}
	}

	/** The longest gap since the last call, in ms. */
	long largestGap() {
		long gap = largestNanos;

		largestNanos = 0;
		return gap / 1000000;
	}
}
