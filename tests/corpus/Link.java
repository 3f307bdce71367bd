import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads and links every class whose name is in a jar, which verifies it, without initialising it.
 * The JVM finds the classes themselves on its class path.
 *
 * Prints "refused NAME REASON" for each class that is refused, "missing NAME CLASS" if another
 * class that it needs is missing, and "linked N" at the end.
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

	/** Both calls link the class first, and then load the classes in its signatures. */
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
