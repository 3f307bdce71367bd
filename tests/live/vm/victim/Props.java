import java.util.Properties;

/**
 * Has properties that a text format could trip over, and tells all it has, so that what a tool
 * says can be compared with what the JVM itself thinks.
 */
final class Props extends Victim {
	private static void append(StringBuilder out, String text) {
		for (char c : text.toCharArray())
			out.append(String.format("%04x", (int) c));
	}

	/** NAME=VALUE for each, as hexadecimal UTF-16 units: a lone surrogate has no UTF-8. */
	private static String tell(Properties properties) {
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
		return line.equals("properties") ? tell(System.getProperties()) : null;
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
