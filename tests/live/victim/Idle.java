/** Only answers. */
final class Idle extends Victim {
	public static void main(String[] args) throws Exception {
		new Idle().serve();
	}
}
