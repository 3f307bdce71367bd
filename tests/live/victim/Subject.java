/** The class that tests replace; its other versions are this file with other numbers. */
class Subject {
	int calls;

	static int ours() {
		return 1001;
	}

	static int theirs() {
		return 1111;
	}

	/** Has NaN constants: HotSpot never finds them equal when it merges constant pools, and so
	 * adds them at each redefinition. */
	static boolean isOdd() {
		double d = Double.NaN;
		float f = Float.NaN;
		return d != d && f != f;
	}

	/** Both results in one answer, for callers on other threads. */
	int both() {
		calls++;
		return isOdd() ? ours() * 10000 + theirs() : 0;
	}
}
