import java.lang.reflect.InvocationTargetException;

/** Runs javac, and then tells of the hooks: "NAME COUNT" for each field of Hooks1. */
public final class Compile {
	private Compile() {
	}

	private static long count(String field) throws ReflectiveOperationException {
		return Class.forName("java.jtool.Hooks1").getField(field).getLong(null);
	}

	public static void main(String[] args) throws ReflectiveOperationException {
		Class<?> javac = Class.forName("com.sun.tools.javac.Main");
		Object rc;

		try {
			rc = javac.getMethod("compile", String[].class).invoke(null, (Object) args);
		} catch (InvocationTargetException e) {
			e.getCause().printStackTrace();
			rc = -1;
		}
		System.out.println("javac " + rc);
		for (String field : new String[] { "enters", "args", "exits", "fails", "wrong" })
			System.out.println(field + " " + count(field));
	}
}
