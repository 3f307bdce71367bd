import java.util.Map;
import java.util.TreeMap;

/**
 * Allocates as fast as it can, in two threads: "round DEPTH" on stacks of this depth, which answers
 * the time in microseconds; "mix MILLIS" at twenty sites with different shares, which answers the
 * number of objects of each.
 */
final class AllocWork extends Victim {
	private static final long OBJECTS = 20000000;
	private static final int PLACES = 20;

	static volatile Object sink;

	static final class Point {
		int x, y;

		Point(int x) {
			this.x = x;
		}
	}

	/* Allocations at the bottom of deep stacks that are not compiled into one frame. */

	static void work(int depth, long n) {
		if (depth > 0) {
			work(depth - 1, n);
			return;
		}
		Object[] kept = new Object[64];
		for (long i = 0; i < n; i++) {
			kept[(int) i & 63] = new Point((int) i);
			if ((i & 7) == 0)
				kept[(int) (i >> 3) & 63] = new byte[32];
		}
		sink = kept;
	}

	private static long round(int depth) throws InterruptedException {
		Thread[] threads = new Thread[2];
		long begin = System.nanoTime();

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> work(depth, OBJECTS));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		return (System.nanoTime() - begin) / 1000;
	}

	/* Shares that differ by 20 %. */

	static class C0 { long a; }
	static class C1 { long a, b; }
	static class C2 { long a, b, c; }
	static class C3 { long a, b, c, d; }
	static class C4 { Object a; int b; }

	/** Each site has its own line and method. */
	static final class Mix {
		final long[] made = new long[PLACES];
		final Object[] kept = new Object[64];
		int at;

		private void keep(Object o) {
			kept[at++ & 63] = o;
		}

		void p0() { keep(new C3()); }
		void p1() { keep(new C0()); }
		void p2() { keep(new C1()); }
		void p3() { keep(new C2()); }
		void p4() { keep(new C3()); }
		void p5() { keep(new C4()); }
		void p6() { keep(new byte[100]); }
		void p7() { keep(new int[10]); }
		void p8() { keep(new C3[8]); }
		void p9() { keep(new C0()); }
		void p10() { keep(new char[40]); }
		void p11() { keep(new long[3][4]); }
		void p12() { keep(new C2()); }
		void p13() { keep(new byte[2000]); }
		void p14() { keep(kept.clone()); }
		void p15() { keep(new C1()); }
		void p16() { keep(new short[5]); }
		void p17() { keep(new C4[1]); }
		void p18() { keep(new C0()); }
		void p19() { keep(new C4()); }

		private void make(int place) {
			made[place]++;
			switch (place) {
			case 0: p0(); break;
			case 1: p1(); break;
			case 2: p2(); break;
			case 3: p3(); break;
			case 4: p4(); break;
			case 5: p5(); break;
			case 6: p6(); break;
			case 7: p7(); break;
			case 8: p8(); break;
			case 9: p9(); break;
			case 10: p10(); break;
			case 11: p11(); break;
			case 12: p12(); break;
			case 13: p13(); break;
			case 14: p14(); break;
			case 15: p15(); break;
			case 16: p16(); break;
			case 17: p17(); break;
			case 18: p18(); break;
			default: p19(); break;
			}
		}

		/** The shares: site p allocates 5/6 of the bytes of the previous one. */
		static final int[] SIZES = { 40, 16, 24, 32, 40, 24, 120, 56, 48, 16, 96, 176, 32, 2016,
			272, 24, 32, 24, 16, 24 };

		static int[] order() {
			int[] order = new int[1 << 16];
			double[] want = new double[PLACES];
			double[] got = new double[PLACES];
			double sum = 0;

			for (int p = 0; p < PLACES; p++)
				sum += want[p] = Math.pow(5 / 6.0, p) / SIZES[p];
			for (int i = 0; i < order.length; i++) {
				int next = 0;
				for (int p = 0; p < PLACES; p++) {
					got[p] += want[p] / sum;
					if (got[p] > got[next])
						next = p;
				}
				got[next]--;
				order[i] = next;
			}
			return order;
		}

		/** The time is checked between rounds only, so that all shares are complete. */
		void run(int[] order, long end) {
			while (System.nanoTime() < end)
				once(order);
		}

		private void once(int[] order) {
			for (int place : order)
				make(place);
		}
	}

	private static String mix(long millis) throws InterruptedException {
		int[] order = Mix.order();
		long end = System.nanoTime() + millis * 1000000;
		Mix[] mixes = { new Mix(), new Mix() };
		Thread[] threads = new Thread[2];
		Map<String, Long> all = new TreeMap<>();

		for (int i = 0; i < threads.length; i++) {
			Mix mix = mixes[i];
			threads[i] = new Thread(() -> mix.run(order, end));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		StringBuilder out = new StringBuilder();
		for (int p = 0; p < PLACES; p++)
			out.append(out.length() > 0 ? ", " : "").append("\"p").append(p).append("\": ")
				.append(mixes[0].made[p] + mixes[1].made[p]);
		return "mixed {" + out + "}";
	}

	@Override
	String answer(String line) throws Exception {
		String[] words = line.split(" ");

		switch (words[0]) {
		case "round":
			return "took " + round(Integer.parseInt(words[1]));
		case "mix":
			return mix(Long.parseLong(words[1]));
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new AllocWork().serve();
	}
}
