import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Callable;

/**
 * A class whose loader does not find jtool's classes: "call" answers the result of a call of it,
 * "asked" how often the loader was asked for an unknown class.
 */
final class TraceHides extends Victim {
	private static int asked;

	public static final class Hidden implements Callable<String> {
		@Override
		public String call() {
			return "as ever";
		}
	}

	private static final class Loader extends ClassLoader {
		@Override
		protected Class<?> loadClass(String name, boolean resolve)
				throws ClassNotFoundException {
			if (name.startsWith("java.jtool.")) {
				asked++;
				throw new ClassNotFoundException(name);
			}
			if (!name.equals("TraceHides$Hidden"))
				return super.loadClass(name, resolve);
			byte[] bytes = read(name + ".class");
			return defineClass(name, bytes, 0, bytes.length);
		}

		private static byte[] read(String file) {
			try (InputStream in = TraceHides.class.getResourceAsStream(file)) {
				ByteArrayOutputStream all = new ByteArrayOutputStream();
				for (int b = in.read(); b >= 0; b = in.read())
					all.write(b);
				return all.toByteArray();
			} catch (IOException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	private final Callable<?> hidden;

	private TraceHides() throws Exception {
		hidden = (Callable<?>) new Loader().loadClass("TraceHides$Hidden")
			.getConstructor().newInstance();
	}

	@Override
	String answer(String line) throws Exception {
		if (line.equals("asked"))
			return "asked " + asked;
		if (!line.equals("call"))
			return null;
		try {
			return "call: " + hidden.call();
		} catch (LinkageError e) {
			return "call: " + e;
		}
	}

	public static void main(String[] args) throws Exception {
		new TraceHides().serve();
	}
}
