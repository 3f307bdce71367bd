import java.io.File;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/* Does what the flight recorder has events for, for the given number of seconds. */
public class Recorded {
	static final class Contended {
	}

	static final class Refused extends RuntimeException {
		Refused(String why) {
			super(why);
		}
	}

	static final Contended LOCK = new Contended();
	static final ReentrantLock PARKED = new ReentrantLock();
	static volatile boolean ended;
	static volatile long sum;
	static volatile Object kept;

	static long hash(long seed) {
		for (int i = 0; i < 2000; i++)
			seed = seed * 6364136223846793005L + (seed >>> 7);
		return seed;
	}

	static void compute() {
		while (!ended)
			sum += hash(sum);
	}

	static void allocate() {
		Map<String, byte[]> map = new HashMap<>();

		for (int i = 0; !ended; i++) {
			map.put("key " + i % 512, new byte[1000 + i % 9000]);
			if (i % 20000 == 0)
				kept = new ArrayList<>(map.values());
			if (i % 200000 == 0)
				pause(1);
		}
	}

	/*
	 * Two threads take turns: each waits for 13 ms, which is longer than the 10 ms from which JFR
	 * records waits.
	 */
	static void contend() {
		while (!ended) {
			synchronized (LOCK) {
				pause(15);
			}
			pause(2); /* else this thread could take the lock again at once */
		}
	}

	static void park() {
		while (!ended) {
			PARKED.lock();
			try {
				pause(15);
			} finally {
				PARKED.unlock();
			}
			pause(2);
		}
	}

	static void refuse() {
		for (int i = 0; !ended; i++) {
			try {
				throw i % 3 == 0 ? new IllegalStateException("gr\u00fc\u00df " + i % 5)
						 : new Refused(i % 4 == 0 ? null : "\u65e5\u672c");
			} catch (RuntimeException e) {
				kept = e;
			}
			pause(5);
		}
	}

	static void files() throws Exception {
		File file = File.createTempFile("recorded", ".bin");

		file.deleteOnExit();
		try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
			byte[] block = new byte[1 << 20];

			while (!ended) {
				f.seek(0);
				f.write(block);
				f.seek(0);
				f.readFully(block);
				pause(20);
			}
		}
	}

	static void sockets() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
		     Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
		     Socket peer = server.accept()) {
			while (!ended) {
				client.getOutputStream().write(new byte[100]);
				pause(25);
				if (peer.getInputStream().read(new byte[100]) < 0)
					return;
			}
		}
	}

	static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	interface Work {
		void run() throws Exception;
	}

	static void start(List<Thread> threads, String name, Work work) {
		Thread t = new Thread(() -> {
			try {
				work.run();
			} catch (Exception e) {
				throw new AssertionError(e);
			}
		}, name);

		threads.add(t);
		t.start();
	}

	public static void main(String[] args) throws Exception {
		List<Thread> threads = new ArrayList<>();

		start(threads, "compute", Recorded::compute);
		start(threads, "allocate", Recorded::allocate);
		start(threads, "contend-1", Recorded::contend);
		start(threads, "contend-2", Recorded::contend);
		start(threads, "park-1", Recorded::park);
		start(threads, "park-2", Recorded::park);
		start(threads, "refuse \u00e9\u20ac", Recorded::refuse);
		start(threads, "files", Recorded::files);
		start(threads, "sockets", Recorded::sockets);
		System.out.println("READY");
		System.gc();
		Thread.sleep(Integer.parseInt(args[0]) * 1000L);
		ended = true;
		for (Thread t : threads)
			t.join();
	}
}
