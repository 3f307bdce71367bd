import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The application that scripts/demo looks into: a little shop that takes orders, and never
 * forgets a visitor.
 */
public final class Shop {
	private static final int CATALOGUE = 2000;
	private static final int OPEN_ORDERS = 5000;

	record Product(int id, String name, long cents) {
	}

	record Line(Product product, int quantity) {
	}

	record Order(long number, String customer, List<Line> lines) {
	}

	/** Retained for each visitor: the baskets make the heap grow. */
	static final class Visit {
		final String address;
		final byte[] basket = new byte[256];

		Visit(String address) {
			this.address = address;
		}
	}

	private final Random random = new Random(42);
	private final Product[] catalogue = new Product[CATALOGUE];
	private final Deque<Order> open = new ArrayDeque<>();
	private final Map<String, Visit> visits = new HashMap<>();
	private long orders;

	private Shop() {
		for (int i = 0; i < CATALOGUE; i++)
			catalogue[i] = new Product(i, "product " + i, 100 + random.nextInt(10000));
	}

	private void order() {
		List<Line> lines = new ArrayList<>();

		for (int i = 0; i <= random.nextInt(4); i++)
			lines.add(new Line(catalogue[random.nextInt(CATALOGUE)], 1 + i));
		open.add(new Order(++orders, "customer " + random.nextInt(1000), lines));
		if (open.size() > OPEN_ORDERS)
			open.remove();
	}

	private void visit() {
		String address = "10." + random.nextInt(50) + "." + random.nextInt(256) + "." +
			random.nextInt(256);

		visits.computeIfAbsent(address, Visit::new);
	}

	public static void main(String[] args) throws InterruptedException {
		Shop shop = new Shop();

		for (int i = 0; i < 20000; i++) {
			shop.visit();
			shop.order();
		}
		System.out.println("open");
		for (;;) {
			shop.visit();
			shop.order();
			Thread.sleep(1);
		}
	}
}
