import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Has everything that javap prints in a form of its own. */
abstract class Forms<T extends Comparable<? super T> & Runnable, U> extends Thread
		implements Callable<Map<String, T[]>> {
	public static final String TEXT = "tab\t, quote \", apostrophe ', line\n, bell \u0007, nul \0, 𝄞, é";
	protected volatile transient int number;
	private List<? extends U>[] lists;
	static final double[] REALS = { 1e7, 9999999, 1e-3, 1e-4, 100, 0.1, 1.5e300, Double.NaN, -0.0,
		Double.MIN_VALUE, Double.POSITIVE_INFINITY };
	static final float[] SINGLES = { 16777216f, 0.1f, 1e10f, Float.MIN_VALUE };

	Forms(int... numbers) throws IOException {
		number = numbers.length;
	}

	abstract <E extends Exception> void fails(Class<E> with) throws E, IOException;

	native synchronized long[][] nothing(byte b, char c, short s, boolean z);

	static strictfp double sum(double a, float b) {
		return a + b;
	}

	@SafeVarargs
	static <V> int pick(String which, V... values) {
		switch (which) {
		case "a":
			return values.length;
		case "b":
			return -1;
		default:
			return 40000;
		}
	}

	Object[] make(int n) {
		n += 1000;
		int[][] grid = new int[n][70000];
		byte[] bytes = new byte[3];
		switch (n) {
		case 0: return new String[grid.length];
		case 1: return new String[][] { { TEXT } };
		case 2: return null;
		default: return new Object[] { 5_000_000_000L, bytes, 'x' };
		}
	}

	int guarded(Callable<Integer> c) {
		try {
			return c.call();
		} catch (IOException | RuntimeException e) {
			return 1;
		} catch (Exception e) {
			return 2;
		} finally {
			number++;
		}
	}

	Runnable later() {
		return () -> System.out.println("number " + number + REALS[0]);
	}

	enum Way { UP, DOWN }

	@interface Mark { int[] value() default { 1, 2 }; }

	interface Shape<S extends Shape<S>> extends Comparable<S>, Runnable {
		default int area() { return 0; }
		static void draw() { }
		void move(Map.Entry<S, ? super S> by);
	}

	class Inner<W> {
		Forms<T, U>.Inner<W> self(T[]... t) { return this; }
	}
}
