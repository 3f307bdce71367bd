import java.util.Random;

/**
 * A heap of a realistic size, with a hundred objects of class Wanted.
 *
 * "big": 8.8 million objects, 270 MB, in trees of nine objects that are adjacent in memory, as in
 * an application that has just started; arrays of a thousand refer to the trees. "random": 6.4
 * million objects, 205 MB, each with references to three random others, so that caches do not help
 * a heap walk.
 *
 * Usage: BigHeap big|random [PART]; PART scales the number of objects, for example 0.01
 */
final class BigHeap extends Victim {
	private static final int ORDERS = 980000;
	private static final int CELLS = 6400000;
	private static final int WANTED = 100;
	private static final int THOUSAND = 1000;

	private static Object[] held;

	private static final class Wanted {
	}

	private static final class Order {
		final Customer customer = new Customer();
		final Line line = new Line();
		final Stamp stamp = new Stamp();
		Object note;
		long number;
	}

	private static final class Customer {
		final Text name = new Text(16);
		final Address address = new Address();
		int number;
	}

	private static final class Address {
		final Text city = new Text(24);
		int code;
		long since;
	}

	private static final class Text {
		final byte[] value;
		int hash;

		Text(int length) {
			value = new byte[length];
		}
	}

	private static final class Line {
		Line next;
		int pieces;
		long price;
	}

	private static final class Stamp {
		long millis;
	}

	private static final class Cell {
		Object a, b, c;
		long value;
	}

	private static void makeOrders(int n) {
		held = new Object[n / THOUSAND];
		for (int i = 0; i < held.length; i++) {
			Order[] orders = new Order[THOUSAND];
			for (int j = 0; j < THOUSAND; j++)
				orders[j] = new Order();
			if (i % Math.max(1, held.length / WANTED) == 0)
				orders[i % THOUSAND].note = new Wanted();
			held[i] = orders;
		}
	}

	/** `a` leads from each object to another until all are visited; `b` and `c` are random. */
	private static void makeCells(int n) {
		Random random = new Random(1);
		Cell[] cells = new Cell[n];

		for (int i = 0; i < n; i++)
			cells[i] = new Cell();
		for (int i = n - 1; i > 0; i--) {
			int other = random.nextInt(i + 1);
			Cell cell = cells[i];
			cells[i] = cells[other];
			cells[other] = cell;
		}
		for (int i = 0; i < n; i++) {
			cells[i].a = i % (n / WANTED) == 1 ? new Wanted() : cells[(i + 1) % n];
			cells[i].b = cells[random.nextInt(n)];
			cells[i].c = cells[random.nextInt(n)];
		}
		held = new Object[] { cells[0] };
	}

	public static void main(String[] args) throws Exception {
		double part = args.length > 1 ? Double.parseDouble(args[1]) : 1;

		if (args[0].equals("big"))
			makeOrders((int) (ORDERS * part));
		else
			makeCells((int) (CELLS * part));
		System.gc();
		new BigHeap().serve();
	}
}
