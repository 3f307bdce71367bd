import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A thread "load" that is busy for PERCENT of the time. "load" answers its share of a CPU in the
 * last second by ThreadMXBean, which is less than PERCENT on a busy machine.
 *
 * Usage: Busy PERCENT.
 */
final class Busy extends Victim {
	private static final long PERIOD_NS = 50_000_000, WINDOW_NS = 1_000_000_000;
	private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
	static volatile long sum;
	private final Thread thread;

	private Busy(long percent) {
		thread = new Thread(() -> run(percent), "load");
		thread.setDaemon(true);
		thread.start();
	}

	private static void run(long percent) {
		long cpu = BEAN.getCurrentThreadCpuTime(), next = System.nanoTime();

		for (;;) {
			cpu += PERIOD_NS * percent / 100;
			while (BEAN.getCurrentThreadCpuTime() < cpu)
				sum++;
			next += PERIOD_NS;
			try {
				Thread.sleep(Math.max(0, (next - System.nanoTime()) / 1_000_000));
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	@Override
	String answer(String line) throws Exception {
		long time, cpu;

		if (!line.equals("load"))
			return null;
		time = System.nanoTime();
		cpu = BEAN.getThreadCpuTime(thread.getId());
		Thread.sleep(WINDOW_NS / 1_000_000);
		cpu = BEAN.getThreadCpuTime(thread.getId()) - cpu;
		return "load " + 100.0 * cpu / (System.nanoTime() - time);
	}

	public static void main(String[] args) throws Exception {
		new Busy(Long.parseLong(args[0])).serve();
	}
}
