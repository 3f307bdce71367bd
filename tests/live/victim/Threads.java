import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * N threads with deep stacks, and a ticker.
 *
 * Usage: Threads N [DEPTH]. "gap" answers the longest pause in ms since the last "gap".
 */
final class Threads extends Victim {
	private static final long STACK_BYTES = 512 * 1024;

	private final Ticker ticker = new Ticker();

	private static void sink(int depth, CountDownLatch ready) {
		if (depth > 0) {
			sink(depth - 1, ready);
			return;
		}
		ready.countDown();
		for (;;)
			LockSupport.park();
	}

	private static void daemon(String name, Runnable body) {
		Thread thread = new Thread(null, body, name, STACK_BYTES);

		thread.setDaemon(true);
		thread.start();
	}

	@Override
	String answer(String line) throws Exception {
		return line.equals("gap") ? "gap " + ticker.largestGap() : null;
	}

	public static void main(String[] args) throws Exception {
		final Threads victim = new Threads();
		final int n = Integer.parseInt(args[0]);
		final int depth = args.length > 1 ? Integer.parseInt(args[1]) : 50;
		final CountDownLatch ready = new CountDownLatch(n);

		for (int i = 0; i < n; i++) {
			daemon("deep-" + i, new Runnable() {
				@Override
				public void run() {
					sink(depth, ready);
				}
			});
		}
		ready.await();
		victim.ticker.start();
		victim.serve();
	}
}
