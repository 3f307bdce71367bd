import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A web shop with a leak: each visit adds a cart that is never removed. */
public class Carts extends HttpServlet {
	static class Cart {
		final List<byte[]> pictures = new ArrayList<>();

		Cart(int items) {
			for (int i = 0; i < items; i++)
				pictures.add(new byte[10_000]);
		}
	}

	static class Registry {
		static final Registry INSTANCE = new Registry();
		final Map<String, Cart> carts = new ConcurrentHashMap<>();
	}

	@Override
	protected void doGet(HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		Map<String, Cart> carts = Registry.INSTANCE.carts;

		carts.put("visitor-" + carts.size(), new Cart(5));
		response.getWriter().println(carts.size());
	}
}
