import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * Allocates objects in all the ways that JIT compilers replace by intrinsics, and prints what the
 * hooks in Java (Hooks1.places) have counted: "NAME KIND COUNT EXPECTED".
 */
public final class Places implements Cloneable {
	private static final int N = 100_000;
	/** Indexes into the result of Hooks1.places(). */
	private static final int MADE = 0, ARRAYS = 1, RESULTS = 2, STRINGS = 3, BYTES = 4, CHARS = 5;
	private static final String[] NAMES = { "made", "arrays", "results", "strings", "bytes",
		"chars" };

	private static Object sink;
	private static Method places;

	private interface Maker {
		Object make(int i) throws Exception;
	}

	public Places() {
	}

	/** Runs `maker` N times; `expected` has pairs: a kind, and how often one run counts it. */
	private static void count(String name, Maker maker, int... expected) throws Exception {
		long[] before = (long[]) places.invoke(null);
		long[] after;

		for (int i = 0; i < N; i++)
			sink = maker.make(i);
		after = (long[]) places.invoke(null);
		for (int i = 0; i < expected.length; i += 2) {
			int kind = expected[i];

			System.out.println(name + " " + NAMES[kind] + " " + (after[kind] - before[kind]) +
				" " + (long) expected[i + 1] * N);
		}
	}

	private static String concat(int i, String s) {
		return new StringBuilder().append("a").append(i).append(s).toString();
	}

	private static String shown(int i, String s) {
		return String.valueOf(new StringBuilder().append("a").append(i).append(s));
	}

	public static void main(String[] args) throws Exception {
		final BigInteger big = BigInteger.ONE.shiftLeft(200).subtract(BigInteger.ONE);
		final BigInteger other = big.negate();
		final String[] texts = new String[3];
		final char[] wide = { '\u1234', 'a' };
		final Constructor<Places> constructor = Places.class.getConstructor();
		final Places place = new Places();
		final boolean chars = System.getProperty("java.version").startsWith("1.8");
		final int content = chars ? CHARS : BYTES;

		places = Class.forName("java.jtool.Hooks1").getMethod("places");
		for (int round = 0; round < 2; round++) {
			count("concat", i -> concat(i, "b"), STRINGS, 1, content, 2);
			count("shown", i -> shown(i, "b"), STRINGS, 1, content, 2);
			count("wide", i -> new String(wide), STRINGS, 1, content, chars ? 1 : 2);
			count("multiply", i -> big.multiply(other), MADE, 1, RESULTS, 1, ARRAYS, 1);
			count("copyOf", i -> Arrays.copyOf(texts, 5), RESULTS, 1, ARRAYS, 0);
			count("copyOfRange", i -> Arrays.copyOfRange(texts, 1, 2), RESULTS, 1, ARRAYS, 0);
			count("copyOf int", i -> Arrays.copyOf(new int[1], 5), RESULTS, 0, ARRAYS, 2);
			count("newInstance", i -> Array.newInstance(String.class, 2), RESULTS, 1,
				ARRAYS, 0);
			count("array clone", i -> texts.clone(), RESULTS, 1, ARRAYS, 0);
			count("clone", i -> place.clone(), RESULTS, 1, MADE, 0);
			count("multi", i -> new int[2][3], ARRAYS, 1);
			count("box", i -> Integer.valueOf(1000 + i), MADE, 1);
			count("reflection", i -> constructor.newInstance(), MADE, 1, RESULTS, 0);
		}
	}
}
