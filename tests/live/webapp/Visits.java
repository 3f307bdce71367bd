import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Keeps a list of who came, and never forgets one. */
public class Visits extends HttpServlet {
	static final class Visit {
		final long at = System.currentTimeMillis();
		final String from;
		long first, last, seen, bought;

		Visit(String from) {
			this.from = from;
		}
	}

	private final List<Visit> visits = new ArrayList<>();

	@Override
	protected void doGet(HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		int n;

		synchronized (visits) {
			visits.add(new Visit(request.getRemoteAddr()));
			n = visits.size();
		}
		response.getWriter().println(n);
	}
}
