"""Writes Made.java: the classes of the nodes in the graphs of Graphs.

Their fields are as difficult as javac permits: in several superclasses with equal field names,
mixed with static fields and primitive ones of every size, with constants of interfaces that are
inherited on several paths. The output is always the same.
"""
import random

PLAIN = 200     # classes with one instance
SHARED = 8      # classes with several instances
SHARED_EACH = 8
ARRAYS = 24     # array classes, a few of them with array elements
MATRICES = 6
WEAK, SOFT, PHANTOM = 14, 8, 4
CONSTANTS = 6   # interfaces with a static constant that is a node
HOLDERS = 5     # classes with static fields
FINALIZABLE = 4

PRIMITIVES = ("boolean", "byte", "char", "short", "int", "long", "float", "double")

rng = random.Random(5)
lines = []


def put(depth, *texts):
    lines.extend("\t" * depth + text for text in texts)


def accessors(fields, first, others, referent=None):
    """Writes slots, get, set and name: `fields` are the slots from `first` on, `others` handles the
    other slots; the last one is the referent, if there is one."""
    def method(head, statement, end):
        put(2, f"@Override public {head} {{")
        for slot, (field, _) in enumerate(fields, first):
            put(3, f"if (slot == {slot})", "\t" + statement.format(field))
        put(3, end)
        put(2, "}")

    put(2, "@Override public int slots() {",
        f"\treturn {first + len(fields) + (referent is not None)};", "}")
    method("Object get(int slot)", "return this.{0};",
           f"return {referent};" if referent else f"return {others}get(slot);")
    method("String name(int slot)", 'return "{0}";', f"return {others}name(slot);")
    method("void set(int slot, Object to)", "{{ this.{0} = to; return; }}",
           "" if referent else f"{others}set(slot, to);")


def declare(n_references, n_primitives):
    """Fields in random order; returns those that are references."""
    fields = [(f"r{i}", "Object") for i in range(n_references)]
    fields += [(f"p{i}", rng.choice(PRIMITIVES)) for i in range(n_primitives)]
    fields += [(f"s{i}", rng.choice(("static Object", "static int", "static final long")))
               for i in range(rng.randrange(3))]
    rng.shuffle(fields)
    for field, of in fields:
        put(2, f"{of} {field}{' = 1' if 'final' in of else ''};")
    return [f for f in fields if f[1] == "Object"]


def some_constants():
    picked = rng.sample(range(CONSTANTS), rng.choice((0, 0, 1, 2)))
    return " implements " + ", ".join(f"C{i}" for i in picked) if picked else ""


def write_constants():
    for i in range(CONSTANTS):
        extends = f" extends C{rng.randrange(i)}" if i and rng.randrange(2) else ""
        put(1, f"interface C{i}{extends} {{")
        put(2, f"int K{i} = {i};", "Object MARK = new Object();",
            f"K{i} HOOK = new K{i}();", "String TEXT = \"constant\";")
        put(1, "}")
        put(1, f"static final class K{i} extends Base {{")
        put(2, f"K{i}() {{ super(0); }}")
        accessors(declare(2, i % 3), 0, "super.")
        put(1, "}")


def write_plain(name, parent, n_slots, finalizable=False):
    """Writes a class; returns its number of slots."""
    put(1, f"static class {name} extends {parent}{some_constants()} {{")
    put(2, f"{name}(int serial) {{ super(serial); }}")
    fields = declare(rng.choice((0, 1, 1, 2, 3)), rng.choice((0, 0, 1, 2, 4)))
    accessors(fields, n_slots, "super.")
    if finalizable:
        put(2, "@Override protected void finalize() { r = serial(); }", "static int r;")
    put(1, "}")
    return n_slots + len(fields)


def write_references(name, of, count):
    for i in range(count):
        put(1, f"static final class {name}{i} extends {of}Reference<Object> "
               f"implements Node{', C1' if i % 2 else ''} {{")
        aim = f"C{i % CONSTANTS}.HOOK" if of == "Phantom" else "super.get()"
        put(2, f"{name}{i}(Object to) {{ super(to{', null' if of == 'Phantom' else ''}); }}",
            "@Override public int serial() { return 0; }")
        accessors(declare(i % 3, i % 2), 0, "", aim)
        put(1, "}")


