import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small graph, and its properties by brute force: each answer follows directly from its
 * definition. Tests compare the results of jtool's faster algorithms with it.
 */
final class Brute {
	/** The strength of an edge; those that are not STRONG are in order of decreasing
	 * strength. */
	static final int STRONG = -1, SOFT = 0, WEAK = 1, FINAL = 2, PHANTOM = 3;
	private static final int NEVER = -1;

	private static final class Edge {
		final int from, to, strength;
		final String via;

		Edge(int from, int to, int strength, String via) {
			this.from = from;
			this.to = to;
			this.strength = strength;
			this.via = via;
		}
	}

	private final Map<String, Integer> numbers = new LinkedHashMap<String, Integer>();
	private final List<List<Edge>> out = new ArrayList<List<Edge>>();
	private final Map<Integer, Integer> lengths = new LinkedHashMap<Integer, Integer>();
	private final List<Integer> roots = new ArrayList<Integer>();
	/** The roots that are references of threads. */
	private final List<Integer> passing = new ArrayList<Integer>();

	/** The number of a name; an unknown name gets a new one. */
	int node(String name) {
		Integer known = numbers.get(name);

		if (known != null)
			return known;
		numbers.put(name, out.size());
		out.add(new ArrayList<Edge>());
		return out.size() - 1;
	}

	boolean knows(String name) {
		return numbers.containsKey(name);
	}

	int root(String name) {
		int node = node(name);

		if (!roots.contains(node))
			roots.add(node);
		return node;
	}

	/** A local variable or a locked monitor: a root that ends with a method or a block. */
	int passingRoot(String name) {
		int node = node(name);

		if (!passing.contains(node))
			passing.add(node);
		return node;
	}

	/** Marks the node as an array of this length. */
	void length(int node, int length) {
		lengths.put(node, length);
	}

	void edge(int from, int to, int strength, String via) {
		out.get(from).add(new Edge(from, to, strength, via));
	}

	/**
	 * The number of nodes on a shortest path from a root, both ends included; NEVER if there is
	 * none.  Passing roots count only for the nodes that no other root reaches.
	 */
	private int[] distances(boolean weak) {
		int[] distance = new int[out.size()];

		Arrays.fill(distance, NEVER);
		spread(distance, roots, weak);
		spread(distance, passing, weak);
		return distance;
	}

	private void spread(int[] distance, List<Integer> from, boolean weak) {
		ArrayDeque<Integer> queue = new ArrayDeque<Integer>();

		for (int root : from) {
			if (distance[root] != NEVER)
				continue;
			distance[root] = 1;
			queue.add(root);
		}
		while (!queue.isEmpty()) {
			for (Edge edge : out.get(queue.remove())) {
				if (distance[edge.to] != NEVER || (edge.strength != STRONG && !weak))
					continue;
				distance[edge.to] = distance[edge.from] + 1;
				queue.add(edge.to);
			}
		}
	}

	/**
	 * Marks all nodes that are strongly reachable from here without the node `without`, and
	 * without the edges to a node of a lower level than the edge's origin.
	 */
	private void flood(int from, int without, int[] level, boolean[] reached) {
		ArrayDeque<Integer> queue = new ArrayDeque<Integer>();

		if (from == without || reached[from])
			return;
		reached[from] = true;
		queue.add(from);
		while (!queue.isEmpty()) {
			for (Edge edge : out.get(queue.remove())) {
				if (edge.strength != STRONG || edge.to == without || reached[edge.to]
						|| level[edge.to] < level[edge.from])
					continue;
				reached[edge.to] = true;
				queue.add(edge.to);
			}
		}
	}

	/** The targets of references of this strength or stronger that were not reached before. */
	private List<Integer> referents(int strength, boolean[] reached, boolean[] before) {
		List<Integer> found = new ArrayList<Integer>();

		for (int i = 0; i < reached.length; i++) {
			for (Edge edge : out.get(i)) {
				if (reached[i] && edge.strength != STRONG && edge.strength <= strength
						&& !before[edge.to] && !found.contains(edge.to))
					found.add(edge.to);
			}
		}
		return found;
	}

