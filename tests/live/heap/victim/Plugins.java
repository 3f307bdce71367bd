import java.util.ArrayList;
import java.util.List;

/**
 * A leak of class loaders: a static list keeps an object of each of 100 loaders, whose class has a
 * large array.  The objects were created by reflection, so their classes have reflection data.
 */
final class Plugins extends Victim {
	static final int PLUGINS = 100;
	static final List<Object> stopped = new ArrayList<>();

	/** Only its copies, by the loaders, are instantiated. */
	public static final class Plugin {
		static final byte[] CACHE = new byte[100000];
	}

	/** Defines a class of this program again. */
	private static final class Loader extends ClassLoader {
		Class<?> define(String name, byte[] code) {
			return defineClass(name, code, 0, code.length);
		}
	}

	public static void main(String[] args) throws Exception {
		byte[] code = Loaded.code("Plugins$Plugin");

		for (int i = 0; i < PLUGINS; i++)
			stopped.add(new Loader().define("Plugins$Plugin", code)
					.getDeclaredConstructor().newInstance());
		System.gc();
		new Plugins().serve();
	}
}
