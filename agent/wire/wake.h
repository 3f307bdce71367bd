/*
 * The request with which a client wakes an agent that the JVM has loaded at startup.
 *
 * A request is a socket on which the client listens: DIR/.jtool-UID-NSPID/.wake-ADDRESS-TOKEN.  DIR
 * is /tmp or the JVM's working directory, which HotSpot itself uses for attaching.  ADDRESS is the
 * start of the mapped library as in /proc/PID/maps, in WIRE_WAKE_ADDRESS_LEN lower-case hexadecimal
 * digits: if the JVM has loaded several libraries of jtool, for example of different builds, only
 * the library at this address wakes.  TOKEN is the token of the session.  The directory and the
 * socket belong to the JVM's user, and no other user has any right to them.
 */
#ifndef JTOOL_AGENT_WIRE_WAKE_H
#define JTOOL_AGENT_WIRE_WAKE_H

#include "wire/frame.h"

#define WIRE_WAKE_PREFIX ".wake-"
#define WIRE_WAKE_ADDRESS_LEN 16
/* The length of a request's name. */
#define WIRE_WAKE_LEN \
	(sizeof(WIRE_WAKE_PREFIX) - 1 + WIRE_WAKE_ADDRESS_LEN + 1 + WIRE_TOKEN_LEN)

#endif
