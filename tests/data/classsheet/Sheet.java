import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;

/** Pair has every attribute that is shown, and annotations with every kind of value. */
final class Sheet {
	@Retention(RetentionPolicy.RUNTIME)
	@interface Deep {
		int[] numbers() default {};

		ElementType type() default ElementType.TYPE;

		Class<?> other() default Object.class;
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Mark {
		String value();

		Deep[] deep() default {};

		char letter() default 'x';
	}

	sealed interface Kin permits Pair, Other {
	}

	record Other() implements Kin {
	}

	@Mark(value = "a", deep = { @Deep(numbers = { 1, 2 }), @Deep(other = int[].class) }, letter = 'y')
	@Deprecated
	record Pair<T>(@Deprecated int first, List<? super T> second) implements Kin {
		static final long LIMIT = 5;

		<E extends Exception> T either(T[]... all) throws IOException {
			throw new IOException();
		}
	}
}
