import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.SoftReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * Random graphs of objects, whose properties are also computed by brute force.
 *
 * The nodes have the classes of Made, which made.py writes: almost every node has its own class,
 * which identifies it. "build SEED" builds a new graph and drops the old one, "gc" collects,
 * "expect" answers the present graph and its properties in JSON.
 */
final class Graphs extends Victim {
	private static final int WORKERS = 3;
	private static final int THREAD_LOCALS = 2;
	private static final int SHAPES = 6, CHAIN = 2;

	/** An object with references in numbered slots. */
	interface Node {
		/** Its number within its class. */
		int serial();

		int slots();

		Object get(int slot);

		void set(int slot, Object to);

		/** The name of the field of this slot. */
		String name(int slot);
	}

	/** Creates nodes. */
	abstract static class Maker {
		/** Creates one or several instances of each class, and arrays of them. */
		abstract List<Object> objects(Random random);

		/** The nodes in static constants, which are the same in every graph. */
		abstract Node[] hooks();

		abstract String hookOwner(int hook);

		abstract String hookName(int hook);

		/** Adds references, each to one node of the list. */
		abstract void addReferences(List<Object> nodes, Random random);

		/** Whether this may be an element of that array. */
		abstract boolean fits(Object[] array, Object element);

		abstract int roots();

		abstract Object root(int root);

		abstract void setRoot(int root, Object to);

		abstract String rootOwner(int root);

		abstract String rootName(int root);
	}

	/** Refers to nodes in all the ways that a thread can. */
	private static final class Worker extends Thread {
		private static final List<ThreadLocal<Object>> KEYS =
				new ArrayList<ThreadLocal<Object>>();
		static {
			for (int i = 0; i < THREAD_LOCALS; i++)
				KEYS.add(new ThreadLocal<Object>());
		}
		static final int LOCAL = 0, LOCKED = 1, THREAD_LOCAL = 2;
		static final int HELD = THREAD_LOCAL + THREAD_LOCALS;

		private final CountDownLatch ready = new CountDownLatch(1);
		private final int number;
		private Object box;
		private Object[] passed;
		private boolean wanted, over;

		Worker(int number, Object box, Object[] toHold) {
			super("worker-" + number);
			this.number = number;
			this.box = box;
			passed = toHold;
			setDaemon(true);
		}

		@Override
		public void run() {
			for (int i = 0; i < THREAD_LOCALS; i++)
				KEYS.get(i).set(passed[THREAD_LOCAL + i]);
			hold(take(LOCAL), take(LOCKED));
		}

		private Object take(int i) {
			Object taken = passed[i];

			if (i == LOCKED)
				passed = null;
			return taken;
		}

		private void hold(Object local, Object locked) {
			synchronized (locked) {
				ready.countDown();
				serve(local, locked);
			}
		}

		/** Waits until the end, and answers requests for the nodes that it refers to. */
		private synchronized void serve(Object local, Object locked) {
			while (!over) {
				if (wanted) {
					passed = new Object[HELD];
					passed[LOCAL] = local;
					passed[LOCKED] = locked;
					for (int i = 0; i < THREAD_LOCALS; i++)
						passed[THREAD_LOCAL + i] = KEYS.get(i).get();
					wanted = false;
					notifyAll();
				}
				await(this);
			}
		}

		synchronized Object[] show() {
			wanted = true;
			notifyAll();
			while (wanted)
				await(this);
			Object[] shown = passed;
			passed = null;
			return shown;
		}

		void end() throws InterruptedException {
			synchronized (this) {
				over = true;
				notifyAll();
			}
			join();
		}

