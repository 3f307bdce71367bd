import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/**
 * Allocates objects of classes with non-ASCII names: "make N" creates N of AllocNames$Caf&eacute;
 * and N of AllocNames$&#x1f600;. The source uses names with the same number of bytes, because the
 * locale of the compiler or the JVM may not permit such file names.
 */
final class AllocNames extends Victim {
	static volatile Object sink;

	static final class Cafee implements Callable<Object> {
		@Override
		public Object call() {
			return new Cafee();
		}
	}

	static final class Sixsix implements Callable<Object> {
		@Override
		public Object call() {
			return new Sixsix();
		}
	}

	private static final class Loader extends ClassLoader {
		Loader() {
			super(AllocNames.class.getClassLoader());
		}

		/** Defines the class under another name; `to` has as many bytes as the name that it
		 * replaces. */
		Class<?> define(Class<?> original, String to) throws Exception {
			String bytes = new String(Kinds.bytesOf(original), StandardCharsets.ISO_8859_1);
			byte[] renamed = bytes.replace(original.getSimpleName(), to)
				.getBytes(StandardCharsets.ISO_8859_1);

			return defineClass(null, renamed, 0, renamed.length);
		}
	}

	@SuppressWarnings("unchecked")
	private static Callable<Object> renamed(Class<?> original, String to) throws Exception {
		java.lang.reflect.Constructor<?> made =
			new Loader().define(original, to).getDeclaredConstructor();

		made.setAccessible(true);
		return (Callable<Object>) made.newInstance();
	}

	private final Callable<Object> accented = renamed(Cafee.class, "Caf\u00c3\u00a9");
	private final Callable<Object> beyond =
		renamed(Sixsix.class, "\u00ed\u00a0\u00bd\u00ed\u00b8\u0080");

	private AllocNames() throws Exception {
		if (!accented.getClass().getName().equals("AllocNames$Caf\u00e9") ||
		    !beyond.getClass().getName().equals("AllocNames$\ud83d\ude00"))
			throw new IllegalStateException("they have other names");
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		if (!words[0].equals("make"))
			return null;
		for (int i = Integer.parseInt(words[1]); i > 0; i--) {
			sink = accented.call();
			sink = beyond.call();
		}
		return "made " + words[1];
	}

	public static void main(String[] args) throws Exception {
		new AllocNames().serve();
	}
}
