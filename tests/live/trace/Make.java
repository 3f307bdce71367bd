import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Label;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * Writes classes that no compiler emits: Make DIR SEED.
 *
 * made.M49 and made.M52: random methods with every family of instructions, in class files of
 * version 49 (with jsr and ret, without stack maps) and 52 (with stack maps). made.Large: methods
 * of 60 KB, and with the maximum number of arguments. made.Refused: two methods that cannot be
 * instrumented, and one that can. Each method counts its calls and its normal returns in the arrays
 * "calls" and "normal" of its class.
 */
public final class Make implements Opcodes {
	private static final String TYPES = "IJFDA";
	private static final String ARGUMENTS = "(IJFDLjava/lang/Object;)J";
	private static final int METHODS = 24;

	private final Random random;
	private final ClassWriter writer;
	private final String name;
	private final boolean old;
	private final List<String> methods = new ArrayList<>();

	/* State of the method that is being written. */
	private MethodVisitor mv;
	private int number, line, budget, nextLocal;
	private final List<int[]> locals = new ArrayList<>(); /* type, index */

	private Make(String name, int version, long seed) {
		this.name = "made/" + name;
		old = version < V1_6;
		random = new Random(seed);
		writer = new ClassWriter(old ? ClassWriter.COMPUTE_MAXS : ClassWriter.COMPUTE_FRAMES) {
			@Override
			protected String getCommonSuperClass(String a, String b) {
				return a.equals(b) ? a : "java/lang/Object";
			}
		};
		writer.visit(version, ACC_PUBLIC | ACC_SUPER, this.name, null, "java/lang/Object", null);
		writer.visitSource(name + ".made", null);
		for (String field : new String[] { "calls", "normal" })
			writer.visitField(ACC_PUBLIC | ACC_STATIC, field, "[J", null, null).visitEnd();
		for (char type : TYPES.toCharArray())
			writer.visitField(ACC_PUBLIC | ACC_STATIC, "s" + type, descriptor(type), null, null)
				.visitEnd();
		writer.visitField(ACC_PUBLIC, "value", "I", null, null).visitEnd();
		MethodVisitor init = writer.visitMethod(ACC_PUBLIC, "<init>", "(I)V", null, null);
		init.visitCode();
		init.visitVarInsn(ALOAD, 0);
		init.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
		init.visitVarInsn(ALOAD, 0);
		init.visitVarInsn(ILOAD, 1);
		init.visitFieldInsn(PUTFIELD, this.name, "value", "I");
		init.visitInsn(RETURN);
		init.visitMaxs(0, 0);
		init.visitEnd();
	}

	private static String descriptor(char type) {
		return type == 'A' ? "Ljava/lang/Object;" : String.valueOf(type);
	}

	private int pick(int... of) {
		return of[random.nextInt(of.length)];
	}

	private void begin(String method, String descriptor, int access) {
		mv = writer.visitMethod(ACC_PUBLIC | ACC_STATIC | access, method, descriptor, null,
			new String[] { "java/lang/Exception" });
		number = methods.size();
		methods.add(method);
		line = 1;
		mv.visitCode();
		count("calls");
	}

	private void count(String array) {
		mv.visitFieldInsn(GETSTATIC, name, array, "[J");
		mv.visitIntInsn(SIPUSH, number);
		mv.visitInsn(DUP2);
		mv.visitInsn(LALOAD);
		mv.visitInsn(LCONST_1);
		mv.visitInsn(LADD);
		mv.visitInsn(LASTORE);
	}

	private void end() {
		mv.visitMaxs(0, 0);
		mv.visitEnd();
	}

	/** Local variables. */
	private int local(char type) {
		List<int[]> fit = new ArrayList<>();
		for (int[] l : locals) {
			if (l[0] == type)
				fit.add(l);
		}
		return fit.get(random.nextInt(fit.size()))[1];
	}

	private int freshLocal(char type) {
		int index = nextLocal;

		nextLocal += type == 'J' || type == 'D' ? 2 : 1;
		return index;
	}

	private static int by(char type, int forInt) { /* opcodes are in the order of TYPES */
		return forInt + TYPES.indexOf(type);
	}

	private void store(char type) {
		mv.visitVarInsn(by(type, ISTORE), local(type));
	}

