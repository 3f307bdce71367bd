#include "model/jfr/jfr_names.h"

#include "model/class/type_name.h"

static void add_text(struct buf *out, const struct jfr_datum *d)
{
	if (d->kind == JFR_TEXT)
		jfr_string_add(out, &d->text);
}

/*
 * Appends a class name with dots: "java.lang.String" for "java/lang/String".  The slash before the
 * number of a hidden class is not changed: "a.b.C$$Lambda/0x00007f5a1c000a00".
 */
static void add_dots(struct buf *out, const char *name, size_t len)
{
	size_t start = out->len;
	char *last = NULL;

	buf_add(out, name, len);
	for (size_t i = start; i < out->len; i++) {
		if (out->data[i] == '/') {
			last = &out->data[i];
			*last = '.';
		}
	}
	if (last && last[1] >= '0' && last[1] <= '9')
		*last = '/';
}

/* Appends the Java source form of a class, whose name is "java/lang/String" or "[I". */
static void add_class(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *class)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	size_t start = out->len;
	struct jfr_datum d;

	jfr_member(chunk, class, "name", &d);
	add_text(&name, &d);
	if (name.len == 0)
		return;
	if (name.data[0] == '[' && type_name_java(out, name.data, name.len) == 0)
		return;
	out->len = start;
	add_dots(out, name.data, name.len);
}

/* Appends the part of a type's name after the last dot. */
static void add_simple_type(struct buf *out, const char *signature, size_t len)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *dot;

	if (type_name_java(&name, signature, len) < 0) {
		buf_add(out, signature, len);
		return;
	}
	dot = strrchr(buf_str(&name), '.');
	buf_adds(out, dot ? dot + 1 : buf_str(&name));
}

/*
 * `at` is a position in the parameters of a descriptor.  Returns the length of the type that begins
 * there; 0 at the end of the parameters.
 */
static size_t type_length(const char *at)
{
	size_t n = strspn(at, "[");

	if (at[n] == 'L') {
		size_t name = strcspn(at + n, ";");

		return at[n + name] ? n + name + 1 : 0;
	}
	return at[n] && at[n] != ')' ? n + 1 : 0;
}

static void add_parameters(struct buf *out, const char *descriptor)
{
	const char *at = descriptor + (*descriptor == '(');
	size_t n;

	buf_addc(out, '(');
	for (bool first = true; (n = type_length(at)) > 0; at += n, first = false) {
		if (!first)
			buf_adds(out, ", ");
		add_simple_type(out, at, n);
	}
	buf_addc(out, ')');
}

void jfr_method_name_add(struct buf *out, const struct jfr_chunk *chunk,
			 const struct jfr_datum *method)
{
	struct jfr_datum d;

	jfr_member(chunk, method, "type", &d);
	add_class(out, chunk, &d);
	buf_addc(out, '.');
	jfr_member(chunk, method, "name", &d);
	add_text(out, &d);
}

void jfr_method_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *method)
{
	_cleanup_buf_ struct buf descriptor = BUF_INIT;
	struct jfr_datum d;

	jfr_method_name_add(out, chunk, method);
	jfr_member(chunk, method, "descriptor", &d);
	add_text(&descriptor, &d);
	if (descriptor.len > 0)
		add_parameters(out, buf_str(&descriptor));
}

/* Appends the text of the first field among `names` whose text is not empty. */
static void add_first(struct buf *out, const struct jfr_chunk *chunk,
		      const struct jfr_datum *object, const char *const *names)
{
	size_t start = out->len;

	for (; *names && out->len == start; names++) {
		struct jfr_datum d;

		jfr_member(chunk, object, *names, &d);
		add_text(out, &d);
	}
}

static void add_loader(struct buf *out, const struct jfr_chunk *chunk,
		       const struct jfr_datum *loader)
{
	static const char *const names[] = { "name", NULL };
	size_t start = out->len;
	struct jfr_datum type;

	jfr_member(chunk, loader, "type", &type);
	add_class(out, chunk, &type);
	if (out->len == start)
		add_first(out, chunk, loader, names);
}

