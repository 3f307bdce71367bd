import java.io.StringWriter;
import java.net.URI;
import java.util.Arrays;
import java.util.Collections;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Has a class that others change, one that stays unchanged, and a large program: javac. */
final class Compiling extends Victim {
	private static final class Source extends SimpleJavaFileObject {
		Source() {
			super(URI.create("string:///C.java"), JavaFileObject.Kind.SOURCE);
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return "class C { <T> T m(T t) { Runnable r = () -> m(t);"
					+ "for (String s : new String[] { \"a\" + t }) r.run();"
					+ "return t; } }";
		}
	}

	/** Compiles a class to this directory. */
	private static String compile(String dir) {
		return ToolProvider.getSystemJavaCompiler().getTask(new StringWriter(), null, null,
				Arrays.asList("-proc:none", "-d", dir), null,
				Collections.singletonList(new Source())).call() ? "compiled" : "failed";
	}

	/** Uses the bytecodes that the JVM rewrites when it runs them. */
	private static String mixed(Object o, long n) {
		try {
			switch (String.valueOf(o)) {
			case "a":
				return "A" + n;
			case "b":
				return Long.toString(n << 3);
			default:
				return o instanceof int[][] ? "ints" : String.format("%s", o);
			}
		} finally {
			Runnable r = () -> Thread.yield();
			r.run();
		}
	}

	@Override
	String answer(String line) {
		if (line.startsWith("compile "))
			return compile(line.substring(8));
		if (line.equals("mixed"))
			return "mixed " + mixed("a", 1) + mixed(new int[1][1], 2);
		return line.equals("subject") ? "subject " + new Subject().both() : null;
	}

	public static void main(String[] args) throws Exception {
		new Compiling().serve();
	}
}
