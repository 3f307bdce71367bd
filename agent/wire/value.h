/*
 * The encoding of values: arguments, results and exceptions of a traced call.  The first byte of a
 * value is its kind, as below; the rest depends on the kind.  Numbers are big-endian.  To encode a
 * value the agent reads fields of JDK classes; it runs no application code, in particular no
 * toString().
 *
 *     Z B C S I   u32, sign-extended            F   u32, the float's bits
 *     J           u64                           D   u64, the double's bits
 *     N           null
 *     s           String: u32 length in chars, u16 n, and the first n chars, u16 each
 *     b           boxed: the value, as a primitive kind
 *     e           enum: class, and name as `s` or `N`
 *     a           array: class, u32 length, u16 n, and the first n elements as values
 *     t           Throwable: class, and detail message as `s` or `N`
 *     o           any other object: class, u32 identity hash code
 *     -           omitted for lack of room, like all following values of the same list
 *
 * A class is a u16 length and the signature.  An array element that is an array is encoded as `o`.
 */
#ifndef JTOOL_AGENT_WIRE_VALUE_H
#define JTOOL_AGENT_WIRE_VALUE_H

enum value_kind {
	VALUE_BOOLEAN = 'Z',
	VALUE_BYTE = 'B',
	VALUE_CHAR = 'C',
	VALUE_SHORT = 'S',
	VALUE_INT = 'I',
	VALUE_LONG = 'J',
	VALUE_FLOAT = 'F',
	VALUE_DOUBLE = 'D',
	VALUE_NULL = 'N',
	VALUE_STRING = 's',
	VALUE_BOXED = 'b',
	VALUE_ENUM = 'e',
	VALUE_ARRAY = 'a',
	VALUE_THROWABLE = 't',
	VALUE_OBJECT = 'o',
	VALUE_CUT = '-',
};

#endif
