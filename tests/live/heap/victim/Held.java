/**
 * N thousand objects in long lists that one static field refers to, and a ticker.
 *
 * Usage: Held N. "gap" answers the longest pause in ms since the last "gap".
 */
final class Held extends Victim {
	private static final int LIST = 1000;

	private static Held all;

	private final Ticker ticker = new Ticker();
	private final Item[] lists;

	private static final class Item {
		Item next;
		Object value;
	}

	private Held(int n) {
		lists = new Item[n];
		for (int i = 0; i < n; i++)
			lists[i] = list();
		ticker.start();
	}

	private static Item list() {
		Item last = null;

		for (int i = 0; i < LIST; i += 2) {
			Item item = new Item();
			item.next = last;
			item.value = i % 20 == 0 ? (Object) new int[i % 9] : Integer.valueOf(i + LIST);
			last = item;
		}
		return last;
	}

	@Override
	String answer(String line) {
		return line.equals("gap") ? "gap " + ticker.largestGap() : null;
	}

	public static void main(String[] args) throws Exception {
		all = new Held(Integer.parseInt(args[0]));
		System.gc();
		all.serve();
	}
}
