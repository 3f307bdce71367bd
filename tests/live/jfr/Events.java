import jdk.jfr.Event;

/** Two event classes: one is loaded at the start, the other at the first line. */
final class Events extends Victim {
	static final class Early extends Event {
		private int id;
		private String name;

		int getId() {
			return id;
		}

		void setId(int id) {
			this.id = id;
		}

		String getName() {
			return name;
		}

		void setName(String name) {
			this.name = name;
		}
	}

	static final class Late extends Event {
		private int id;
		private String name;

		int getId() {
			return id;
		}

		void setId(int id) {
			this.id = id;
		}

		String getName() {
			return name;
		}

		void setName(String name) {
			this.name = name;
		}
	}

	private int n;

	private String early() {
		Early event = new Early();

		event.setId(++n);
		event.setName("early");
		event.commit();
		return "early " + event.getId();
	}

	private String late() {
		Late event = new Late();

		event.setId(++n);
		event.setName("late");
		event.commit();
		return "late " + event.getId();
	}

	@Override
	String answer(String line) {
		switch (line) {
		case "early":
			return early();
		case "late":
			return late();
		default:
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		Events events = new Events();

		events.early();
		events.serve();
	}
}
