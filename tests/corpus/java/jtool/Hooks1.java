package java.jtool;

/**
 * The hooks in Java, for JVMs whose own classes are instrumented. They are called before any other
 * class is initialised, so they use none.
 */
public final class Hooks1 {
	private static final int MARK = 0x5eed1234;

	/** The number of calls of each hook. */
	private static long enters, args, exits, fails;
	/** Calls of made(), of array() and arrays(), and of result(); and how many of their objects
	 * are a String, a byte[], and a char[]. */
	private static long made, arrays, results, strings, bytes, chars;
	/** Calls with impossible arguments: another call's token, or another method's number. */
	private static long wrong;

	private Hooks1() {
	}

	/** Returns the counts at one instant. The caller is instrumented, too, and changes them. */
	public static synchronized long[] counts() {
		return new long[] { enters, args, exits, fails, wrong };
	}

	/** Returns the counts of allocations at one instant. */
	public static synchronized long[] places() {
		return new long[] { made, arrays, results, strings, bytes, chars, wrong };
	}

	private static void check(long token) {
		if ((int) token != MARK)
			wrong++;
	}

	private static void check(long token, int id) {
		if ((int) token != MARK || (int) (token >>> 32) != id)
			wrong++;
	}

	public static synchronized long enter(int id) {
		enters++;
		return (long) id << 32 | MARK;
	}

	public static synchronized void argI(long token, int value) {
		args++;
		check(token);
	}

	public static synchronized void argJ(long token, long value) {
		args++;
		check(token);
	}

	public static synchronized void argF(long token, float value) {
		args++;
		check(token);
	}

	public static synchronized void argD(long token, double value) {
		args++;
		check(token);
	}

	public static synchronized void argL(long token, Object value) {
		args++;
		check(token);
	}

	public static synchronized void exit(long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void exitI(int value, long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void exitJ(long value, long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void exitF(float value, long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void exitD(double value, long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void exitL(Object value, long token, int id) {
		exits++;
		check(token, id);
	}

	public static synchronized void fail(Throwable thrown, long token, int id) {
		fails++;
		check(token, id);
		if (thrown == null)
			wrong++;
	}

	private static void see(Object object) {
		if (object == null)
			wrong++;
		else if (object instanceof byte[])
			bytes++;
		else if (object instanceof char[])
			chars++;
	}

	public static synchronized void made(Object object, int hash) {
		made++;
		if (hash == 0)
			wrong++;
		if (object instanceof String)
			strings++;
	}

	public static synchronized void array(Object array, int length, int site) {
		arrays++;
		see(array);
		if (length < 0 || site <= 0)
			wrong++;
	}

	public static synchronized void arrays(Object array, int site) {
		arrays++;
		see(array);
		if (!(array instanceof Object[]) || site <= 0)
			wrong++;
	}

	public static synchronized void result(Object result, int site) {
		if (site == 0)
			return;
		results++;
		see(result);
		if (site <= 0)
			wrong++;
	}
}
