import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Asks the JVM whether classes can be redefined. Loads the classes below a directory, which is on
 * the class path. "verdicts DIRECTORY FILE" redefines them one by one with the classes of the same
 * name in DIRECTORY, and writes a line with the class and the JVMTI error to FILE. "resource CLASS
 * FILE" loads a class of the JDK and copies its class file.
 */
public class Verdict {
	private static Instrumentation instrumentation;

	/** Maps the exceptions of JPLISAgent.c and InvocationAdapter.c back to JVMTI errors. */
	private static final String[][] TEXTS = {
		{ "63", "add a method" },
		{ "64", "change the schema" },
		{ "66", "change superclass or interfaces" },
		{ "67", "delete a method" },
		{ "70", "change the class modifiers" },
		{ "71", "change method modifiers" },
		{ "72", "attribute" },
		{ "60", "ClassFormatError" },
		{ "61", "ClassCircularityError" },
		{ "62", "VerifyError" },
		{ "68", "UnsupportedClassVersionError" },
		{ "69", "NoClassDefFoundError" },
		{ "79", "UnmodifiableClassException" },
		{ "113", "InternalError" },
	};

	public static void premain(String options, Instrumentation given) {
		instrumentation = given;
	}

	private static String number(Throwable refused) {
		for (String[] text : TEXTS) {
			if (refused.toString().contains(text[1]))
				return text[0];
		}
		return refused.toString();
	}

	private static String redefine(String name, File file) {
		try {
			Class<?> running = Class.forName(name, false, Verdict.class.getClassLoader());
			instrumentation.redefineClasses(new ClassDefinition(running,
				Files.readAllBytes(file.toPath())));
			return "0";
		} catch (Throwable refused) {
			return number(refused);
		}
	}

	private static List<String> classesBelow(Path directory) throws Exception {
		List<String> names = new ArrayList<>();

		Files.walk(directory).forEach(file -> {
			String name = directory.relativize(file).toString();

			if (name.endsWith(".class"))
				names.add(name.substring(0, name.length() - 6).replace('/', '.'));
		});
		Collections.sort(names);
		return names;
	}

	private static void verdicts(String directory, String file) throws Exception {
		try (PrintWriter out = new PrintWriter(file)) {
			for (String name : classesBelow(Paths.get(directory))) {
				File bytes = new File(directory, name.replace('.', '/') + ".class");

				out.println(name + " " + redefine(name, bytes));
			}
		}
	}

	private static Class<?> copied(String name, String file) throws Exception {
		Files.copy(ClassLoader.getSystemResourceAsStream(name.replace('.', '/') + ".class"),
			Paths.get(file));
		return Class.forName(name);
	}

	public static void main(String[] arguments) throws Exception {
		List<Class<?>> loaded = new ArrayList<>();
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		String line;

		for (String name : classesBelow(Paths.get(arguments[0])))
			loaded.add(Class.forName(name, false, Verdict.class.getClassLoader()));
		System.out.println("READY");
		while ((line = in.readLine()) != null) {
			String[] words = line.split(" ");

			if (words[0].equals("verdicts"))
				verdicts(words[1], words[2]);
			else if (words[0].equals("resource"))
				loaded.add(copied(words[1], words[2]));
			System.out.println(words[0]);
		}
		loaded.clear();
	}
}
