import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads in every state, and deadlocks: of monitors, of ReentrantLocks, of both, and of three.
 *
 * Usage: Locks [deadlock]. "states" answers name=STATE of each live thread, from ThreadMXBean.
 */
final class Locks extends Victim {
	static volatile long sum;
	private static final List<Thread> waiting = new ArrayList<>();

	private static void daemon(String name, Runnable body) {
		Thread thread = new Thread(body, name);

		thread.setDaemon(true);
		thread.start();
		if (!name.equals("spinner"))
			waiting.add(thread);
	}

	/** Returns whether all threads wait, `owned` of them for a lock that a thread owns. */
	private static boolean isSettled(int owned) {
		for (Thread thread : waiting) {
			if (thread.getState() == Thread.State.NEW
					|| thread.getState() == Thread.State.RUNNABLE)
				return false;
		}
		for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false))
			owned -= info.getLockOwnerName() == null ? 0 : 1;
		return owned == 0;
	}

	/** A lock of either kind. */
	private static final class Lock {
		final ReentrantLock reentrant;

		Lock(boolean monitor) {
			reentrant = monitor ? null : new ReentrantLock();
		}

		void run(Runnable body) {
			if (reentrant == null) {
				synchronized (this) {
					body.run();
				}
				return;
			}
			reentrant.lock();
			try {
				body.run();
			} finally {
				reentrant.unlock();
			}
		}
	}

	/** Thread i holds lock i and waits for lock i + 1. */
	private static void ring(String name, Lock... locks) {
		final CountDownLatch held = new CountDownLatch(locks.length);

		for (int i = 0; i < locks.length; i++) {
			final Lock own = locks[i], next = locks[(i + 1) % locks.length];

			daemon(name + "-" + i, () -> own.run(() -> {
				held.countDown();
				try {
					held.await();
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
				next.run(() -> { });
			}));
		}
	}

	private static void spin() {
		for (;;)
			sum++;
	}

	private static void sleep() {
		try {
			for (;;)
				Thread.sleep(3600000);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void await(Object o) {
		synchronized (o) {
			try {
				for (;;)
					o.wait();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	@Override
	String answer(String line) {
		StringBuilder text = new StringBuilder("states");

		if (!line.equals("states"))
			return null;
		for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
			text.append('\t').append(info.getThreadName()).append('=')
				.append(info.getThreadState()).append('=')
				.append(info.getLockOwnerName());
		}
		return text.toString();
	}

	public static void main(String[] args) throws Exception {
		final Object monitor = new Object(), condition = new Object();
		final ReentrantLock lock = new ReentrantLock();
		final CountDownLatch held = new CountDownLatch(2);

		daemon("spinner", Locks::spin);
		daemon("sleeper \"quoted\"", Locks::sleep);
		daemon("waiter", () -> await(condition));
		daemon("parker", () -> {
			for (;;)
				LockSupport.park();
		});
		daemon("owner", () -> {
			synchronized (monitor) {
				lock.lock();
				held.countDown();
				sleep();
			}
		});
		held.countDown();
		held.await();
		for (int i = 0; i < 3; i++) {
			daemon("blocked-" + i, () -> {
				synchronized (monitor) {
					sum++;
				}
			});
		}
		daemon("queued", lock::lock);
		if (args.length > 0) {
			ring("monitors", new Lock(true), new Lock(true));
			ring("locks", new Lock(false), new Lock(false));
			ring("mixed", new Lock(true), new Lock(false));
			ring("three", new Lock(true), new Lock(true), new Lock(false));
		}
		while (!isSettled(args.length > 0 ? 13 : 4))
			Thread.sleep(10);
		new Locks().serve();
	}
}
