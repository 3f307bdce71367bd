import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Has the JVM load and link, and so verify, every class whose name is in a jar, without
 * initialising it.  The classes themselves are taken from wherever the JVM has them.
 *
 * Prints "refused NAME WHY" for each that is refused, "missing NAME WHAT" when some other class
 * that it needs is not there, and at the end "linked N".
 */
public final class Link {
	private static int linked;

	private Link() {
	}

	private static List<String> names(String jar) throws IOException {
		List<String> names = new ArrayList<String>();

		try (JarFile file = new JarFile(jar)) {
			for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements();) {
				String name = e.nextElement().getName();

				if (name.endsWith(".class") && !name.startsWith("META-INF/"))
					names.add(name.substring(0, name.length() - 6).replace('/', '.'));
			}
		}
		Collections.sort(names);
		return names;
	}

	private static String line(Throwable e) {
		return e.toString().split("\n", 2)[0];
	}

	/** Asking for methods links the class first; then their types may be missing. */
	private static void link(String name, ClassLoader loader) {
		try {
			Class<?> c = Class.forName(name, false, loader);

			if (c.isInterface())
				c.getDeclaredMethods();
			else
				c.getDeclaredConstructors();
			linked++;
		} catch (ClassNotFoundException | NoClassDefFoundError e) {
			System.out.println("missing " + name + " " + line(e));
		} catch (LinkageError | RuntimeException e) {
			System.out.println("refused " + name + " " + line(e));
		}
	}

	public static void main(String[] jars) throws IOException {
		ClassLoader loader = ClassLoader.getSystemClassLoader();

		for (String jar : jars) {
			for (String name : names(jar))
				link(name, loader);
		}
		System.out.println("linked " + linked);
	}
}
