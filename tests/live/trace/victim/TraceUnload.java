import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Twenty class loaders, each with a class Dropped. "work" calls a method. "drop" drops the loaders,
 * collects, and answers how many loaders are still reachable.
 */
final class TraceUnload extends Victim {
	private static final int LOADERS = 20;
	private static final int COLLECTIONS = 10;

	private final List<Object> instances = new ArrayList<>();
	private final List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
	private int rounds;

	private TraceUnload() throws Exception {
		for (int i = 0; i < LOADERS; i++) {
			Generated loader = new Generated();

			instances.add(loader.define("Dropped"));
			loaders.add(new WeakReference<ClassLoader>(loader));
		}
	}

	private int work() {
		return ++rounds;
	}

	private int alive() {
		int n = 0;

		for (WeakReference<ClassLoader> loader : loaders)
			n += loader.get() != null ? 1 : 0;
		return n;
	}

	/** Collects repeatedly: a collection may find classes unreachable, and the next one unload
	 * them. */
	private int drop() {
		instances.clear();
		for (int i = 0; i < COLLECTIONS && alive() > 0; i++)
			System.gc();
		return alive();
	}

	@Override
	String answer(String line) {
		switch (line) {
		case "work": return "worked " + work();
		case "drop": return "alive " + drop();
		default: return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new TraceUnload().serve();
	}
}