	/**
	 * The roots, and the nodes that are reachable only through references, which count as
	 * further roots: first all that soft references lead to, then weak ones, and so on.  Sets
	 * the level of each node to the strength of the weakest reference on the strongest path to
	 * it.  A node keeps none of a lower level alive.
	 */
	private List<Integer> entries(int[] level) {
		List<Integer> entries = new ArrayList<Integer>(roots);
		boolean[] reached = new boolean[out.size()];
		int[] none = new int[out.size()];

		entries.addAll(passing);
		for (int root : entries)
			flood(root, NEVER, none, reached);
		setLevel(level, STRONG, reached, new boolean[out.size()]);
		for (int strength = SOFT; strength <= PHANTOM; strength++) {
			boolean[] before = reached.clone();
			List<Integer> found = new ArrayList<Integer>();
			int known;
			do {
				known = found.size();
				found = referents(strength, reached, before);
				for (int entry : found)
					flood(entry, NEVER, none, reached);
			} while (found.size() > known);
			entries.addAll(found);
			setLevel(level, strength, reached, before);
		}
		return entries;
	}

	private static void setLevel(int[] level, int strength, boolean[] now, boolean[] before) {
		for (int i = 0; i < level.length; i++) {
			if (now[i] && !before[i])
				level[i] = strength;
		}
	}

	/** For each node, the nodes that are unreachable without it. */
	private boolean[][] dominated() {
		boolean[][] lost = new boolean[out.size()][];
		boolean[] all = new boolean[out.size()];
		int[] level = new int[out.size()];
		List<Integer> entries = entries(level);

		for (int entry : entries)
			flood(entry, NEVER, level, all);
		for (int node = 0; node < lost.length; node++) {
			boolean[] reached = new boolean[out.size()];
			for (int entry : entries)
				flood(entry, node, level, reached);
			lost[node] = new boolean[out.size()];
			for (int i = 0; i < reached.length; i++)
				lost[node][i] = all[i] && !reached[i];
		}
		return lost;
	}

	/** The dominator that all other dominators dominate; NEVER if there is none. */
	private static int nearest(boolean[][] dominated, int node) {
		int nearest = NEVER;

		for (int i = 0; i < dominated.length; i++) {
			if (i == node || !dominated[i][node])
				continue;
			if (nearest == NEVER || dominated[nearest][i])
				nearest = i;
		}
		return nearest;
	}

	private static String nameOrNull(String[] names, int node) {
		return node == NEVER ? "null" : '"' + names[node] + '"';
	}

	private void printEdges(StringBuilder json, String[] names, int node) {
		String separator = "";

		for (Edge edge : out.get(node)) {
			json.append(separator).append("[\"").append(edge.via).append("\",\"")
					.append(names[edge.to]).append("\"]");
			separator = ",";
		}
	}

	/** All answers in one line. */
	String answers() {
		String[] names = numbers.keySet().toArray(new String[0]);
		int[] strong = distances(false);
		int[] weak = distances(true);
		boolean[][] dominated = dominated();
		StringBuilder json = new StringBuilder("{");

		for (int i = 0; i < names.length; i++) {
			json.append(i == 0 ? "" : ",").append('"').append(names[i]).append("\":{")
					.append("\"root\":")
					.append(roots.contains(i) || passing.contains(i))
					.append(",\"strong\":").append(strong[i])
					.append(",\"weak\":").append(weak[i])
					.append(",\"reached\":").append(dominated[i][i])
					.append(",\"dominator\":")
					.append(nameOrNull(names, nearest(dominated, i)))
					.append(",\"length\":").append(lengths.get(i))
					.append(",\"edges\":[");
			printEdges(json, names, i);
			json.append("]}");
		}
		return json.append('}').toString();
	}
}