	/** Emits an expression that pushes one value of the type. */
	private void push(char type, int depth) {
		if (depth > 0 && random.nextInt(5) == 0) {
			ternary(type, depth - 1);
			return;
		}
		switch (depth == 0 ? random.nextInt(3) : random.nextInt(9)) {
		case 0:
			mv.visitVarInsn(by(type, ILOAD), local(type));
			break;
		case 1:
			constant(type);
			break;
		case 2:
			mv.visitFieldInsn(GETSTATIC, name, "s" + type, descriptor(type));
			break;
		case 3:
		case 4:
			convert(type, depth - 1);
			break;
		default:
			compute(type, depth - 1);
		}
	}

	private void constant(char type) {
		switch (type) {
		case 'I':
			int i = pick(random.nextInt(7) - 1, random.nextInt(256) - 128,
				random.nextInt(65536) - 32768, random.nextInt());
			if (i >= -1 && i <= 5)
				mv.visitInsn(ICONST_0 + i);
			else if (i == (byte) i)
				mv.visitIntInsn(BIPUSH, i);
			else if (i == (short) i)
				mv.visitIntInsn(SIPUSH, i);
			else
				mv.visitLdcInsn(i);
			break;
		case 'J':
			if (random.nextBoolean())
				mv.visitInsn(pick(LCONST_0, LCONST_1));
			else
				mv.visitLdcInsn(random.nextLong());
			break;
		case 'F':
			if (random.nextBoolean())
				mv.visitInsn(pick(FCONST_0, FCONST_1, FCONST_2));
			else
				mv.visitLdcInsn(pick(0, 1) == 0 ? Float.NaN : random.nextFloat() * 1e6f);
			break;
		case 'D':
			if (random.nextBoolean())
				mv.visitInsn(pick(DCONST_0, DCONST_1));
			else
				mv.visitLdcInsn(random.nextGaussian() * 1e9);
			break;
		default:
			if (random.nextInt(4) == 0)
				mv.visitInsn(ACONST_NULL);
			else
				mv.visitLdcInsn("text " + random.nextInt(50));
		}
	}

	private void convert(char type, int depth) {
		switch (type) {
		case 'I':
			int op = pick(L2I, F2I, D2I, I2B, I2C, I2S);
			push(op == L2I ? 'J' : op == F2I ? 'F' : op == D2I ? 'D' : 'I', depth);
			mv.visitInsn(op);
			break;
		case 'J':
			op = pick(I2L, F2L, D2L);
			push(op == I2L ? 'I' : op == F2L ? 'F' : 'D', depth);
			mv.visitInsn(op);
			break;
		case 'F':
			op = pick(I2F, L2F, D2F);
			push(op == I2F ? 'I' : op == L2F ? 'J' : 'D', depth);
			mv.visitInsn(op);
			break;
		case 'D':
			op = pick(I2D, L2D, F2D);
			push(op == I2D ? 'I' : op == L2D ? 'J' : 'F', depth);
			mv.visitInsn(op);
			break;
		default:
			push('A', depth);
			mv.visitTypeInsn(CHECKCAST, "java/lang/Object");
		}
	}

	private void compute(char type, int depth) {
		switch (type) {
		case 'I':
			computeInt(depth);
			break;
		case 'J':
			push('J', depth);
			int op = pick(LADD, LSUB, LMUL, LDIV, LREM, LAND, LOR, LXOR, LSHL, LSHR, LUSHR, LNEG);
			if (op == LDIV || op == LREM) {
				push('J', depth);
				mv.visitInsn(LCONST_1);
				if (random.nextInt(30) > 0) /* otherwise it may divide by zero */
					mv.visitInsn(LOR);
				else
					mv.visitInsn(LAND);
			} else if (op != LNEG) {
				push(op >= ISHL && op <= LUSHR ? 'I' : 'J', depth);
			}
			mv.visitInsn(op);
			break;
		case 'F':
		case 'D':
			push(type, depth);
			op = pick(FADD, FSUB, FMUL, FDIV, FREM, FNEG);
			if (op != FNEG)
				push(type, depth);
			mv.visitInsn(type == 'F' ? op : op + 1);
			break;
		default:
			object(depth);
		}
	}

