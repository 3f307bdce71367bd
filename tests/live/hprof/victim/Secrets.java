import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Holds 1,000 secrets in each form in which a heap can have them: in strings, Latin-1 and not, in
 * arrays, in numbers, as keys of a map, in a constant of the class file, and on a thread's stack.
 */
final class Secrets extends Victim {
	private static final int N = 1000;
	private static final String LITERAL = "k3y-9999-literal";
	private static long number = 0x5ec4e7deadbeefL;
	private static final Map<String, Item> ITEMS = new HashMap<>();

	private static final class Item {
		final Item next;
		final String text;
		final String wide;
		final char[] chars;
		final byte[] latin1;
		final byte[] utf16;
		final long account;
		final long[] accounts;

		Item(int i, Item next) {
			String secret = String.format("k3y-%04d", i);

			this.next = next;
			text = secret + "-text";
			wide = "\u20ac" + secret;
			chars = secret.toCharArray();
			latin1 = secret.getBytes(StandardCharsets.ISO_8859_1);
			utf16 = secret.getBytes(StandardCharsets.UTF_16LE);
			account = 0x5ec4e70000000000L + i;
			accounts = new long[] { account, i };
			text.hashCode(); // is stored in the string
		}
	}

	private static void hold(List<Item> items) {
		Object held = items.get(N / 2);

		try {
			Thread.sleep(Long.MAX_VALUE);
		} catch (InterruptedException e) {
			System.out.println(held);
		}
	}

	public static void main(String[] args) throws Exception {
		List<Item> items = new ArrayList<>();
		Item last = null;

		for (int i = 0; i < N; i++) {
			last = new Item(i, i % 10 == 0 ? null : last);
			items.add(last);
			ITEMS.put(LITERAL + i, last);
		}
		Thread holder = new Thread(() -> hold(items), "k3y-0000-thread");
		holder.setDaemon(true);
		holder.start();
		new Secrets().serve();
	}
}
