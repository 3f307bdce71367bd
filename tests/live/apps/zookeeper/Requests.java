import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper client that counts its requests. Its argument is the server's address. It obeys the
 * lines of stdin, and answers with a line of its counts since its start: "keep N" creates N znodes
 * of KEPT bytes that remain; "rounds N" creates, sets, gets and deletes a znode N times; "begin N"
 * starts N threads that do so until "end"; "did" only answers.
 */
public final class Requests {
	private static final int KEPT = 1000;
	private static final int BUSY = 100;
	private static final AtomicLong CREATES = new AtomicLong();
	private static final AtomicLong SETS = new AtomicLong();
	private static final AtomicLong GETS = new AtomicLong();
	private static final AtomicLong DELETES = new AtomicLong();
	private static final AtomicLong WRONG = new AtomicLong();
	private static ZooKeeper server;
	private static long kept;
	private static volatile boolean goes;

	private Requests() {
	}

	private static byte[] filled(int length, long with) {
		byte[] bytes = new byte[length];

		Arrays.fill(bytes, (byte) with);
		return bytes;
	}

	private static void create(String path, byte[] data) throws Exception {
		server.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
		CREATES.incrementAndGet();
	}

	private static void keep(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			create("/kept/" + kept, filled(KEPT, kept));
			kept++;
		}
	}

	private static void round(String path, long i) throws Exception {
		create(path, filled(BUSY, i));
		server.setData(path, filled(BUSY, i + 1), 0);
		SETS.incrementAndGet();
		if (!Arrays.equals(server.getData(path, false, null), filled(BUSY, i + 1)))
			WRONG.incrementAndGet();
		GETS.incrementAndGet();
		server.delete(path, 1);
		DELETES.incrementAndGet();
	}

	private static void rounds(int n) throws Exception {
		for (int i = 0; i < n; i++)
			round("/busy/main-" + i, i);
	}

	private static void goOn(int thread) {
		try {
			for (long i = 0; goes; i++)
				round("/busy/" + thread + "-" + i, i);
		} catch (Exception e) {
			WRONG.incrementAndGet();
			e.printStackTrace();
		}
	}

	private static Thread[] begin(int n) {
		Thread[] threads = new Thread[n];

		goes = true;
		for (int i = 0; i < n; i++) {
			int thread = i;

			threads[i] = new Thread(() -> goOn(thread));
			threads[i].start();
		}
		return threads;
	}

	private static void end(Thread[] threads) throws InterruptedException {
		goes = false;
		for (Thread thread : threads)
			thread.join();
	}

	private static void tell() {
		System.out.println("did " + CREATES + " " + SETS + " " + GETS + " " + DELETES + " "
			+ WRONG + " " + kept);
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		Thread[] threads = new Thread[0];
		String line;

		server = new ZooKeeper(args[0], 600_000, event -> { });
		create("/kept", null);
		create("/busy", null);
		System.out.println("READY");
		while ((line = in.readLine()) != null) {
			String[] words = line.split(" ");

			switch (words[0]) {
			case "keep":
				keep(Integer.parseInt(words[1]));
				break;
			case "rounds":
				rounds(Integer.parseInt(words[1]));
				break;
			case "begin":
				threads = begin(Integer.parseInt(words[1]));
				break;
			case "end":
				end(threads);
				break;
			}
			tell();
		}
	}
}
