import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Generates classes from bytes; each loader defines some of them. */
final class Generated extends ClassLoader {
	private static final int CLASS_VERSION = 49; /* Java 5: no stack maps needed */
	private static final int ACC_PUBLIC_SUPER = 0x21;

	/** The superclass of generated classes, so that instances are created without
	 * reflection. */
	public static class Base implements Cloneable {
		public final Base copy() throws CloneNotSupportedException {
			return (Base) clone();
		}
	}

	Generated() {
		super(Generated.class.getClassLoader());
	}

	/** An instance of a new class with this Java name. */
	Base define(String name) throws Exception {
		byte[] bytes = write(name.replace('.', '/'));
		Class<?> c = defineClass(name, bytes, 0, bytes.length);

		return (Base) c.getConstructor().newInstance();
	}

	/** public class NAME extends Base { public NAME() { super(); } private int value; } */
	private static byte[] write(String name) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
		DataOutputStream out = new DataOutputStream(bytes);

		out.writeInt(0xCAFEBABE);
		out.writeInt(CLASS_VERSION);
		out.writeShort(12); /* one more than there are constants */
		utf8(out, name);                      /* 1 */
		constant(out, 7, 1);                  /* 2: this class */
		utf8(out, "Generated$Base");          /* 3 */
		constant(out, 7, 3);                  /* 4: its super class */
		utf8(out, "<init>");                  /* 5 */
		utf8(out, "()V");                     /* 6 */
		constant(out, 12, 5, 6);              /* 7: name and type */
		constant(out, 10, 4, 7);              /* 8: Base.<init>() */
		utf8(out, "Code");                    /* 9 */
		utf8(out, "value");                   /* 10 */
		utf8(out, "I");                       /* 11 */
		shorts(out, ACC_PUBLIC_SUPER, 2, 4, 0);
		shorts(out, 1, 2, 10, 11, 0);         /* one field: private int value */
		shorts(out, 1, 1, 5, 6, 1, 9);        /* one method: public <init>()V, its Code */
		out.writeInt(17);
		shorts(out, 1, 1);                    /* max stack, max locals */
		out.writeInt(5);
		out.write(new byte[] { 0x2a, (byte) 0xb7, 0, 8, (byte) 0xb1 });
		shorts(out, 0, 0, 0);                 /* handlers, attributes of code and class */
		return bytes.toByteArray();
	}

	private static void utf8(DataOutputStream out, String text) throws IOException {
		out.writeByte(1);
		out.writeUTF(text);
	}

	private static void constant(DataOutputStream out, int tag, int... refs) throws IOException {
		out.writeByte(tag);
		shorts(out, refs);
	}

	private static void shorts(DataOutputStream out, int... values) throws IOException {
		for (int value : values)
			out.writeShort(value);
	}
}
