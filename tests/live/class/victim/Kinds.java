import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.net.URL;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Classes of all kinds that JDK 8 has, and of some later ones; Modern has those of JDK 17. */
final class Kinds extends Victim {
	@Retention(RetentionPolicy.RUNTIME)
	@interface Mark {
		String value() default "";

		Class<?>[] types() default {};
	}

	interface Shape<T> extends Comparable<T> {
		T area();

		@SuppressWarnings("unchecked")
		default int count(T... all) {
			return all.length;
		}
	}

	enum Color {
		RED,
		GREEN {
			@Override
			public String toString() {
				return "green";
			}
		}
	}

	@Mark(value = "x", types = { int.class, String[].class })
	@Deprecated
	protected abstract static class Box<T extends Number> implements Shape<T> {
		private static final long LIMIT = 5;
		protected volatile Map<String, ? super List<T[]>> map;
		transient int[][] numbers;

		Box(T first) throws IOException {
			if (first == null)
				throw new IOException();
		}

		protected final synchronized <E extends Exception & Runnable> T get(
				List<? extends T> list, int... at) throws E, IOException {
			return list.get(at[0]);
		}

		private native void nothing();

		static strictfp double half(double d) {
			return d / 2;
		}
	}

	/** A class that two loaders define. */
	static final class Twin {
	}

	/** Loaded but never linked. */
	static final class Asleep implements Runnable {
		private int dreams;

		@Override
		public void run() {
			dreams++;
		}
	}

	static final class TwinLoader extends ClassLoader {
		Class<?> define() throws Exception {
			byte[] bytes = bytesOf(Twin.class);
			URL url = new URL("file:/twins/one%20two.jar");
			CodeSource source = new CodeSource(url, (Certificate[]) null);

			return defineClass(Twin.class.getName(), bytes, 0, bytes.length,
					new ProtectionDomain(source, null));
		}
	}

	static byte[] bytesOf(Class<?> c) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();

		try (InputStream in = c.getResourceAsStream(
				"/" + c.getName().replace('.', '/') + ".class")) {
			for (int b = in.read(); b >= 0; b = in.read())
				bytes.write(b);
		}
		return bytes.toByteArray();
	}

	/** Since JDK 15. */
	private static Object hidden() throws Exception {
		try {
			Class<?> option = Class.forName(
					"java.lang.invoke.MethodHandles$Lookup$ClassOption");
			Object options = Array.newInstance(option, 0);

			return MethodHandles.Lookup.class
					.getMethod("defineHiddenClass", byte[].class, boolean.class,
							options.getClass())
					.invoke(MethodHandles.lookup(), bytesOf(Twin.class), true, options);
		} catch (ClassNotFoundException | NoSuchMethodException e) {
			return null;
		}
	}

	private final List<Object> kept = new ArrayList<>();

	private Kinds() throws Exception {
		Runnable lambda = () -> kept.clear();

		kept.add(lambda);
		kept.add(Color.values());
		kept.add(Box.class);
		kept.add(Mark.class);
		kept.add(new Box<?>[0][0]);
		kept.add(Class.forName("Kinds$Asleep", false, Kinds.class.getClassLoader()));
		kept.add(Twin.class);
		kept.add(new TwinLoader().define());
		kept.add(hidden());
		kept.add(Class.forName("java.sql.Timestamp")); /* platform loader since JDK 9 */
		try {
			kept.add(Class.forName("Modern").getConstructor().newInstance());
		} catch (ClassNotFoundException | UnsupportedClassVersionError e) {
			kept.add(null);
		}
	}

	public static void main(String[] args) throws Exception {
		new Kinds().serve();
	}
}
