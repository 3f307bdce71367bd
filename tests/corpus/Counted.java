import java.lang.reflect.InvocationTargetException;

/**
 * Counted CLASS METHOD ARGUMENT...: calls the method, and then prints the counts of Hooks1 on
 * stderr, one "NAME COUNT" per line.
 */
public final class Counted {
	private static final String[] NAMES = { "enters", "args", "exits", "fails", "wrong" };

	private Counted() {
	}

	public static void main(String[] args) throws ReflectiveOperationException {
		long[] counts;
		String[] rest = new String[args.length - 2];

		System.arraycopy(args, 2, rest, 0, rest.length);
		try {
			Class.forName(args[0]).getMethod(args[1], String[].class)
				.invoke(null, (Object) rest);
		} catch (InvocationTargetException e) {
			e.getCause().printStackTrace();
		}
		counts = (long[]) Class.forName("java.jtool.Hooks1").getMethod("counts").invoke(null);
		for (int i = 0; i < NAMES.length; i++)
			System.err.println(NAMES[i] + " " + counts[i]);
	}
}