	private void computeInt(int depth) {
		switch (random.nextInt(6)) {
		case 0:
			push('J', depth);
			push('J', depth);
			mv.visitInsn(LCMP);
			break;
		case 1:
			push('F', depth);
			push('F', depth);
			mv.visitInsn(pick(FCMPL, FCMPG));
			break;
		case 2:
			push('D', depth);
			push('D', depth);
			mv.visitInsn(pick(DCMPL, DCMPG));
			break;
		case 3:
			push('A', depth);
			mv.visitTypeInsn(INSTANCEOF, pick(0, 1) == 0 ? "java/lang/String" : name);
			break;
		default:
			push('I', depth);
			int op = pick(IADD, ISUB, IMUL, IDIV, IREM, IAND, IOR, IXOR, ISHL, ISHR, IUSHR, INEG);
			if (op != INEG)
				push('I', depth);
			if (op == IDIV || op == IREM) {
				mv.visitInsn(ICONST_1);
				mv.visitInsn(random.nextInt(30) > 0 ? IOR : IAND);
			}
			mv.visitInsn(op);
		}
	}

	private void object(int depth) {
		switch (random.nextInt(4)) {
		case 0: /* an uninitialised object is on the stack during branches */
			mv.visitTypeInsn(NEW, name);
			mv.visitInsn(DUP);
			ternary('I', depth);
			mv.visitMethodInsn(INVOKESPECIAL, name, "<init>", "(I)V", false);
			break;
		case 1:
			push('J', depth);
			mv.visitMethodInsn(INVOKESTATIC, "java/lang/String", "valueOf",
				"(J)Ljava/lang/String;", false);
			break;
		case 2:
			mv.visitLdcInsn("some text");
			push('I', 0);
			mv.visitInsn(ICONST_3);
			mv.visitInsn(IAND);
			mv.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "substring",
				"(I)Ljava/lang/String;", false);
			break;
		default:
			push('A', depth);
		}
	}

	/** Emits a condition that jumps. */
	private void jumpIf(Label to, int depth) {
		switch (random.nextInt(4)) {
		case 0:
			push('I', depth);
			mv.visitJumpInsn(pick(IFEQ, IFNE, IFLT, IFGE, IFGT, IFLE), to);
			break;
		case 1:
			push('I', depth);
			push('I', depth);
			mv.visitJumpInsn(pick(IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT,
				IF_ICMPLE), to);
			break;
		case 2:
			push('A', depth);
			mv.visitJumpInsn(pick(IFNULL, IFNONNULL), to);
			break;
		default:
			push('A', depth);
			if (random.nextBoolean())
				push('A', 0);
			else
				mv.visitInsn(DUP);
			mv.visitJumpInsn(pick(IF_ACMPEQ, IF_ACMPNE), to);
		}
	}

	/** Emits branches that keep the values on the stack. */
	private void ternary(char type, int depth) {
		Label other = new Label(), end = new Label();

		jumpIf(other, depth);
		push(type, depth);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(other);
		push(type, depth);
		mv.visitLabel(end);
	}

	/** Emits n statements; the stack is empty before and after each. */
	private void statements(int depth, int n) {
		for (int i = 0; i < n && budget > 0; i++) {
			budget--;
			Label here = new Label();
			mv.visitLabel(here);
			mv.visitLineNumber(++line, here);
			statement(depth);
		}
	}

	private void statement(int depth) {
		char type = TYPES.charAt(random.nextInt(5));

		switch (depth == 0 ? random.nextInt(8) : random.nextInt(16)) {
		case 0:
		case 1:
			push(type, 3);
			store(type);
			break;
		case 2:
		case 3:
			juggle();
			break;
		case 4:
			mv.visitIincInsn(local('I'), pick(1, -1, 127, -128, 1000, -32768));
			break;
		case 5:
			array();
			break;
		case 6:
			push(type, 2);
			mv.visitFieldInsn(PUTSTATIC, name, "s" + type, descriptor(type));
			break;
		case 7:
			mv.visitTypeInsn(NEW, name);
			mv.visitInsn(DUP);
			push('I', 2);
			mv.visitMethodInsn(INVOKESPECIAL, name, "<init>", "(I)V", false);
			mv.visitFieldInsn(GETFIELD, name, "value", "I");
			store('I');
			break;
		case 8:
		case 9:
			branch(depth - 1);
			break;
		case 10:
			loop(depth - 1);
			break;
		case 11:
			choose(depth - 1);
			break;
		case 12:
		case 13:
			attempt(depth - 1);
			break;
		case 14:
			leave(depth - 1);
			break;
		default:
			if (old && random.nextBoolean())
				subroutine(depth - 1);
			else
				monitor(depth - 1);
		}
	}

	/** Pushes words, permutes them with one instruction, and pops all. */
	private void juggle() {
		char[] one = { 'I', 'F', 'A' }, two = { 'J', 'D' };
		char a = one[random.nextInt(3)], b = one[random.nextInt(3)], c = one[random.nextInt(3)];
		char d = one[random.nextInt(3)], w = two[random.nextInt(2)], v = two[random.nextInt(2)];

		switch (random.nextInt(17)) {
		case 0: turn("" + a, DUP, "" + a + a); break;
		case 1: turn("" + a + b, DUP_X1, "" + b + a + b); break;
		case 2: turn("" + a + b + c, DUP_X2, "" + c + a + b + c); break;
		case 3: turn("" + w + b, DUP_X2, "" + b + w + b); break;
		case 4: turn("" + a + b, DUP2, "" + a + b + a + b); break;
		case 5: turn("" + w, DUP2, "" + w + w); break;
		case 6: turn("" + a + b + c, DUP2_X1, "" + b + c + a + b + c); break;
		case 7: turn("" + a + w, DUP2_X1, "" + w + a + w); break;
		case 8: turn("" + a + b + c + d, DUP2_X2, "" + c + d + a + b + c + d); break;
		case 9: turn("" + a + b + w, DUP2_X2, "" + w + a + b + w); break;
		case 10: turn("" + w + a + b, DUP2_X2, "" + a + b + w + a + b); break;
		case 11: turn("" + v + w, DUP2_X2, "" + w + v + w); break;
		case 12: turn("" + a + b, SWAP, "" + b + a); break;
		case 13: turn("" + a + b, POP, "" + a); break;
		case 14: turn("" + a + b + c, POP2, "" + a); break;
		case 15: turn("" + a + w, POP2, "" + a); break;
		default: turn("", NOP, "");
		}
	}

	private void turn(String before, int op, String after) {
		for (char type : before.toCharArray())
			push(type, 1);
		mv.visitInsn(op);
		for (int i = after.length() - 1; i >= 0; i--)
			store(after.charAt(i));
	}

	private void array() {
		String kinds = "ZCFDBSIJ"; /* in the order of newarray's codes, from 4 */
		int kind = random.nextInt(10), length = 1 + random.nextInt(4);

		if (kind == 8) {
			mv.visitInsn(ICONST_2);
			mv.visitTypeInsn(ANEWARRAY, "java/lang/String");
			mv.visitInsn(DUP);
			mv.visitInsn(random.nextInt(20) == 0 ? ICONST_2 : ICONST_1); /* or 2 */
			push('A', 1);
			mv.visitInsn(AASTORE); /* may not be a String */
			mv.visitInsn(ICONST_1);
			mv.visitInsn(AALOAD);
			store('A');
			return;
		}
		if (kind == 9) {
			mv.visitInsn(ICONST_2);
			mv.visitInsn(ICONST_3);
			mv.visitMultiANewArrayInsn("[[[D", 2);
			mv.visitInsn(ICONST_1);
			mv.visitInsn(AALOAD);
			mv.visitInsn(ARRAYLENGTH);
			store('I');
			return;
		}
		char element = kinds.charAt(kind);
		char type = "JFD".indexOf(element) >= 0 ? element : 'I';
		mv.visitIntInsn(BIPUSH, length);
		mv.visitIntInsn(NEWARRAY, 4 + kind);
		mv.visitInsn(DUP);
		mv.visitInsn(ICONST_0);
		push(type, 2);
		mv.visitInsn(opOf(element, IALOAD) + IASTORE - IALOAD);
		mv.visitInsn(random.nextInt(40) == 0 ? ICONST_M1 : ICONST_0);
		mv.visitInsn(opOf(element, IALOAD));
		store(type);
	}

	private static int opOf(char element, int forInt) {
		return forInt + "IJFDAZCS".indexOf(element == 'B' ? 'Z' : element);
	}

	private void branch(int depth) {
		Label other = new Label(), end = new Label();

		jumpIf(other, 2);
		statements(depth, 3);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(other);
		statements(depth, 2);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	private void loop(int depth) {
		Label again = new Label(), end = new Label();
		int i = freshLocal('I');

		mv.visitInsn(pick(ICONST_2, ICONST_3));
		mv.visitVarInsn(ISTORE, i);
		mv.visitLabel(again);
		mv.visitVarInsn(ILOAD, i);
		mv.visitJumpInsn(IFLE, end);
		mv.visitIincInsn(i, -1);
		statements(depth, 3);
		mv.visitJumpInsn(GOTO, again);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	private void choose(int depth) {
		int n = random.nextInt(5);
		Label[] cases = new Label[n];
		Label other = new Label(), end = new Label();

		for (int i = 0; i < n; i++)
			cases[i] = i > 0 && random.nextInt(3) == 0 ? cases[i - 1] : new Label();
		push('I', 1);
		if (random.nextBoolean()) {
			mv.visitInsn(ICONST_3);
			mv.visitInsn(IAND);
			if (n == 0)
				mv.visitTableSwitchInsn(0, 0, other, other);
			else
				mv.visitTableSwitchInsn(-1, n - 2, other, cases);
		} else {
			int[] keys = { Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE };
			mv.visitLookupSwitchInsn(other, java.util.Arrays.copyOf(keys, n), cases);
		}
		for (int i = 0; i < n; i++) {
			if (i > 0 && cases[i] == cases[i - 1])
				continue;
			mv.visitLabel(cases[i]);
			statements(depth, 2);
			if (random.nextInt(3) > 0)
				mv.visitJumpInsn(GOTO, end);
		}
		mv.visitLabel(other);
		statements(depth, 1);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	/** Emits nested and overlapping handlers for some of the exceptions. */
	private void attempt(int depth) {
		Label from = new Label(), middle = new Label(), to = new Label();
		Label first = new Label(), second = new Label(), end = new Label();
		String[] types = { "java/lang/ArithmeticException", "java/lang/RuntimeException", null,
			"java/lang/IllegalStateException", "java/lang/NullPointerException" };

		mv.visitLabel(from);
		mv.visitInsn(NOP);
		statements(depth, 3);
		mv.visitLabel(middle);
		mv.visitInsn(NOP);
		statements(depth, 2);
		if (random.nextInt(3) == 0)
			raise();
		mv.visitLabel(to);
		/* After the inner statements' handlers: the first one that matches is called. */
		mv.visitTryCatchBlock(from, middle, first, types[random.nextInt(5)]);
		mv.visitTryCatchBlock(from, to, second, types[1 + random.nextInt(2)]);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(first);
		store('A');
		statements(depth, 1);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(second);
		mv.visitInsn(POP);
		statements(depth, 1);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	/** Emits a throw behind a condition, so that the code after it is reachable. */
	private void raise() {
		Label not = new Label();

		jumpIf(not, 1);
		mv.visitTypeInsn(NEW, "java/lang/IllegalStateException");
		mv.visitInsn(DUP);
		mv.visitLdcInsn("made in " + number);
		mv.visitMethodInsn(INVOKESPECIAL, "java/lang/IllegalStateException", "<init>",
			"(Ljava/lang/String;)V", false);
		mv.visitInsn(ATHROW);
		mv.visitLabel(not);
		mv.visitInsn(NOP);
	}

	private void leave(int depth) {
		Label stay = new Label();

		jumpIf(stay, 2);
		switch (random.nextInt(3)) {
		case 0:
			raise();
			break;
		case 1:
			call();
			break;
		default:
			push('I', 1); /* lreturn drops what is below the result */
			push('J', 2);
			count("normal"); /* nothing can throw after this */
			mv.visitInsn(LRETURN);
		}
		mv.visitLabel(stay);
		mv.visitInsn(NOP);
	}

	/** Calls a method that is already written, so there is no recursion. */
	private void call() {
		if (number == 0)
			return;
		for (char type : TYPES.toCharArray())
			push(type, 1);
		mv.visitMethodInsn(INVOKESTATIC, name, methods.get(number - 1), ARGUMENTS, false);
		store('J');
	}

	private void monitor(int depth) {
		Label from = new Label(), to = new Label(), handler = new Label(), end = new Label();
		int lock = freshLocal('A');

		mv.visitTryCatchBlock(from, to, handler, null);
		mv.visitLdcInsn("lock " + name);
		mv.visitInsn(DUP);
		mv.visitVarInsn(ASTORE, lock);
		mv.visitInsn(MONITORENTER);
		mv.visitLabel(from);
		mv.visitVarInsn(by('I', ILOAD), local('I'));
		mv.visitVarInsn(by('I', ILOAD), local('I'));
		mv.visitInsn(IDIV);
		store('I');
		mv.visitVarInsn(ALOAD, lock);
		mv.visitInsn(MONITOREXIT);
		mv.visitLabel(to);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(handler);
		mv.visitVarInsn(ALOAD, lock);
		mv.visitInsn(MONITOREXIT);
		mv.visitInsn(ATHROW);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	private void subroutine(int depth) {
		Label routine = new Label(), end = new Label();
		int back = freshLocal('A');

		mv.visitJumpInsn(JSR, routine);
		statements(depth, 1);
		mv.visitJumpInsn(JSR, routine);
		mv.visitJumpInsn(GOTO, end);
		mv.visitLabel(routine);
		mv.visitVarInsn(ASTORE, back);
		statements(0, 2);
		mv.visitVarInsn(RET, back);
		mv.visitLabel(end);
		mv.visitInsn(NOP);
	}

	private void randomMethod(int i) {
		begin("m" + i, ARGUMENTS, i % 8 == 7 ? ACC_SYNCHRONIZED : 0);
		locals.clear();
		int[] at = { 0, 1, 3, 4, 6 };
		for (int t = 0; t < 5; t++)
			locals.add(new int[] { TYPES.charAt(t), at[t] });
		nextLocal = 7;
		for (int t = 0; t < 5; t++) {
			if (t == 2 && i % 3 == 0)
				nextLocal = 300; /* indexes over 255 need wide instructions */
			char type = TYPES.charAt(t);
			int index = freshLocal(type);
			locals.add(new int[] { type, index });
			constant(type);
			mv.visitVarInsn(by(type, ISTORE), index);
		}
		budget = 60;
		monitor(0); /* ASM computes frames of handlers only after the first visited one */
		statements(3, 14);
		raise();
		count("normal");
		fold();
		mv.visitInsn(LRETURN);
		end();
	}

	/** Combines all locals into one long. */
	private void fold() {
		mv.visitInsn(LCONST_0);
		for (int[] l : locals) {
			mv.visitLdcInsn(31L);
			mv.visitInsn(LMUL);
			mv.visitVarInsn(by((char) l[0], ILOAD), l[1]);
			switch (l[0]) {
			case 'I':
				mv.visitInsn(I2L);
				break;
			case 'F':
				mv.visitMethodInsn(INVOKESTATIC, "java/lang/Float", "floatToIntBits", "(F)I", false);
				mv.visitInsn(I2L);
				break;
			case 'D':
				mv.visitMethodInsn(INVOKESTATIC, "java/lang/Double", "doubleToLongBits", "(D)J",
					false);
				break;
			case 'A':
				mv.visitTypeInsn(INSTANCEOF, "java/lang/String");
				mv.visitInsn(I2L);
				break;
			default:
			}
			mv.visitInsn(LADD);
		}
	}

	/** Writes static long NAME(int) with code of about this many bytes. */
	private void longMethod(String method, int bytes, boolean jump) {
		Label end = new Label();

		begin(method, "(I)J", 0);
		mv.visitVarInsn(ILOAD, 0);
		if (jump)
			mv.visitJumpInsn(IFLT, end);
		else
			mv.visitInsn(POP);
		mv.visitInsn(LCONST_0);
		mv.visitVarInsn(LSTORE, 1);
		for (int n = 40; n < bytes; n += 6) { /* iload_0, i2l, lload_1, lxor, lstore_1; iinc */
			if (n % 1000 < 6 && n + 60 < bytes) {
				Label on = new Label();
				mv.visitVarInsn(ILOAD, 0);
				mv.visitLdcInsn(n);
				mv.visitJumpInsn(IF_ICMPNE, on);
				count("normal");
				mv.visitVarInsn(LLOAD, 1);
				mv.visitInsn(LRETURN); /* each return adds code */
				mv.visitLabel(on);
				n += 21;
			}
			if (n % 1000 < 6) {
				mv.visitIincInsn(0, 3);
				n += 3;
			}
			mv.visitVarInsn(ILOAD, 0);
			mv.visitInsn(I2L);
			mv.visitVarInsn(LLOAD, 1);
			mv.visitInsn(LADD);
			mv.visitInsn(pick(NOP, LNEG));
			mv.visitVarInsn(LSTORE, 1);
		}
		count("normal");
		mv.visitVarInsn(LLOAD, 1);
		mv.visitInsn(LRETURN);
		if (jump) {
			mv.visitLabel(end);
			count("normal");
			mv.visitInsn(LCONST_1);
			mv.visitInsn(LRETURN);
		}
		end();
	}

	/** Writes a method with n arguments of a type, which sums up argument times position. */
	private void manyArguments(String method, char type, int n, String last) {
		StringBuilder descriptor = new StringBuilder("(");
		int size = type == 'J' ? 2 : 1;

		for (int i = 0; i < n; i++)
			descriptor.append(type);
		begin(method, descriptor + last + ")J", 0);
		mv.visitInsn(LCONST_0);
		for (int i = 0; i < n; i++) {
			mv.visitVarInsn(type == 'J' ? LLOAD : ILOAD, i * size);
			if (type == 'I')
				mv.visitInsn(I2L);
			mv.visitLdcInsn((long) i + 1);
			mv.visitInsn(LMUL);
			mv.visitInsn(LADD);
		}
		count("normal");
		mv.visitInsn(LRETURN);
		end();
	}

	/** Writes a method with a switch of many cases. */
	private void bigSwitch(String method, boolean table) {
		int n = 1500;
		Label[] cases = new Label[n];
		int[] keys = new int[n];
		Label other = new Label();

		begin(method, "(I)J", 0);
		for (int i = 0; i < n; i++) {
			cases[i] = new Label();
			keys[i] = i * 1000003 - 700000000;
		}
		java.util.Arrays.sort(keys);
		mv.visitVarInsn(ILOAD, 0);
		if (table)
			mv.visitTableSwitchInsn(-10, n - 11, other, cases);
		else
			mv.visitLookupSwitchInsn(other, keys, cases);
		for (int i = 0; i < n; i++) {
			mv.visitLabel(cases[i]);
			mv.visitIincInsn(0, i % 100);
			if (i % 5 == 0)
				mv.visitJumpInsn(GOTO, other);
		}
		mv.visitLabel(other);
		count("normal");
		mv.visitVarInsn(ILOAD, 0);
		mv.visitInsn(I2L);
		mv.visitInsn(LRETURN);
		end();
	}

	/** Writes the class. Its initialiser creates the arrays and the list of method names. */
	private void write(Path dir) throws IOException {
		mv = writer.visitMethod(ACC_STATIC, "<clinit>", "()V", null, null);
		mv.visitCode();
		for (String array : new String[] { "calls", "normal" }) {
			mv.visitIntInsn(SIPUSH, methods.size());
			mv.visitIntInsn(NEWARRAY, T_LONG);
			mv.visitFieldInsn(PUTSTATIC, name, array, "[J");
		}
		mv.visitLdcInsn(String.join(" ", methods));
		mv.visitFieldInsn(PUTSTATIC, name, "methods", "Ljava/lang/String;");
		mv.visitInsn(RETURN);
		end();
		writer.visitField(ACC_PUBLIC | ACC_STATIC, "methods", "Ljava/lang/String;", null, null)
			.visitEnd();
		writer.visitEnd();
		Path file = dir.resolve(name + ".class");
		Files.createDirectories(file.getParent());
		Files.write(file, writer.toByteArray());
	}

	public static void main(String[] args) throws IOException {
		Path dir = Paths.get(args[0]);
		long seed = Long.parseLong(args[1]);

		for (int version : new int[] { V1_5, V1_8 }) {
			Make made = new Make("M" + version, version, seed + version);
			for (int i = 0; i < METHODS; i++)
				made.randomMethod(i);
			made.write(dir);
		}
		Make large = new Make("Large", V1_8, seed);
		large.longMethod("long60", 60000, false);
		large.longMethod("long8", 8100, false); /* HotSpot compiles no method over 8,000 bytes */
		large.manyArguments("ints255", 'I', 255, "");
		large.manyArguments("longs127", 'J', 127, "I");
		large.bigSwitch("table", true);
		large.bigSwitch("lookup", false);
		large.write(dir);
		Make refused = new Make("Refused", V1_8, seed);
		refused.longMethod("tooLong", 65450, false);
		refused.longMethod("farJump", 32700, true);
		refused.manyArguments("fine", 'I', 3, "");
		refused.write(dir);
	}
}
