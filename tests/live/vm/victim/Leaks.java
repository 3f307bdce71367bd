import java.io.File;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Each request allocates 100 MiB of native memory of one kind, which is never freed. */
final class Leaks extends Victim {
	private static final int MIB = 1 << 20;
	private final List<ByteBuffer> buffers = new ArrayList<>();

	/** Unsafe is reached by reflection: javac --release 8 does not have it. */
	private static void malloc(int blocks, int size) throws Exception {
		Class<?> type = Class.forName("sun.misc.Unsafe");
		Field field = type.getDeclaredField("theUnsafe");
		Object unsafe;

		field.setAccessible(true);
		unsafe = field.get(null);
		for (int i = 0; i < blocks; i++) {
			Object block = type.getMethod("allocateMemory", long.class)
					       .invoke(unsafe, (long) size);

			type.getMethod("setMemory", long.class, long.class, byte.class)
				.invoke(unsafe, block, (long) size, (byte) 1);
		}
	}

	private static int descend(int depth) {
		return depth == 0 ? 0 : 1 + descend(depth - 1);
	}

	/** Starts threads, and makes each touch some of its stack. */
	private static void threads(int n) throws Exception {
		CountDownLatch deep = new CountDownLatch(n);

		for (int i = 0; i < n; i++) {
			Thread thread = new Thread(() -> {
				descend(2000);
				deep.countDown();
				try {
					Thread.sleep(Long.MAX_VALUE);
				} catch (InterruptedException e) {
					return;
				}
			});

			thread.setDaemon(true);
			thread.start();
		}
		deep.await();
	}

	/** Maps a file, and writes to it. */
	private void map() throws Exception {
		File file = File.createTempFile("leaks", ".data");

		try (RandomAccessFile data = new RandomAccessFile(file, "rw")) {
			ByteBuffer buffer = data.getChannel().map(
				FileChannel.MapMode.READ_WRITE, 0, 100L * MIB);

			for (int i = 0; i < 100 * MIB; i += 4096)
				buffer.put(i, (byte) 1);
			buffers.add(buffer);
		} finally {
			file.delete();
		}
	}

	@Override
	String answer(String line) throws Exception {
		switch (line) {
		case "large":
			malloc(100, MIB);
			return "done";
		case "small":
			malloc(100 * 1024, 1000);
			return "done";
		case "direct":
			for (int i = 0; i < 10; i++)
				buffers.add(ByteBuffer.allocateDirect(10 * MIB));
			return "done";
		case "mapped":
			map();
			return "done";
		case "threads":
			threads(800);
			return "done";
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		new Leaks().serve();
	}
}
