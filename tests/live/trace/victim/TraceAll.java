import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls everything that can be traced. "round" makes all calls, and answers their results' digest.
 * "rounds N T" runs N rounds in each of T threads, "virtual N T" in T virtual threads. "counts"
 * answers the calls and exceptions of each method since "clear". "text FILE" writes the text of the
 * digest.
 */
final class TraceAll extends Victim {
	private static String text() throws Exception {
		return TraceMade.run() + new TraceShapes().run(true);
	}

	private static String digest(String text) throws Exception {
		byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes("UTF-8"));

		return new BigInteger(1, digest).toString(16);
	}

	private static Thread start(Runnable task, boolean virtually) throws Exception {
		if (virtually)
			return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
				.invoke(null, task);
		Thread t = new Thread(task);
		t.start();
		return t;
	}

	/** Runs in several threads, without the methods that count in shared static fields. */
	private static String rounds(int n, int threads, boolean virtually) throws Exception {
		List<Thread> all = new ArrayList<>();
		List<String> wrong = java.util.Collections.synchronizedList(new ArrayList<>());
		String wanted = digest(new TraceShapes().run(false));

		for (int i = 0; i < threads; i++) {
			all.add(start(() -> {
				try {
					for (int round = 0; round < n; round++) {
						String got = digest(new TraceShapes().run(false));
						if (!got.equals(wanted))
							wrong.add(got);
					}
				} catch (Throwable t) {
					wrong.add(t.toString());
				}
			}, virtually));
		}
		for (Thread t : all)
			t.join();
		return "rounds " + n * threads + " wrong " + wrong;
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");
		switch (words[0]) {
		case "round":
			return "digest " + digest(text());
		case "rounds":
		case "virtual":
			return rounds(Integer.parseInt(words[1]), Integer.parseInt(words[2]),
				words[0].equals("virtual"));
		case "clear":
			TraceMade.count();
			TraceCount.clear();
			return "cleared";
		case "counts":
			TraceMade.count();
			return "counts " + TraceCount.asJson();
		case "text":
			java.nio.file.Files.write(java.nio.file.Paths.get(words[1]), text().getBytes("UTF-8"));
			return "written";
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		text();
		new TraceAll().serve();
	}
}
