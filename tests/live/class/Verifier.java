import java.io.BufferedReader;
import java.io.FileReader;

/**
 * Loads and links each class that a list names, which verifies it, without initialising it.
 *
 * Usage: Verifier LIST app|boot
 */
public final class Verifier {
	private Verifier() {
	}

	private static boolean links(String name, ClassLoader loader) {
		try {
			/* HotSpot links a class before it returns its methods (jvm.cpp). */
			Class.forName(name, false, loader).getDeclaredMethods();
			return true;
		} catch (Throwable e) {
			System.out.println(name + ": " + e.toString().replace('\n', ' '));
			return false;
		}
	}

	public static void main(String[] args) throws Exception {
		ClassLoader loader = args[1].equals("app") ? Verifier.class.getClassLoader() : null;
		BufferedReader in = new BufferedReader(new FileReader(args[0]));
		int good = 0;

		for (String name = in.readLine(); name != null; name = in.readLine())
			good += links(name, loader) ? 1 : 0;
		System.out.println("linked " + good);
	}
}
