import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * What every victim does once it is set up: say READY, then answer each line of its stdin.
 *
 * It echoes what it does not know, so that a test can prove at any moment that it still lives
 * and that nobody else wrote to its output. When stdin ends, it ends.
 */
abstract class Victim {
	/** The answer to a line, or null when the victim knows no better than to echo it. */
	String answer(String line) throws Exception {
		return null;
	}

	final void serve() throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

		System.out.println("READY");
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String answer = answer(line);
			System.out.println(answer != null ? answer : line);
		}
		System.exit(0);
	}
}
