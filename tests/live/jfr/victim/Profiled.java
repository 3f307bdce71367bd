import java.util.Random;
import java.util.zip.Deflater;

/*
 * Threads whose shares are known: in "first" and "second", three loops take 60, 30 and 10 % of the
 * time; "native" runs native code.
 */
public class Profiled {
	static volatile long sink;

	static long sixty(int n) {
		long x = n;
		for (int i = 0; i < n; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static long thirty(int n) {
		long x = n;
		for (int i = 0; i < n; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static long ten(int n) {
		long x = n;
		for (int i = 0; i < n; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static void loop() {
		while (true) {
			sink += sixty(6_000_000);
			sink += thirty(3_000_000);
			sink += ten(1_000_000);
		}
	}

	/* Runs native code only. */
	static void compress() {
		byte[] in = new byte[1 << 20], out = new byte[1 << 20];
		Deflater deflater = new Deflater(9);

		new Random(1).nextBytes(in);
		while (true) {
			deflater.reset();
			deflater.setInput(in);
			deflater.finish();
			sink += deflater.deflate(out);
		}
	}

	static void start(String name, Runnable task) {
		Thread t = new Thread(task, name);

		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] args) throws Exception {
		start("first", Profiled::loop);
		start("second", Profiled::loop);
		start("native", Profiled::compress);
		System.out.println("READY");
		while (System.in.read() >= 0)
			continue; /* a thread that waits in native code */
	}
}
