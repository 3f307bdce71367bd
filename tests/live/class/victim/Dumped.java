import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.management.ManagementFactory;
import java.security.MessageDigest;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.function.IntUnaryOperator;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Classes of all kinds to be dumped, a hot method, and class names that are unsafe for files.
 *
 * "hot" runs the method for a while. "race" starts an endless loop, and "turns" answers its number
 * of turns and its CPU time. "names" defines the classes with unsafe names, "twins" two classes of
 * one name.
 */
final class Dumped extends Victim {
	enum Colour { RED, GREEN }

	@Retention(RetentionPolicy.RUNTIME)
	@interface Marked {
		String value() default "";

		int[] numbers() default {};
	}

	interface Shape<T extends Comparable<T>> {
		T area();

		default String shown() {
			return "area " + area();
		}
	}

	@Marked(value = "a circle", numbers = { 1, 2 })
	static class Circle implements Shape<Double> {
		private final double radius;

		Circle(double radius) {
			this.radius = radius;
		}

		@Override
		public Double area() {
			return Math.PI * radius * radius;
		}
	}

	private static final int TURN = 1 << 20;

	private final List<Object> kept = new ArrayList<>();
	private volatile long turns;
	private Thread racer;
	private long sum;

	static int spin(int n) {
		int x = 1;

		for (int i = 0; i < n; i++)
			x += i ^ (x >>> 3);
		return x;
	}

	private String hot() {
		for (int i = 0; i < 20000; i++)
			sum += spin(100);
		return "hot " + (sum != 0);
	}

	/** One endless frame, compiled while it runs: if it is deoptimised, it stays in interpreted
	 * code. */
	private void race() {
		int x = 1;

		for (;;) {
			for (int i = 0; i < TURN; i++)
				x += i ^ (x >>> 3);
			turns += x == 0 ? 2 : 1;
		}
	}

	private String startRace() {
		racer = new Thread((Runnable) this::race);
		racer.setDaemon(true);
		racer.start();
		return "racing";
	}

	private static long timeOf(Thread t) {
		return ManagementFactory.getThreadMXBean().getThreadCpuTime(t.getId());
	}

	private static String named(Colour colour) {
		switch (colour) {
		case RED:
			return "red";
		case GREEN:
			return "green";
		default:
			throw new IllegalArgumentException();
		}
	}

	/** Uses parts of the JDK's class library as an application does, and some of our
	 * classes. */
	private void useMuch() throws Exception {
		Map<Colour, String> names = new EnumMap<>(Colour.class);
		IntUnaryOperator twice = x -> 2 * x;
		Object anonymous = new Object() {
			@Override
			public String toString() {
				try {
					return Integer.toString(Integer.parseInt("x"));
				} catch (NumberFormatException e) {
					return "none";
				}
			}
		};

		for (Colour colour : Colour.values())
			names.put(colour, named(colour));
		kept.add(new Circle(1).shown() + anonymous + names);
		kept.add(IntStream.range(0, 9).map(twice).boxed().collect(Collectors.toList()));
		kept.add(new ConcurrentHashMap<>(names));
		kept.add(MessageDigest.getInstance("SHA-256").digest(new byte[1]));
		kept.add(LocalDateTime.now() + String.format(Locale.ROOT, "%08.3f", 1.0));
		kept.add(Pattern.compile("(a|b)*[c-e]{2,3}").matcher("abcd").matches());
		kept.add(Logger.getLogger("dumped"));
		Executors.newCachedThreadPool().submit(() -> named(Colour.RED)).get();
	}

	private String define(String... names) throws Exception {
		for (String name : names)
			kept.add(new Generated().define(name));
		return "defined " + names.length;
	}

	private static String repeat(char c, int n) {
		return new String(new char[n]).replace('\0', c);
	}

	@Override
	String answer(String line) throws Exception {
		switch (line) {
		case "hot":
			return hot();
		case "race":
			return startRace();
		case "turns":
			return "turns " + turns + " " + timeOf(racer);
		case "twins":
			return define("twins.Same", "twins.Same");
		case "names":
			return define("evil.a\nb", "evil.a100%", "evil.-rf", "evil.%2E%2E",
				"evil.a b", "evil.\u202egnp", "evil.\ud840\udc00", "evil.Case",
				"evil.case", "evil." + repeat('x', 300), "evil." + repeat('\u00e4', 200),
				"evil.a\\b", "evil.\u0007", "evil.~");
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		Dumped victim = new Dumped();

		victim.useMuch();
		victim.hot();
		victim.serve();
	}
}