		private static void await(Object o) {
			try {
				o.wait();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	private final Maker maker;
	private final List<Worker> workers = new ArrayList<Worker>();

	private Graphs(Maker maker) {
		this.maker = maker;
	}

	/* Building. */

	private static int slots(Object node) {
		return node instanceof Node ? ((Node) node).slots() : ((Object[]) node).length;
	}

	private static Object get(Object node, int slot) {
		return node instanceof Node ? ((Node) node).get(slot) : ((Object[]) node)[slot];
	}

	private void set(Object node, int slot, Object to) {
		if (node instanceof Node)
			((Node) node).set(slot, to);
		else if (maker.fits((Object[]) node, to))
			((Object[]) node)[slot] = to;
	}

	/** Nodes that can refer to any other one come first. */
	private static final Comparator<Object> HOLDERS_FIRST = new Comparator<Object>() {
		@Override
		public int compare(Object a, Object b) {
			return Boolean.compare(holds(b), holds(a));
		}

		private boolean holds(Object node) {
			return node instanceof Node && !(node instanceof Reference) && slots(node) > 0;
		}
	};

	private static Object any(List<Object> nodes, Random random) {
		return nodes.get(random.nextInt(nodes.size()));
	}

	/** The target of this node's slot in a graph of this shape; -1: none. */
	private static int target(int shape, int from, int slot, int n, Random random) {
		switch (shape) {
		case 0: /* any node */
			return random.nextInt(3) > 0 ? random.nextInt(n) : -1;
		case 1: /* later nodes only: no cycle */
			return from + 1 < n ? from + 1 + random.nextInt(n - from - 1) : -1;
		case CHAIN: /* a chain with a few references back */
			return slot == 0 ? from + 1 < n ? from + 1 : -1
					: random.nextInt(20) == 0 ? random.nextInt(from + 1) : -1;
		case 3: /* cycles, each referring to the next */
			return slot == 0 ? from % 7 == 6 ? from - 6 : from + 1 < n ? from + 1 : -1
					: random.nextInt(4) == 0 ? random.nextInt(n) : -1;
		case 4: /* a tree with few shortcuts */
			return random.nextInt(30) == 0 ? random.nextInt(n)
					: 3 * from + 1 + slot < n && slot < 3 ? 3 * from + 1 + slot : -1;
		default: /* nearby nodes */
			return Math.min(n - 1, Math.max(0, from + random.nextInt(11) - 4));
		}
	}

	private void connect(List<Object> nodes, int shape, Random random) {
		for (int i = 0; i < nodes.size(); i++) {
			Object node = nodes.get(i);
			for (int slot = 0; slot < slots(node); slot++) {
				int to = target(shape, i, slot, nodes.size(), random);
				if (to >= 0)
					set(node, slot, nodes.get(to));
			}
		}
	}

	private void forget() throws InterruptedException {
		for (Worker worker : workers)
			worker.end();
		workers.clear();
		for (Node hook : maker.hooks()) {
			for (int slot = 0; slot < hook.slots(); slot++)
				hook.set(slot, null);
		}
	}

	private void employ(List<Object> nodes, Random random) throws InterruptedException {
		for (int i = 0; i < WORKERS; i++) {
			Object[] toHold = new Object[Worker.HELD];
			for (int j = 0; j < toHold.length; j++)
				toHold[j] = any(nodes, random);
			toHold[Worker.LOCKED] = nodes.get(i); /* by this thread only */
			Worker worker = new Worker(i, any(nodes, random), toHold);
			worker.start();
			worker.ready.await();
			workers.add(worker);
		}
	}

	private void build(long seed) throws InterruptedException {
		Random random = new Random(seed);
		int shape = (int) (seed % SHAPES);

		forget();
		List<Object> nodes = maker.objects(random);
		Collections.addAll(nodes, (Object[]) maker.hooks());
		Collections.shuffle(nodes, random);
		maker.addReferences(nodes, random);
		if (shape == CHAIN)
			Collections.sort(nodes, HOLDERS_FIRST);
		connect(nodes, shape, random);
		/* In a chain, roots refer only to the first nodes: others would shorten the paths
		 * to its end. */
		List<Object> held = shape == CHAIN ? nodes.subList(0, 10) : nodes;
		for (int root = 0; root < maker.roots(); root++)
			maker.setRoot(root, random.nextInt(3) > 0 ? any(held, random) : null);
		employ(held, random);
	}

	/* Describing the graph. */

	private static String name(Object node) {
		String of = node.getClass().getName();

		if (node instanceof Node)
			return of + '#' + ((Node) node).serial();
		/* "[[LMade$A7;" */
		int dims = of.lastIndexOf('[') + 1;
		StringBuilder name = new StringBuilder(of.substring(dims + 1, of.length() - 1));
		for (int i = 0; i < dims; i++)
			name.append("[]");
		return name + "#0";
	}

	private static int strength(Object reference) {
		return reference instanceof SoftReference ? Brute.SOFT
				: reference instanceof PhantomReference ? Brute.PHANTOM : Brute.WEAK;
	}

	/** A Reference has its referent in the slot after all others. */
	private static void addEdge(Brute brute, int from, Object node, int slot, int to) {
		if (!(node instanceof Node)) {
			brute.edge(from, to, Brute.STRONG, "[" + slot + "]");
		} else if (node instanceof Reference && slot == slots(node) - 1) {
			brute.edge(from, to, strength(node), "referent");
		} else {
			brute.edge(from, to, Brute.STRONG, "field " + ((Node) node).name(slot));
		}
	}

	/** Adds a node and all nodes reachable from it; returns its number. */
	private static int add(Brute brute, Object first) {
		ArrayDeque<Object> queue = new ArrayDeque<Object>();

		if (brute.knows(name(first)))
			return brute.node(name(first));
		int number = brute.node(name(first));
		for (queue.add(first); !queue.isEmpty();) {
			Object node = queue.remove();
			int from = brute.node(name(node));
			if (!(node instanceof Node))
				brute.length(from, slots(node));
			for (int slot = 0; slot < slots(node); slot++) {
				Object to = get(node, slot);
				if (to == null)
					continue;
				if (!brute.knows(name(to)))
					queue.add(to);
				addEdge(brute, from, node, slot, brute.node(name(to)));
			}
		}
		return number;
	}

	private static void addStatic(Brute brute, String owner, String field, Object node) {
		if (node != null)
			brute.edge(brute.root("class " + owner), add(brute, node), Brute.STRONG,
					"static " + field);
	}

	/** A thread, its map of thread locals, the map's table, its entries, and their values. */
	private static void addWorker(Brute brute, Worker worker) {
		String name = Worker.class.getName() + '#' + worker.number;
		int thread = brute.root(name);
		int map = brute.node("java.lang.ThreadLocal$ThreadLocalMap#" + worker.number);
		int table = brute.node("java.lang.ThreadLocal$ThreadLocalMap$Entry[]#" + worker.number);
		Object[] held = worker.show();

		brute.edge(thread, add(brute, worker.box), Brute.STRONG, "field box");
		brute.edge(thread, map, Brute.STRONG, "field threadLocals");
		brute.edge(map, table, Brute.STRONG, "field table");
		for (int i = Worker.LOCAL; i <= Worker.LOCKED; i++) {
			add(brute, held[i]);
			brute.passingRoot(name(held[i]));
		}
		for (int i = 0; i < THREAD_LOCALS; i++) {
			int entry = brute.node("java.lang.ThreadLocal$ThreadLocalMap$Entry#"
					+ worker.number + '.' + i);
			brute.edge(table, entry, Brute.STRONG, "[*]");
			brute.edge(entry, add(brute, held[Worker.THREAD_LOCAL + i]), Brute.STRONG,
					"field value");
		}
	}

	private String expect() {
		Brute brute = new Brute();
		Node[] hooks = maker.hooks();

		for (int i = 0; i < hooks.length; i++)
			addStatic(brute, maker.hookOwner(i), maker.hookName(i), hooks[i]);
		for (int i = 0; i < maker.roots(); i++)
			addStatic(brute, maker.rootOwner(i), maker.rootName(i), maker.root(i));
		for (Worker worker : workers)
			addWorker(brute, worker);
		return brute.answers();
	}

	@Override
	String answer(String line) throws Exception {
		if (line.startsWith("build ")) {
			build(Long.parseLong(line.substring(6)));
			return "built";
		}
		if (line.equals("gc")) {
			System.gc();
			return "collected";
		}
		return line.equals("expect") ? expect() : null;
	}

	public static void main(String[] args) throws Exception {
		new Graphs((Maker) Class.forName("Made").getConstructor().newInstance()).serve();
	}
}
