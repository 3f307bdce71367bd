/**
 * N generated classes, each with M instances, defined by a few loaders.
 *
 * Usage: Classes N M
 */
final class Classes extends Victim {
	private static final int LOADERS = 8;

	private final Generated[] loaders = new Generated[LOADERS];
	private final Generated.Base[][] instances;

	private Classes(int n, int m) throws Exception {
		for (int i = 0; i < LOADERS; i++)
			loaders[i] = new Generated();
		instances = new Generated.Base[n][m];
		for (int i = 0; i < n; i++)
			instances[i][0] = loaders[i % LOADERS].define(name(i));
		/* Interleaved, like the objects of an application. */
		for (int j = 1; j < m; j++) {
			for (int i = 0; i < n; i++)
				instances[i][j] = instances[i][0].copy();
		}
	}

	/** Class names that are as long and as similar as real ones: sorting costs as much. */
	private static String name(int i) {
		return "com.acme.shop.part" + i % 50 + ".Made" + i;
	}

	public static void main(String[] args) throws Exception {
		Classes victim = new Classes(Integer.parseInt(args[0]), Integer.parseInt(args[1]));

		System.gc();
		victim.serve();
	}
}
