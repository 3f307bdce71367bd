import java.lang.reflect.Method;

/** Creates virtual threads permanently and never starts them: some are always being created. */
final class VirtualMade extends Victim {
	static volatile Object last;

	private static void make() {
		try {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			Method make = Class.forName("java.lang.Thread$Builder")
					.getMethod("unstarted", Runnable.class);
			Runnable nothing = () -> { };

			while (true)
				last = make.invoke(builder, nothing);
		} catch (ReflectiveOperationException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 3; i++) {
			Thread thread = new Thread(VirtualMade::make);

			thread.setDaemon(true);
			thread.start();
		}
		new VirtualMade().serve();
	}
}
