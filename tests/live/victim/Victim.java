import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * The base of all victims: prints READY once it is set up, then answers each line of stdin.
 *
 * Unknown lines are echoed, so that a test can check at any time that the victim is alive and that
 * nothing else wrote to its output. It exits at the end of stdin.
 */
abstract class Victim {
	/** The answer to a line, or null to echo it. */
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
