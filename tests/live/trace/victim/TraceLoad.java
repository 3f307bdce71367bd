import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Works permanently with maps, strings, threads, loaders and locks, and checks the results: "load P
 * V" in P threads and V virtual ones, "hot N" in N threads that call one small method. "beats"
 * answers how many rounds every thread has completed since the last "beats", and how many checks
 * failed. "exit" ends the JVM while it works.
 */
final class TraceLoad extends Victim {
	private static final Queue<String> WRONG = new ConcurrentLinkedQueue<>();
	private static final Map<Integer, String> SHARED = new ConcurrentHashMap<>();
	private static final ThreadLocal<StringBuilder> OWN =
		ThreadLocal.withInitial(StringBuilder::new);

	private final List<AtomicLong> beats = new ArrayList<>();
	private final AtomicLong counted = new AtomicLong();
	private final ExecutorService pool = Executors.newFixedThreadPool(2, r -> {
		Thread t = new Thread(r);
		t.setDaemon(true);
		return t;
	});

	/** Called code, which traced code itself never calls. */
	static final class Work {
		private int balance;

		static int tick(int i) {
			return i + 1;
		}

		int map(Random random) {
			Map<String, Integer> map = new HashMap<>();
			int n = 20 + random.nextInt(50);
			for (int i = 0; i < n; i++)
				map.put("key" + i, i);
			for (int i = 0; i < n; i += 2)
				map.remove("key" + i);
			int sum = 0;
			for (Map.Entry<String, Integer> e : map.entrySet())
				sum += e.getValue() - Integer.parseInt(e.getKey().substring(3));
			return map.size() == n / 2 ? sum : -1;
		}

		int text(Random random) {
			StringBuilder all = OWN.get();
			all.setLength(0);
			for (int i = 0; i < 20; i++)
				all.append(random.nextInt(1000)).append(',');
			String[] parts = all.toString().toUpperCase().split(",");
			return String.join(",", parts).concat(",").equals(all.toString()) ? 0 : -1;
		}

		int shared(Random random) {
			int key = random.nextInt(1000);
			String value = SHARED.computeIfAbsent(key, k -> "v" + k);
			if (!value.equals("v" + key))
				return -1;
			if (random.nextInt(10) == 0)
				SHARED.remove(key);
			return 0;
		}

		synchronized int exchange(int n) {
			balance += n;
			try {
				if (n % 16 == 0)
					throw new IllegalStateException("sixteen");
				notifyAll();
			} finally {
				balance -= n;
			}
			return balance;
		}

		int locks(ReentrantLock lock, BlockingQueue<Integer> queue) throws InterruptedException {
			lock.lock();
			try {
				if (queue.offer(1) && queue.poll(1, TimeUnit.SECONDS) == null)
					return -1;
			} finally {
				lock.unlock();
			}
			return lock.isHeldByCurrentThread() ? -1 : 0;
		}
	}

	/** One round of everything; returns the failure, if any. */
	private String round(Work work, Random random, ReentrantLock lock, BlockingQueue<Integer> queue)
			throws Exception {
		if (work.map(random) != 0)
			return "map";
		if (work.text(random) != 0)
			return "text";
		if (work.shared(random) != 0)
			return "shared";
		try {
			if (work.exchange(random.nextInt(64)) != 0)
				return "balance";
		} catch (IllegalStateException e) {
			if (!"sixteen".equals(e.getMessage()))
				return "exception " + e;
		}
		if (work.locks(lock, queue) != 0)
			return "lock";
		if (random.nextInt(50) == 0)
			return rarely();
		return null;
	}

	private String rarely() throws Exception {
		Generated.Base made = new Generated().define("made.Load");
		if (!made.copy().getClass().getName().equals("made.Load"))
			return "loaded";
		try {
			Class.forName("no.such.Thing");
			return "found";
		} catch (ClassNotFoundException e) {
			if (!"no.such.Thing".equals(e.getMessage()))
				return "not found " + e;
		}
		int[] done = { 0 };
		Thread t = new Thread(() -> done[0] = 1);
		t.start();
		t.join();
		return done[0] + pool.submit(() -> 2).get(20, TimeUnit.SECONDS) == 3 ? null : "threads";
	}

	private void work(AtomicLong beat, long seed, ReentrantLock lock, BlockingQueue<Integer> queue) {
		Random random = new Random(seed);
		Work work = new Work();

		for (;;) {
			try {
				String wrong = round(work, random, lock, queue);
				if (wrong != null)
					WRONG.add(wrong);
			} catch (Throwable t) {
				WRONG.add(t.toString());
			}
			beat.incrementAndGet();
			if (beat.get() % 16 == 0)
				Thread.yield();
		}
	}

	private void hot(AtomicLong beat) {
		int i = 0;

		for (;;) {
			for (int n = 0; n < 1000; n++)
				i = Work.tick(i);
			if (i % 1000 != 0)
				WRONG.add("tick");
			i %= 1000000;
			beat.incrementAndGet();
		}
	}

	private void start(Runnable task, boolean virtually) throws Exception {
		if (virtually) {
			Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
			return;
		}
		Thread t = new Thread(task, "worker");
		t.setDaemon(true);
		t.start();
	}

	private void load(int n, boolean virtually) throws Exception {
		ReentrantLock lock = new ReentrantLock();
		BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1000);

		for (int i = 0; i < n; i++) {
			AtomicLong beat = new AtomicLong();
			long seed = beats.size();
			beats.add(beat);
			start(() -> work(beat, seed, lock, queue), virtually);
		}
	}

	private String startHot(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			AtomicLong beat = new AtomicLong();
			beats.add(beat);
			start(() -> hot(beat), false);
		}
		return "hot";
	}

	/** For all threads together: a virtual thread may wait for its turn. */
	private String beats() {
		long all = 0;

		for (AtomicLong beat : beats)
			all += beat.get();
		return "beats " + (all - counted.getAndSet(all)) + " wrong " + WRONG.size() + " "
			+ (WRONG.isEmpty() ? "" : WRONG.peek());
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");
		switch (words[0]) {
		case "load":
			load(Integer.parseInt(words[1]), false);
			load(Integer.parseInt(words[2]), true);
			return "loaded";
		case "hot":
			return startHot(Integer.parseInt(words[1]));
		case "beats":
			return beats();
		case "exit":
			System.exit(0);
			return null;
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new TraceLoad().serve();
	}
}