def write_classes():
    arrays = ", ".join(f"A{i}" for i in range(ARRAYS))
    for i in range(ARRAYS):
        put(1, f"interface A{i} {{ }}")
    put(1, f"abstract static class Base implements Node, {arrays} {{")
    put(2, "private final int serial;", "Base(int serial) { this.serial = serial; }",
        "@Override public final int serial() { return serial; }",
        "@Override public int slots() { return 0; }",
        "@Override public Object get(int slot) { throw new IndexOutOfBoundsException(); }",
        "@Override public String name(int slot) { throw new IndexOutOfBoundsException(); }",
        "@Override public void set(int slot, Object to) {",
        "\tthrow new IndexOutOfBoundsException();", "}")
    put(1, "}")
    write_constants()
    slots = {"Base": 0}
    for i in range(PLAIN + SHARED + FINALIZABLE):
        parent = rng.choice(list(slots)[-12:]) if rng.randrange(3) else "Base"
        name = f"N{i}" if i < PLAIN else f"D{i - PLAIN}" if i < PLAIN + SHARED \
            else f"F{i - PLAIN - SHARED}"
        n_slots = write_plain(name, parent, slots[parent], name[0] == "F")
        if name[0] == "N" and n_slots < 9:
            slots[name] = n_slots
    write_references("W", "Weak", WEAK)
    write_references("S", "Soft", SOFT)
    write_references("P", "Phantom", PHANTOM)


def write_holders():
    """Writes classes with static fields, and their table."""
    roots = []
    for i in range(HOLDERS):
        parent = f" extends H{i - 1}" if i % 3 else ""
        put(1, f"static class H{i}{parent}{some_constants()} {{")
        put(2, "int before;")
        for j in range(1 + i):
            put(2, f"static long gap{j};", f"static Object s{j};")
            roots.append((f"H{i}", f"s{j}"))
        put(2, "Object after;")
        put(1, "}")
    return roots


def write_maker(roots):
    # Finalizable objects remain reachable: the JVM revives an unreachable one for a while.
    for i in range(FINALIZABLE):
        put(1, f"static final Node finalizable{i} = new F{i}(0);")
    put(1, "@Override List<Object> objects(Random random) {",
        "\tList<Object> all = new ArrayList<Object>();")
    for i in range(PLAIN):
        put(2, f"all.add(new N{i}(0));")
    put(2, f"for (int i = 0; i < {SHARED_EACH}; i++) {{")
    for i in range(SHARED):
        put(3, f"all.add(new D{i}(i));")
    put(2, "}")
    for i in range(ARRAYS):
        put(2, f"all.add(new A{i}[random.nextInt(12)]);")
    for i in range(MATRICES):
        put(2, f"all.add(new A{i}[random.nextInt(5)][]);")
    put(2, "return all;")
    put(1, "}")
    hooks = [f"C{i}.HOOK" for i in range(CONSTANTS)]
    hooks += [f"finalizable{i}" for i in range(FINALIZABLE)]
    put(1, f"@Override Node[] hooks() {{ return new Node[] {{ {', '.join(hooks)} }}; }}",
        "@Override String hookOwner(int hook) {",
        f'\treturn hook < {CONSTANTS} ? "Made$C" + hook : "Made";', "}",
        "@Override String hookName(int hook) {",
        f'\treturn hook < {CONSTANTS} ? "HOOK" : "finalizable" + (hook - {CONSTANTS});', "}")
    put(1, "@Override void addReferences(List<Object> nodes, Random random) {")
    for name, count in ("W", WEAK), ("S", SOFT), ("P", PHANTOM):
        for i in range(count):
            to = f"C{i % CONSTANTS}.HOOK" if name == "P" else \
                "nodes.get(random.nextInt(nodes.size()))"
            put(2, f"nodes.add(new {name}{i}({to}));")
    put(1, "}")
    put(1, "@Override boolean fits(Object[] array, Object element) {",
        "\treturn array.getClass().getComponentType().isInstance(element);", "}")
    put(1, f"@Override int roots() {{ return {len(roots)}; }}")
    for head, end in (("Object root(int root)", "return {0}.{1};"),
                      ("String rootOwner(int root)", 'return "Made${0}";'),
                      ("String rootName(int root)", 'return "{1}";'),
                      ("void setRoot(int root, Object to)", "{0}.{1} = to; return;")):
        put(1, f"@Override {head} {{", "\tswitch (root) {")
        for i, (owner, field) in enumerate(roots):
            put(2, f"case {i}: " + end.format(owner, field))
        put(2, "default: throw new IllegalArgumentException();", "}")
        put(1, "}")


def main():
    for name in ("ref.PhantomReference", "ref.SoftReference", "ref.WeakReference"):
        put(0, f"import java.lang.{name};")
    for name in "ArrayList", "List", "Random":
        put(0, f"import java.util.{name};")
    put(0, "public final class Made extends Graphs.Maker {",
        "\tinterface Node extends Graphs.Node { }")
    write_classes()
    roots = write_holders()
    write_maker(roots)
    put(0, "}")
    print("\n".join(lines))


main()
