import java.lang.ref.SoftReference;

/**
 * Objects with known retained sizes: a cache of many small entries, a large array and a text,
 * objects that two others share, objects of a thread and of a soft reference, and a list.
 */
final class Retained extends Victim {
	static final int SLOTS = 100000, SHARED = 1000, NODES = 100000;

	static final class Cell {
	}

	static final class Slot {
		final Cell[] cells = new Cell[10];
	}

	static final class Cache {
		static final Cache INSTANCE = new Cache();

		final Slot[] slots = new Slot[SLOTS];

		Cache() {
			for (int i = 0; i < SLOTS; i++)
				slots[i] = new Slot();
		}
	}

	static final class Shared {
		final long[] values = new long[1000];
	}

	static final class One {
		static Shared[] all;
	}

	static final class Other {
		static Shared[] all;
	}

	static final class Node {
		final Node next;

		Node(Node next) {
			this.next = next;
		}
	}

	/** Its field is referenced by the thread only, not by a frame. */
	static final class Worker extends Thread {
		final int[] scratch = new int[500000];

		Worker() {
			super("worker-17");
		}

		@Override
		public void run() {
			try {
				join();
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	static final byte[] BLOB = new byte[5000000];
	static final SoftReference<short[]> SOFT = new SoftReference<>(new short[300000]);
	static final String TEXT = text();
	static Node list;

	private static String text() {
		StringBuilder b = new StringBuilder();

		while (b.length() < 300000)
			b.append("All work and no play. ");
		return b.toString();
	}

	private static void share() {
		One.all = new Shared[SHARED];
		Other.all = new Shared[SHARED];
		for (int i = 0; i < SHARED; i++)
			One.all[i] = Other.all[i] = new Shared();
	}

	private static Node list() {
		Node last = null;

		for (int i = 0; i < NODES; i++)
			last = new Node(last);
		return last;
	}

	public static void main(String[] args) throws Exception {
		Thread worker = new Worker();

		share();
		list = list();
		worker.setDaemon(true);
		worker.start();
		if (Cache.INSTANCE.slots.length != SLOTS)
			throw new AssertionError();
		System.gc();
		new Retained().serve();
	}
}
