import java.util.Properties;

/**
 * Has properties with characters that are special in text formats, and prints all its properties,
 * so that a tool's output can be compared with the JVM's values.
 */
final class Props extends Victim {
	private static void append(StringBuilder out, String text) {
		for (char c : text.toCharArray())
			out.append(String.format("%04x", (int) c));
	}

	/** Formats each as NAME=VALUE in hexadecimal UTF-16 units, because a lone surrogate has no
	 * UTF-8 form. */
	private static String format(Properties properties) {
		StringBuilder out = new StringBuilder("properties");

		for (String name : properties.stringPropertyNames()) {
			out.append(' ');
			append(out, name);
			out.append('=');
			append(out, properties.getProperty(name));
		}
		return out.toString();
	}

	@Override
	String answer(String line) {
		return line.equals("properties") ? format(System.getProperties()) : null;
	}

	public static void main(String[] args) throws Exception {
		Properties properties = System.getProperties();

		properties.setProperty("", "no name");
		properties.setProperty("odd.empty", "");
		properties.setProperty("odd name=:#!\u00e9", "v");
		properties.setProperty("odd.lines", "\n\r\n\ta\f\\b=c:d#e!f \u0085\u2028");
		properties.setProperty("odd.blanks", " \t a ");
		properties.setProperty("odd.text", "\u00e4\u20ac\ud83d\ude00");
		properties.setProperty("odd.lone", "a\ud83d.\ude00");
		properties.setProperty("odd.zero", "a\0b");
		properties.setProperty("odd.escape", "\\u0041\\n\u001b[31m\u007f");
		properties.setProperty("odd.\0name", "zero");
		properties.put("odd.number", 7);
		new Props().serve();
	}
}
