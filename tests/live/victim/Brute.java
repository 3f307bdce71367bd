import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small graph, and what can be told of it, found without any cleverness: each answer follows
 * from what it means, so that a clever program can be measured by it.
 */
final class Brute {
	/** How an edge holds; what is not STRONG, from the strongest to the weakest. */
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

	/** The number of a name, a new one when it was never heard of. */
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

	/** It is an array. */
	void length(int node, int length) {
		lengths.put(node, length);
	}

	void edge(int from, int to, int strength, String via) {
		out.get(from).add(new Edge(from, to, strength, via));
	}

	/** How many nodes a shortest way from a root has, its two ends included; NEVER: no way. */
	private int[] distances(boolean weak) {
		int[] distance = new int[out.size()];
		ArrayDeque<Integer> queue = new ArrayDeque<Integer>();

		Arrays.fill(distance, NEVER);
		for (int root : roots) {
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
		return distance;
	}

	/** Mark what is reached through strong edges from here, as if this one were not there. */
	private void flood(int from, int without, boolean[] reached) {
		ArrayDeque<Integer> queue = new ArrayDeque<Integer>();

		if (from == without || reached[from])
			return;
		reached[from] = true;
		queue.add(from);
		while (!queue.isEmpty()) {
			for (Edge edge : out.get(queue.remove())) {
				if (edge.strength != STRONG || edge.to == without || reached[edge.to])
					continue;
				reached[edge.to] = true;
				queue.add(edge.to);
			}
		}
	}

	/** Where references of this strength, or stronger ones, lead that were not reached before. */
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
	 * The roots, and what is reached only through references, which hangs on roots of its own:
	 * first all that soft ones lead to, then what takes weak ones, too, and so on.
	 */
	private List<Integer> entries() {
		List<Integer> entries = new ArrayList<Integer>(roots);
		boolean[] reached = new boolean[out.size()];

		for (int root : roots)
			flood(root, NEVER, reached);
		for (int strength = SOFT; strength <= PHANTOM; strength++) {
			boolean[] before = reached.clone();
			List<Integer> found = new ArrayList<Integer>();
			int known;
			do {
				known = found.size();
				found = referents(strength, reached, before);
				for (int entry : found)
					flood(entry, NEVER, reached);
			} while (found.size() > known);
			entries.addAll(found);
		}
		return entries;
	}

	/** For each node, those that are not reached without it. */
	private boolean[][] dominated(List<Integer> entries) {
		boolean[][] lost = new boolean[out.size()][];
		boolean[] all = new boolean[out.size()];

		for (int entry : entries)
			flood(entry, NEVER, all);
		for (int node = 0; node < lost.length; node++) {
			boolean[] reached = new boolean[out.size()];
			for (int entry : entries)
				flood(entry, node, reached);
			lost[node] = new boolean[out.size()];
			for (int i = 0; i < reached.length; i++)
				lost[node][i] = all[i] && !reached[i];
		}
		return lost;
	}

	/** The dominator that is itself dominated by all the others; NEVER: there is none. */
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

	/** All of it in one line. */
	String answers() {
		String[] names = numbers.keySet().toArray(new String[0]);
		int[] strong = distances(false);
		int[] weak = distances(true);
		boolean[][] dominated = dominated(entries());
		StringBuilder json = new StringBuilder("{");

		for (int i = 0; i < names.length; i++) {
			json.append(i == 0 ? "" : ",").append('"').append(names[i]).append("\":{")
					.append("\"root\":").append(roots.contains(i))
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