static void add_frame(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *frame)
{
	struct jfr_datum d;

	jfr_member(chunk, frame, "method", &d);
	if (d.kind != JFR_FIELDS)
		return;
	jfr_method_add(out, chunk, &d);
	jfr_member(chunk, frame, "lineNumber", &d);
	if (d.kind == JFR_INTEGER && d.integer > 0)
		buf_addf(out, " line: %lld", (long long)d.integer);
}

static void add_top_frame(struct buf *out, const struct jfr_chunk *chunk,
			  const struct jfr_datum *trace)
{
	struct jfr_stack stack;
	struct jfr_frame frame;

	jfr_stack_read(chunk, trace, &stack);
	if (jfr_stack_next(&stack, &frame) && frame.method.kind == JFR_FIELDS)
		jfr_method_add(out, chunk, &frame.method);
}

static void add_dotted(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *d)
{
	static const char *const names[] = { "name", NULL };
	size_t start = out->len;

	add_first(out, chunk, d, names);
	for (size_t i = start; i < out->len; i++)
		out->data[i] = out->data[i] == '/' ? '.' : out->data[i];
}

static void add_object(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *d)
{
	static const char *const thread[] = { "javaName", "osName", NULL };
	static const char *const other[] = { "name", "string", "type", NULL };
	const char *type = d->type->name;

	if (strcmp(type, "java.lang.Thread") == 0 || strcmp(type, "jdk.types.Thread") == 0)
		add_first(out, chunk, d, thread);
	else if (strcmp(type, "java.lang.Class") == 0)
		add_class(out, chunk, d);
	else if (strcmp(type, "jdk.types.Method") == 0)
		jfr_method_add(out, chunk, d);
	else if (strcmp(type, "jdk.types.ClassLoader") == 0)
		add_loader(out, chunk, d);
	else if (strcmp(type, "jdk.types.StackFrame") == 0)
		add_frame(out, chunk, d);
	else if (strcmp(type, "jdk.types.StackTrace") == 0)
		add_top_frame(out, chunk, d);
	else if (strcmp(type, "jdk.types.Package") == 0)
		add_dotted(out, chunk, d);
	else
		add_first(out, chunk, d, other);
}

void jfr_name_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *d)
{
	if (d->kind == JFR_TEXT)
		jfr_string_add(out, &d->text);
	else if (d->kind == JFR_FIELDS)
		add_object(out, chunk, d);
}

void jfr_stack_read(const struct jfr_chunk *chunk, const struct jfr_datum *trace,
		    struct jfr_stack *stack)
{
	struct jfr_datum d;

	*stack = (struct jfr_stack){ .chunk = chunk };
	jfr_member(chunk, trace, "truncated", &d);
	stack->truncated = d.kind == JFR_TRUTH && d.integer;
	jfr_member(chunk, trace, "frames", &d);
	if (d.kind == JFR_ELEMENTS && d.type)
		stack->frames = d;
}

bool jfr_stack_next(struct jfr_stack *stack, struct jfr_frame *frame)
{
	struct jfr_datum object, d;

	if (stack->frames.kind != JFR_ELEMENTS || stack->frames.n == 0)
		return false;
	jfr_read(stack->chunk, stack->frames.field, true, &stack->frames.body, &object);
	stack->frames.n--;
	if (stack->frames.body.failed)
		return false;
	jfr_member(stack->chunk, &object, "method", &frame->method);
	jfr_member(stack->chunk, &object, "lineNumber", &d);
	frame->line = d.kind == JFR_INTEGER ? d.integer : 0;
	jfr_member(stack->chunk, &object, "bytecodeIndex", &d);
	frame->bytecode_index = d.kind == JFR_INTEGER ? d.integer : -1;
	jfr_member(stack->chunk, &object, "type", &frame->type);
	return true;
}
