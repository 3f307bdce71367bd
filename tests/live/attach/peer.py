"""Misbehaving peers of attach clients and JVMs.

peer.py hold SOCKET    connect and send nothing: the JVM's only listener thread waits for us
peer.py serve SOCKET   listen and answer every client, as a JVM would
peer.py mute SOCKET    listen and never answer
"""
import os
import signal
import socket
import sys


def answer(server):
    while True:
        client, _ = server.accept()
        client.recv(4096)
        client.sendall(b"0\nnot the JVM\n")
        client.close()


def main():
    how, path = sys.argv[1:3]
    s = socket.socket(socket.AF_UNIX)
    # A socket address holds 108 bytes; paths into a container are longer.
    os.chdir(os.path.dirname(path))
    name = os.path.basename(path)
    if how == "hold":
        s.connect(name)
    else:
        s.bind(name)
        os.chmod(name, 0o600)
        s.listen(5)
    print("up", flush=True)
    if how == "serve":
        answer(s)
    signal.pause()


main()
