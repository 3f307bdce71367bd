/** A java.lang.instrument agent that prints its options, or throws for the options "throw". */
public final class TalkingAgent {
	private TalkingAgent() {
	}

	public static void agentmain(String options) {
		if ("throw".equals(options))
			throw new IllegalStateException("requested by the options");
		System.out.println("agentmain " + options);
	}
}
