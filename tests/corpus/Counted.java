import java.lang.reflect.InvocationTargetException;

/**
 * Counted CLASS METHOD ARGUMENT...: calls it, and then tells of the hooks on stderr, "NAME COUNT"
 * for each field of Hooks1.
 */
public final class Counted {
	private Counted() {
	}

	private static long count(String field) throws ReflectiveOperationException {
		return Class.forName("java.jtool.Hooks1").getField(field).getLong(null);
	}

	public static void main(String[] args) throws ReflectiveOperationException {
		String[] rest = new String[args.length - 2];

		System.arraycopy(args, 2, rest, 0, rest.length);
		try {
			Class.forName(args[0]).getMethod(args[1], String[].class)
				.invoke(null, (Object) rest);
		} catch (InvocationTargetException e) {
			e.getCause().printStackTrace();
		}
		for (String field : new String[] { "enters", "args", "exits", "fails", "wrong" })
			System.err.println(field + " " + count(field));
	}
}
