import java.util.List;

/** Class kinds that JDK 17 has and JDK 8 lacks. */
public final class Modern {
	record Point<T>(int x, List<T> names) implements Fruit {
	}

	sealed interface Fruit permits Apple, Point {
	}

	static final class Apple implements Fruit {
	}

	final Object[] kept = { new Point<>(1, List.of("a")), new Apple() };
}
