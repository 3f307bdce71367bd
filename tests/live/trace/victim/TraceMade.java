import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;

/** Calls the methods of the generated classes (tests/live/trace/Make.java), which count their
 * calls. */
final class TraceMade {
	private static final String[] CLASSES = { "made.M49", "made.M52", "made.Large", "made.Refused" };

	private TraceMade() {
	}

	private static Object argument(Class<?> type, int n) {
		if (type == int.class)
			return n * 1103515245 >> n;
		if (type == long.class)
			return n * 6364136223846793005L;
		if (type == float.class)
			return n / 3f;
		if (type == double.class)
			return n == 0 ? Double.NaN : 1e10 / n;
		return n % 2 == 0 ? null : "argument " + n;
	}

	private static void call(Method method, int n, StringBuilder told) throws Exception {
		Object[] arguments = new Object[method.getParameterTypes().length];

		for (int i = 0; i < arguments.length; i++)
			arguments[i] = argument(method.getParameterTypes()[i], n + i % 7);
		try {
			told.append(method.invoke(null, arguments));
		} catch (InvocationTargetException e) {
			TraceShapes.tell(told, e.getCause());
		}
		told.append('\n');
	}

	/** Resets the classes' static fields, so that rounds are alike. */
	private static void clear(Class<?> c) throws Exception {
		for (String field : new String[] { "sJ", "sF", "sD", "sI" })
			c.getField(field).set(null, (byte) 0); /* widened to the field's type */
		c.getField("sA").set(null, null);
	}

	static String run() throws Exception {
		StringBuilder told = new StringBuilder();

		for (String name : CLASSES) {
			Class<?> c = Class.forName(name);
			Method[] methods = c.getMethods();
			Arrays.sort(methods, Comparator.comparing(Method::getName));
			clear(c);
			for (Method method : methods) {
				if (method.getDeclaringClass() != c)
					continue;
				for (int n = 0; n < 6; n++)
					call(method, n, told.append(name).append('.').append(method.getName())
						.append(' '));
			}
		}
		return told.toString();
	}

	/** Adds the counts of the classes since the last call to the total. */
	static void count() throws Exception {
		for (String name : CLASSES) {
			Class<?> c = Class.forName(name);
			long[] calls = (long[]) c.getField("calls").get(null);
			long[] normal = (long[]) c.getField("normal").get(null);
			String[] methods = ((String) c.getField("methods").get(null)).split(" ");
			for (int i = 0; i < methods.length; i++)
				TraceCount.add(name + "." + methods[i], calls[i], normal[i]);
			Arrays.fill(calls, 0);
			Arrays.fill(normal, 0);
		}
	}
}
