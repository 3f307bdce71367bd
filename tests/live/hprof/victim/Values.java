import java.util.ArrayList;
import java.util.List;

/**
 * Values of every type in fields, static fields and arrays, and objects that only a constant pool, a
 * local variable or a monitor refers to.  Args: number of nodes.
 */
public class Values extends Victim {
	static class Base {
		private long hidden = 0x0123456789abcdefL;
		boolean flag = true;
		Object other;
	}

	static class Node extends Base {
		private byte hidden = -5;
		char c;
		short s;
		int i;
		float f;
		double d;
		String text;
		Node next;
	}

	static final String LATIN = "caf\u00e9 secret-latin";
	static final String WIDE = "\u20ac secret-wide \u4e2d";
	static final byte BYTE = -7;
	static double real = -0.0;
	static long[] longs = { Long.MIN_VALUE, 1, -1 };
	static final List<Object> KEPT = new ArrayList<>();

	static Node node(int i, Node next) {
		Node n = new Node();

		n.c = (char) (0xe000 + i);
		n.s = (short) -i;
		n.i = i * 1000003;
		n.f = i / 3f;
		n.d = -i / 7.0;
		n.text = "node " + i;
		n.next = next;
		n.other = i % 3 == 0 ? new int[i % 100] : i % 3 == 1 ? (Object) n : null;
		return n;
	}

	public static void main(String[] args) throws Exception {
		Node last = null;

		for (int i = 0; i < Integer.parseInt(args[0]); i++)
			last = node(i, last);
		KEPT.add(last);
		KEPT.add(new Object[200000]); // larger than a segment
		KEPT.add(new char[] { 'a', '\u20ac' });
		KEPT.add(new byte[3 << 20]);
		KEPT.add(new boolean[][] { { true, false }, null });
		KEPT.add(int.class);
		Object local = new StringBuilder("only on the stack");
		synchronized (local) {
			new Values().serve();
		}
	}
}
