import java.io.File;
import java.util.*;
import org.graalvm.visualvm.lib.jfluid.heap.*;

/**
 * Prints what VisualVM's heap library reads from a heap dump, one fact per line, sorted:
 * instances and bytes of each class, a digest of its primitive values, its static fields, the GC
 * roots of each kind, the stacks of threads, and the objects with the largest retained sizes.
 */
public class Analyse {
	private static final Set<String> lines = new TreeSet<>();

	/* A sum, because the order of fields and of instances may differ. */
	private static long digest(Instance object) {
		long sum = 0;

		if (object instanceof PrimitiveArrayInstance)
			return ((PrimitiveArrayInstance) object).getValues().hashCode();
		for (FieldValue value : object.getFieldValues()) {
			if (!(value instanceof ObjectFieldValue))
				sum += (value.getField().getName() + "=" + value.getValue()).hashCode();
		}
		return sum;
	}

	private static void describe(JavaClass type) {
		long sum = 0;

		for (Iterator<?> all = type.getInstancesIterator(); all.hasNext();)
			sum += digest((Instance) all.next());
		lines.add("class " + type.getName() + " instances " + type.getInstancesCount() + " bytes "
			+ type.getAllInstancesSize() + " values " + Long.toHexString(sum));
		for (FieldValue value : type.getStaticFieldValues()) {
			if (!(value instanceof ObjectFieldValue))
				lines.add("static " + type.getName() + "." + value.getField().getName() + " "
					+ value.getValue());
			else
				lines.add("static " + type.getName() + "." + value.getField().getName() + " "
					+ name(((ObjectFieldValue) value).getInstance()));
		}
	}

	private static String name(Instance object) {
		return object == null ? "null" : object.getJavaClass().getName();
	}

	private static void describeRoots(Heap heap) {
		Map<String, Integer> kinds = new TreeMap<>();

		for (GCRoot root : heap.getGCRoots()) {
			kinds.merge(root.getKind(), 1, Integer::sum);
			if (!(root instanceof ThreadObjectGCRoot))
				continue;
			StackTraceElement[] stack = ((ThreadObjectGCRoot) root).getStackTrace();
			if (stack != null)
				lines.add("stack " + Arrays.toString(stack));
		}
		kinds.forEach((kind, n) -> lines.add("roots " + kind + " " + n));
	}

	public static void main(String[] args) throws Exception {
		Heap heap = HeapFactory.createHeap(new File(args[0]));

		for (JavaClass type : heap.getAllClasses())
			describe(type);
		describeRoots(heap);
		for (Instance object : heap.getBiggestObjectsByRetainedSize(10))
			lines.add("retains " + name(object) + " " + object.getRetainedSize());
		lines.forEach(System.out::println);
	}
}
