/**
 * Never idle: one thread allocates, another loads classes and makes them unloadable. Only 2,000
 * objects never change, so that their number is known.
 *
 * "rounds" answers how many times classes were loaded.
 */
final class Churn extends Victim {
	private static final int KEPT = 4096;
	private static final Steady[] STEADY = new Steady[1000];

	private static final class Steady {
		Steady other;
		long value;
	}

	private volatile int rounds;
	private volatile Object sink;

	private void allocate() {
		Object[] kept = new Object[KEPT];

		for (int i = 0;; i++) {
			kept[i % KEPT] = new byte[i % 509];
			sink = kept;
		}
	}

	private void load() {
		try {
			for (;; rounds++) {
				Generated loader = new Generated();
				Object[] instances = new Object[50];
				for (int i = 0; i < instances.length; i++)
					instances[i] = loader.define("Churned" + i);
				sink = instances;
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	private static void daemon(Runnable body) {
		Thread thread = new Thread(body);

		thread.setDaemon(true);
		thread.start();
	}

	@Override
	String answer(String line) {
		return line.equals("rounds") ? "rounds " + rounds : null;
	}

	public static void main(String[] args) throws Exception {
		final Churn victim = new Churn();

		for (int i = 0; i < STEADY.length; i++) {
			STEADY[i] = new Steady();
			STEADY[i].other = new Steady();
		}

		daemon(new Runnable() {
			@Override
			public void run() {
				victim.allocate();
			}
		});
		daemon(new Runnable() {
			@Override
			public void run() {
				victim.load();
			}
		});
		victim.serve();
	}
}
