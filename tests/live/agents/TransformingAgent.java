import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * An agent that transforms class Subject, and obeys its options, separated by commas: "add" adds
 * its transformer, "add-incapable" one that cannot retransform, "remove" removes it; "on" and "off"
 * enable and disable the change; "odd" is like "on", but each change inserts another value;
 * "retransform" retransforms the class.
 */
public final class TransformingAgent {
	private static final byte SIPUSH = 0x11;
	private static final int FROM = 1111;

	private static Instrumentation instrumentation;
	private static ClassFileTransformer transformer;
	private static volatile boolean on = true, odd;
	private static volatile int count;

	private TransformingAgent() {
	}

	public static void agentmain(String options, Instrumentation in) throws Exception {
		if (instrumentation == null) /* each load creates a new instance */
			instrumentation = in;
		for (String word : options.split(","))
			obey(word);
		System.out.println("did " + options);
	}

	private static void obey(String word) throws Exception {
		switch (word) {
		case "add":
		case "add-incapable":
			transformer = new Change();
			instrumentation.addTransformer(transformer, word.equals("add"));
			break;
		case "remove":
			instrumentation.removeTransformer(transformer);
			break;
		case "retransform":
			instrumentation.retransformClasses(Class.forName("Subject"));
			break;
		default:
			on = word.equals("on") || word.equals("odd");
			odd = word.equals("odd");
		}
	}

	/** Changes the constant 1111 to 2222, or to another value each time. */
	private static final class Change implements ClassFileTransformer {
		@Override
		public byte[] transform(ClassLoader loader, String name, Class<?> c,
				ProtectionDomain domain, byte[] bytes) {
			if (!on || !"Subject".equals(name))
				return null;
			int to = odd ? 3000 + count++ % 1000 : 2222;
			byte[] changed = bytes.clone();
			for (int i = 0; i < changed.length - 2; i++) {
				if (changed[i] == SIPUSH && changed[i + 1] == FROM >> 8
						&& changed[i + 2] == (byte) FROM) {
					changed[i + 1] = (byte) (to >> 8);
					changed[i + 2] = (byte) to;
				}
			}
			return changed;
		}
	}
}
