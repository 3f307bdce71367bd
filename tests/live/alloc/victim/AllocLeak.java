import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Leaks amid garbage and a bounded cache. "leak N" runs N rounds, each of which leaks eight arrays
 * of a thousand bytes, a tenth of its allocations; it answers how many arrays have leaked, and how
 * many of them have survived three collections. "churn N" runs N rounds that leak nothing. A round
 * takes a millisecond or more. The cache holds the thousand entries of the last hundred rounds.
 * "forget" releases the leaked arrays.
 */
final class AllocLeak extends Victim {
	private static final int AGE = 3;

	static final List<Leaked> LEAKED = new ArrayList<>();
	static final ArrayDeque<Cached> CACHE = new ArrayDeque<>();
	static final List<GarbageCollectorMXBean> COLLECTORS =
		ManagementFactory.getGarbageCollectorMXBeans();
	static volatile Object sink;

	static final class Leaked {
		final byte[] payload;
		final long before;

		Leaked(int size, long before) {
			payload = new byte[size];
			this.before = before;
		}
	}

	static final class Cached {
		final long[] payload = new long[20];
	}

	private static long collections() {
		long sum = 0;

		for (int i = 0; i < COLLECTORS.size(); i++)
			sum += COLLECTORS.get(i).getCollectionCount();
		return sum;
	}

	static void leak() {
		long before = collections();

		for (int i = 0; i < 8; i++)
			LEAKED.add(new Leaked(1000, before));
	}

	static void churn() {
		for (int i = 0; i < 200; i++) {
			Map<Integer, String> map = new HashMap<>();
			map.put(i, "value" + i);
			sink = map;
			if (i % 20 == 0)
				CACHE.add(new Cached());
		}
		while (CACHE.size() > 1000)
			CACHE.poll();
	}

	private static String leaked() {
		long now = collections();
		int old = 0;

		for (Leaked it : LEAKED) {
			if (now - it.before > AGE) /* the first collection may precede the allocation */
				old++;
		}
		return "leaked " + LEAKED.size() + " " + old;
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		switch (words[0]) {
		case "leak":
		case "churn":
			for (int n = Integer.parseInt(words[1]); n > 0; n--) {
				churn();
				if (words[0].equals("leak"))
					leak();
				Thread.sleep(1);
			}
			return leaked();
		case "forget":
			LEAKED.clear();
			return "forgot";
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new AllocLeak().serve();
	}
}
