/** An agent of java.lang.instrument: does what its options say. */
public final class TalkingAgent {
	private TalkingAgent() {
	}

	public static void agentmain(String options) {
		if ("throw".equals(options))
			throw new IllegalStateException("as asked");
		System.out.println("agentmain " + options);
	}
}
