import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.Deflater;

/**
 * A JVM under load: threads that allocate, that call native code which allocates, and that load
 * classes; many that wait; some objects that stay, and a ticker.
 *
 * Usage: Loaded THREADS OBJECTS. "gap" answers the longest pause in ms since the last "gap"; "rounds" the MB
 * allocated so far; "quiet" ends the load and "loud" begins it again; "listen" opens a listening
 * socket and a connection to it and answers their port; "close" closes both.
 */
final class Loaded extends Victim {
	private static final List<Object> kept = new ArrayList<>();
	private static final AtomicLong megabytes = new AtomicLong();
	private static volatile boolean loud = true;
	private static volatile Object sink;

	private final Ticker ticker = new Ticker();
	private final List<AutoCloseable> sockets = new ArrayList<>();

	private static final class Kept {
		Object next;
		long value;
	}

	/** Defines classes of this program again. */
	private static final class Loader extends ClassLoader {
		Class<?> define(String name, byte[] code) {
			return defineClass(name, code, 0, code.length);
		}
	}

	private interface Work {
		void run() throws Exception;
	}

	private static void start(Work work) {
		Thread thread = new Thread(() -> {
			for (;;) {
				try {
					if (loud)
						work.run();
					else
						Thread.sleep(10);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}
		});
		thread.setDaemon(true);
		thread.start();
	}

	private static void allocate() {
		for (int i = 0; i < 64; i++)
			sink = new byte[16384];
		megabytes.incrementAndGet();
	}

	private static void compress() {
		Deflater deflater = new Deflater(1);

		deflater.setInput(new byte[8192]);
		deflater.finish();
		deflater.deflate(new byte[1024]);
		deflater.end();
	}

	/** The class file of a class of this program. */
	static byte[] code(String name) throws Exception {
		byte[] code = new byte[65536];
		int n = 0;

		try (InputStream in = Loaded.class.getResourceAsStream("/" + name + ".class")) {
			for (int more; (more = in.read(code, n, code.length - n)) > 0;)
				n += more;
		}
		return java.util.Arrays.copyOf(code, n);
	}

	private static void load(byte[] code) throws Exception {
		sink = new Loader().define("Ticker", code).getDeclaredMethods(); // links it
		Thread.sleep(20);
	}

	private String listen() throws Exception {
		ServerSocket server = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
		Socket client = new Socket(server.getInetAddress(), server.getLocalPort());

		sockets.add(server);
		sockets.add(client);
		sockets.add(server.accept());
		return "port " + server.getLocalPort();
	}

	private String close() throws Exception {
		for (AutoCloseable socket : sockets)
			socket.close();
		sockets.clear();
		return "closed";
	}

	@Override
	String answer(String line) throws Exception {
		switch (line) {
		case "gap": return "gap " + ticker.largestGap();
		case "rounds": return "rounds " + megabytes.get();
		case "quiet": loud = false; return "quiet";
		case "loud": loud = true; return "loud";
		case "listen": return listen();
		case "close": return close();
		default: return null;
		}
	}

	public static void main(String[] args) throws Exception {
		byte[] code = code("Ticker");

		for (int i = 0; i < Integer.parseInt(args[1]); i++) {
			Kept object = new Kept();
			object.next = i % 1000 == 0 || kept.isEmpty() ? null : kept.get(i - 1);
			kept.add(object);
		}
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			Thread thread = new Thread(() -> {
				Object own = new Kept();
				for (;;)
					LockSupport.park(own);
			});
			thread.setDaemon(true);
			thread.start();
		}
		for (int i = 0; i < 2; i++) {
			start(Loaded::allocate);
			start(Loaded::compress);
		}
		start(() -> load(code));
		Loaded loaded = new Loaded();
		loaded.ticker.start();
		loaded.serve();
	}
}
