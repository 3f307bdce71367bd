/*
 * Values: arguments, results and exceptions of a traced call, as the agent describes them to
 * jtool.  The first byte is a kind; numbers are big-endian.  Nothing of the application runs to
 * describe one: fields of the JDK's own classes are read, never toString().
 *
 *     Z B C S I   u32, sign-extended            F   u32, the float's bits
 *     J           u64                           D   u64, the double's bits
 *     N           null
 *     s           String: u32 its length in chars, u16 n, and its first n chars, u16 each
 *     b           boxed: the value in it, by one of the primitive kinds
 *     e           enum: its class, and its name as `s` or `N`
 *     a           array: its class, u32 its length, u16 n, and its first n elements as values
 *     t           Throwable: its class, and its detail message as `s` or `N`
 *     o           anything else: its class, u32 its identity hash code
 *     -           there was no room for it, nor for what follows it in the same list
 *
 * A class is u16 length and its signature.  Elements of an array that are arrays are told as `o`.
 *
 * libc only; used by the agent and by jtool.
 */
#ifndef JTOOL_WIRE_VALUE_H
#define JTOOL_WIRE_VALUE_H

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
