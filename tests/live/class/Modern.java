import java.util.List;

/** What JDK 17 has beyond JDK 8. */
public final class Modern {
	record Point<T>(int x, List<T> names) implements Fruit {
	}

	sealed interface Fruit permits Apple, Point {
	}

	static final class Apple implements Fruit {
	}

	final Object[] kept = { new Point<>(1, List.of("a")), new Apple() };
}
