import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicLongArray;

/*
 * Two threads compute without end, and count their units of work.  "work SECONDS" prints the number
 * of units in the next SECONDS, and the CPU time in ns that the complete JVM used meanwhile.
 */
public class ProfileWork {
	static final int THREADS = 2, APART = 32; /* counters in one cache line would slow each other */
	static final AtomicLongArray done = new AtomicLongArray(THREADS * APART);
	static volatile int sink;

	/* Has deep stacks, loops, library code and allocations. */
	static int unit(int[] numbers, int seed) {
		Map<Integer, String> names = new HashMap<>();
		int x = seed;

		for (int i = 0; i < numbers.length; i++) {
			x = x * 1664525 + 1013904223;
			numbers[i] = x;
		}
		Arrays.sort(numbers);
		for (int i = 0; i < numbers.length; i += 8)
			names.put(numbers[i], "n" + (numbers[i] & 0xff));
		return depth(20, names, numbers[seed & 0xff]);
	}

	static int depth(int left, Map<Integer, String> names, int key) {
		String name = names.get(key);
		int own = name == null ? 1 : name.hashCode();

		return left == 0 ? own : own + 31 * depth(left - 1, names, key + left);
	}

	static void compute(int thread) {
		int[] numbers = new int[256];

		for (int seed = thread; ; seed++) {
			sink = unit(numbers, seed);
			done.lazySet(thread * APART, done.get(thread * APART) + 1);
		}
	}

	static long units() {
		long sum = 0;

		for (int i = 0; i < THREADS; i++)
			sum += done.get(i * APART);
		return sum;
	}

	static long cpu() {
		return ((com.sun.management.OperatingSystemMXBean)
			ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	public static void main(String[] args) throws Exception {
		Scanner in = new Scanner(System.in);

		for (int i = 0; i < THREADS; i++) {
			int number = i;
			Thread t = new Thread(() -> compute(number), "worker " + i);

			t.setDaemon(true);
			t.start();
		}
		System.out.println("READY");
		while (in.hasNext() && in.next().equals("work")) {
			long begin = System.nanoTime(), end = begin + in.nextInt() * 1_000_000_000L;
			long units = units(), cpu = cpu(), now;

			while ((now = System.nanoTime()) < end)
				Thread.sleep((end - now) / 1_000_000 + 1);
			System.out.println("worked " + (units() - units) + " in " + (now - begin) + " cpu " +
					   (cpu() - cpu));
		}
	}
}
