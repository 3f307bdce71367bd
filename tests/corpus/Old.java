/**
 * Source for old versions of javac: finally as a subroutine (jsr, ret), class literals by forName,
 * no stack maps. Java 1.3. Prints its results.
 */
public class Old {
	static class Refused extends RuntimeException {
		Refused(String why) {
			super(why);
		}
	}

	private final String name;
	private static int cleaned;

	Old(String name) {
		this(name, name.length());
		try {
			say("made " + name);
		} finally {
			cleaned++;
		}
	}

	private Old(String name, int length) {
		if (length > 6)
			throw new Refused(name);
		this.name = name;
	}

	private static void say(String what) {
		System.out.println(what);
	}

	/* A return through finally, a value that lives across the subroutine, and a loop that is
	 * left through it. */
	static long nested(int way, double scale) {
		long sum = 0;
		for (int i = 0;; i++) {
			try {
				try {
					if (i == way)
						return sum + (long) (scale * i);
					if (i == way - 3)
						continue;
					if (way < 0)
						throw new Refused("way " + way);
					sum += i;
				} finally {
					cleaned++;
					try {
						sum += 100 / (way - 5);
					} catch (ArithmeticException e) {
						sum += 1000;
					} finally {
						cleaned++;
					}
				}
				if (i > 20)
					break;
			} catch (Refused e) {
				sum -= 7;
				return sum;
			} finally {
				sum *= 2;
			}
		}
		return sum;
	}

	static synchronized int locked(int[] cells, int at) {
		synchronized (cells) {
			try {
				return cells[at];
			} catch (ArrayIndexOutOfBoundsException e) {
				return -1;
			} finally {
				cleaned++;
			}
		}
	}

	static int chosen(int key) {
		switch (key) {
		case 0:
			return 10;
		case 1:
		case 2:
			try {
				return chosen(key - 1) + 1;
			} finally {
				cleaned++;
			}
		case 1000000:
			return -5;
		default:
			return key;
		}
	}

	static float swallowed(float f) {
		while (true) {
			try {
				throw new Refused("never seen");
			} finally {
				f += 0.5f;
				if (f > 3)
					break;
				continue;
			}
		}
		return f;
	}

	static Object escaping(int depth) {
		try {
			if (depth == 0)
				throw new Refused("bottom");
			return escaping(depth - 1);
		} finally {
			cleaned += depth;
		}
	}

	public static void main(String[] args) {
		for (int way = -2; way < 9; way++)
			say("nested " + way + " " + nested(way, 1.5));
		say("locked " + locked(new int[] { 3, 4 }, 1) + " " + locked(new int[0], 0));
		int[] keys = { 0, 1, 2, 3, 1000000, -1 };
		for (int i = 0; i < keys.length; i++)
			say("chosen " + chosen(keys[i]));
		say("swallowed " + swallowed(1));
		try {
			escaping(5);
		} catch (Refused e) {
			say("escaped " + e.getMessage());
		}
		try {
			say(new Old("short").name + new Old("too long").name);
		} catch (Refused e) {
			say("refused " + e.getMessage() + " " + Old.class.getName());
		}
		say("cleaned " + cleaned);
	}
}
