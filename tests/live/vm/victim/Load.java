import java.util.concurrent.locks.LockSupport;

/**
 * A known load: a thread "busy" that spins, a thread "allocator" that allocates a constant number
 * of MB a second, and N idle threads "idle-I".
 *
 * Usage: Load N MB_A_SECOND. "name TEXT" starts another idle thread, with this name; \\n and \\e in
 * it are a line feed and an escape.
 */
final class Load extends Victim {
	private static volatile Object sink;

	private static void start(String name, Runnable body) {
		Thread thread = new Thread(null, body, name, 256 * 1024);

		thread.setDaemon(true);
		thread.start();
	}

	private static final class Idler implements Runnable {
		@Override
		public void run() {
			for (;;)
				LockSupport.park();
		}
	}

	private static void spin() {
		for (long i = 0;; i++)
			sink = i % 1000000 == 0 ? null : sink;
	}

	/** Ten times a second, allocates what is due since the start. */
	private static void allocate(long bytesPerSecond) {
		long start = System.nanoTime(), done = 0;

		for (;;) {
			long due = (long)((System.nanoTime() - start) / 1e9 * bytesPerSecond);

			for (; done < due; done += 1024)
				sink = new byte[1024 - 16];
			LockSupport.parkNanos(100000000);
		}
	}

	@Override
	String answer(String line) {
		if (!line.startsWith("name "))
			return null;
		start(line.substring(5).replace("\\n", "\n").replace("\\e", "\033"), new Idler());
		return "named";
	}

	public static void main(String[] args) throws Exception {
		final long bytes = Long.parseLong(args[1]) << 20;

		for (int i = 0; i < Integer.parseInt(args[0]); i++)
			start("idle-" + i, new Idler());
		if (bytes > 0) {
			start("allocator", new Runnable() {
				@Override
				public void run() {
					allocate(bytes);
				}
			});
		}
		start("busy", new Runnable() {
			@Override
			public void run() {
				spin();
			}
		});
		new Load().serve();
	}
}
