import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Leaks a hundred objects a second, one after the other, amid garbage and a cache that forgets: what
 * lives longest is the least of what it makes.
 */
final class AllocLeak extends Victim {
	static final List<Object> LEAKED = new ArrayList<>();
	static volatile Object sink;

	static final class Leaked {
		final byte[] payload;

		Leaked(int size) {
			payload = new byte[size];
		}
	}

	static final class Cached {
		final long[] payload = new long[20];
	}

	static void leak() {
		synchronized (LEAKED) {
			LEAKED.add(new Leaked(1000));
		}
	}

	static void churn(ArrayDeque<Cached> cache) {
		for (int i = 0; i < 200; i++) {
			Map<Integer, String> map = new HashMap<>();
			map.put(i, "value" + i);
			sink = map;
			if (i % 20 == 0)
				cache.add(new Cached());
		}
		while (cache.size() > 1000)
			cache.poll();
	}

	private static void run() throws InterruptedException {
		ArrayDeque<Cached> cache = new ArrayDeque<>();
		long begin = System.nanoTime();
		long leaked = 0;

		for (;;) {
			churn(cache);
			Thread.sleep(1);
			for (long due = (System.nanoTime() - begin) / 10000000; leaked < due; leaked++)
				leak();
		}
	}

	@Override
	String answer(String line) {
		if (!line.equals("leaked"))
			return null;
		synchronized (LEAKED) {
			return "leaked " + LEAKED.size();
		}
	}

	public static void main(String[] args) throws Exception {
		Thread t = new Thread(() -> {
			try {
				run();
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
		});
		t.setDaemon(true);
		t.start();
		new AllocLeak().serve();
	}
}
