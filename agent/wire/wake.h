/*
 * The request with which a client wakes an agent that the JVM has loaded at startup.
 *
 * A request is a socket on which the client listens: DIR/.jtool-UID-NSPID/.wake-ADDRESS-TOKEN.
 *
 * DIR:      /tmp or the JVM's working directory; HotSpot uses the same two directories to attach
 * ADDRESS:  the address of the library's first mapping in /proc/PID/maps, in WIRE_WAKE_ADDRESS_LEN
 *           lower-case hexadecimal digits.  Only the agent library at this address wakes: a JVM may
 *           have loaded several agent libraries of jtool, for example of different builds.
 * TOKEN:    the token of the session
 *
 * The directory .jtool-UID-NSPID and the socket belong to the JVM's user, and no other user has any
 * right to them.
 */
#ifndef JTOOL_AGENT_WIRE_WAKE_H
#define JTOOL_AGENT_WIRE_WAKE_H

#include "wire/frame.h"

#define WIRE_WAKE_PREFIX ".wake-"
#define WIRE_WAKE_ADDRESS_LEN 16
/* The length of a request's file name, without the NUL. */
#define WIRE_WAKE_LEN \
	(sizeof(WIRE_WAKE_PREFIX) - 1 + WIRE_WAKE_ADDRESS_LEN + 1 + WIRE_TOKEN_LEN)

#endif
