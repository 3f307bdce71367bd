import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Appends each visit to a list that never shrinks. */
public class Visits extends HttpServlet {
	static final class Visit {
		final long at = System.currentTimeMillis();
		final String from;
		long first, last, seen, bought;
		/* one per month */
		long v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12;
		long b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12;

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
