import java.util.ArrayList;
import java.util.List;

/**
 * Retains 1000 objects of class Kept, and has a thread "worker" that calls {@link Subject} and
 * allocates 100 KB every 10 ms. Answers the line "both" with the results of Subject.
 */
final class Steady extends Victim {
	private static final int N_KEPT = 1000, SIZE = 1000, PERIOD_MS = 10, ARRAYS = 100;
	private static final List<Kept> KEPT = new ArrayList<>();
	private static volatile Object last;
	private static volatile long sum;

	private static final class Kept {
		private final byte[] bytes = new byte[SIZE];
	}

	private static void work() {
		Subject subject = new Subject();

		for (int i = 0; i < ARRAYS; i++)
			last = new byte[SIZE];
		for (int i = 0; i < ARRAYS * SIZE; i++)
			sum = sum * 31 + i;
		sum += subject.both();
	}

	private static void loop() {
		for (;;) {
			work();
			try {
				Thread.sleep(PERIOD_MS);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	@Override
	String answer(String line) {
		return line.equals("both") ? "both " + Subject.ours() + " " + Subject.theirs() : null;
	}

	public static void main(String[] args) throws Exception {
		Thread worker = new Thread((Runnable) Steady::loop, "worker");

		for (int i = 0; i < N_KEPT; i++)
			KEPT.add(new Kept());
		worker.setDaemon(true);
		worker.start();
		new Steady().serve();
	}
}
