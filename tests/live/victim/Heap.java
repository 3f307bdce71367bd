/**
 * A heap of about N million objects of several shapes; idle once it is ready.
 *
 * Usage: Heap N, which may be a fraction such as 0.1
 */
final class Heap extends Victim {
	private static final int MILLION = 1000000;

	private static class Leaf {
		int value;
	}

	private static final class Wide extends Leaf {
		long a, b, c, d;
	}

	private static final class Node {
		Node next;
		Object payload;
	}

	private final Object[][] millions;
	private final byte[][] big = new byte[8][1 << 20];
	private final long[] longs = new long[1 << 18];
	private final int[][][] cube = new int[10][10][10];

	private Heap(double n) {
		millions = new Object[(int) Math.ceil(n)][];
		for (int i = 0; i < millions.length; i++)
			millions[i] = objects((int) (MILLION * Math.min(1, n - i)), i);
	}

	/** Creates this many objects, reachable from an array: half of them nodes, each with a
	 * payload. */
	private static Object[] objects(int count, int seed) {
		Object[] all = new Object[count / 2];
		Node last = null;

		for (int i = 0; i < all.length; i++) {
			Node node = new Node();
			node.next = last;
			node.payload = payload(seed + i);
			last = i % 1000 == 0 ? null : node;
			all[i] = node;
		}
		return all;
	}

	private static Object payload(int i) {
		switch (i % 8) {
		case 0: return new int[i % 31];
		case 1: return new Wide();
		case 2: return new Object[i % 7];
		case 3: return new byte[i % 100];
		case 4: return Double.valueOf(i);
		default: return new Leaf();
		}
	}

	public static void main(String[] args) throws Exception {
		Heap heap = new Heap(Double.parseDouble(args[0]));

		System.gc();
		heap.serve();
	}
}
