#!/usr/bin/python3
"""Connects to a server like hostile clients.

    clients.py ADDRESS PORT KIND N

Opens N connections, prints "ready", retains them until its standard input ends, and prints how many
the server has closed.  KIND is `silent` (sends nothing), `slow` (a byte a second of an endless
header), `deaf` (requests, and reads nothing) or `garbage` (random bytes).
"""
import os
import select
import socket
import sys

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: x\r\n"
FIRST = {"silent": b"", "slow": REQUEST, "deaf": REQUEST + b"\r\n", "garbage": os.urandom(2000)}


def connect(address, port, first):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    s.connect((address, port))
    s.sendall(first)
    s.setblocking(False)
    return s


def is_closed(s, reads):
    try:
        return reads and s.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def main(address, port, kind, n):
    clients = [connect(address, port, FIRST[kind]) for _ in range(n)]
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 1)[0]:
        if kind != "slow":
            continue
        for s in clients:
            try:
                s.send(b"x")
            except OSError:
                pass
    print(sum(is_closed(s, kind != "deaf") for s in clients))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
