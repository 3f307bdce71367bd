import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

/** Calls {@link Subject} from one or many threads, and loads further classes of that name. */
final class Replace extends Victim {
	private final Set<Integer> answers = new ConcurrentSkipListSet<>();
	private final AtomicLong calls = new AtomicLong();
	private URLClassLoader loader;
	private WeakReference<Class<?>> loaded;

	private void hammer() {
		for (;;) {
			Subject s = new Subject();
			for (int i = 0; i < 1000; i++)
				answers.add(s.both());
			calls.addAndGet(s.calls);
		}
	}

	private String hammer(int threads) {
		for (int i = 0; i < threads; i++) {
			Thread t = new Thread((Runnable) this::hammer);
			t.setDaemon(true);
			t.start();
		}
		return "hammering";
	}

	/** Loads another class Subject; its loader has no parent to delegate to. */
	private String load(String dir) throws Exception {
		loader = new URLClassLoader(new URL[] { new File(dir).toURI().toURL() }, null);
		Class<?> c = loader.loadClass("Subject");
		loaded = new WeakReference<>(c);
		return "loaded " + c.getDeclaredMethods().length;
	}

	private String drop() throws Exception {
		loader.close();
		loader = null;
		for (int i = 0; i < 100 && loaded.get() != null; i++) {
			System.gc();
			Thread.sleep(20);
		}
		return "collected " + (loaded.get() == null);
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");
		switch (words[0]) {
		case "both":
			return "both " + Subject.ours() + " " + Subject.theirs();
		case "hammer":
			return hammer(Integer.parseInt(words[1]));
		case "answers":
			return "answers " + new TreeSet<>(answers) + " calls " + calls;
		case "load":
			return load(words[1]);
		case "drop":
			return drop();
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new Replace().serve();
	}
}
