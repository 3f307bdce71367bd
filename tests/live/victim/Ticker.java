import java.util.concurrent.locks.LockSupport;

/** Ticks every millisecond and remembers its largest gap: what an application feels of a pause. */
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

	/** In ms, since it was last asked. */
	long largestGap() {
		long gap = largestNanos;

		largestNanos = 0;
		return gap / 1000000;
	}
}
