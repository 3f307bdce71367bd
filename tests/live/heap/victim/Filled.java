/**
 * N thousand small objects in one array, which a walk finds all at once; half of them garbage with
 * the argument "garbage".
 *
 * Usage: Filled N [garbage]
 */
final class Filled extends Victim {
	private static Object[] all;

	public static void main(String[] args) throws Exception {
		boolean garbage = args.length > 1;
		Object[] objects = new Object[Integer.parseInt(args[0]) * 1000];

		all = objects;
		for (int i = 0; i < objects.length; i++)
			objects[i] = new int[0];
		for (int i = 0; garbage && i < objects.length; i += 2)
			objects[i] = null;
		System.gc(); // it would touch further pages of the heap at any time
		new Filled().serve();
	}
}
