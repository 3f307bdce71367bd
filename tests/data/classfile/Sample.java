import java.util.function.Supplier;

abstract class Sample<T extends Comparable<T>> implements Runnable, java.io.Serializable {
	static final long BIG = 1234567890123L;
	private int count = 3;
	protected T[] values;

	Sample(T[] values) {
		this.values = values;
	}

	int pick(int key, String name, long[][] unused) throws java.io.IOException {
		switch (key) {
		case 1: return 10;
		case 2: return 20;
		case 3: return 30;
		case 1000: return count++;
		default: break;
		}
		switch (name) {
		case "a": return 1;
		case "bb": return 2;
		}
		try {
			synchronized (this) {
				if (name.isEmpty())
					throw new java.io.IOException(name);
			}
		} finally {
			count += 1000;
		}
		return (int) BIG;
	}

	Supplier<String> later() {
		return () -> "later" + count;
	}

	abstract void nothing();
	native double far(double d);
}
