"""A process that jtool takes for a JVM, and that puts traps in its way.

fake_jvm.py LIBJVM DIR HOW [TARGET]

LIBJVM is mapped; the attach socket is in /tmp. Files in DIR, and in each directory of a file that
jtool wants to have written, are watched: "opens" on stdin prints how often one was opened.

HOW: device   answers JFR.dump by a device node (/dev/null) under the name of the recording
     swap     exchanges the attach socket with a link to TARGET all the time
"""
import array
import ctypes
import mmap
import os
import re
import signal
import socket
import stat
import sys
import threading

IN_OPEN = 0x20
IN_ISDIR = 0x40000000
AT_FDCWD = -100
RENAME_EXCHANGE = 2

libc = ctypes.CDLL(None, use_errno=True)
inotify = libc.inotify_init1(os.O_NONBLOCK)


def watch(path):
    if libc.inotify_add_watch(inotify, path.encode(), IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), path)


def count_opens():
    """Of files; opening a directory has no effect. Prints their names on stderr."""
    n = 0
    try:
        data = os.read(inotify, 65536)
    except BlockingIOError:
        return 0
    while data:
        _, mask, _, length = array.array("I", data[:16])
        if mask & IN_OPEN and not mask & IN_ISDIR:
            print("opened", data[16:16 + length], file=sys.stderr, flush=True)
            n += 1
        data = data[16 + length:]
    return n


def answer(request):
    op, *args = request.split(b"\0")[1:]
    if op == b"getversion":
        return b"101\nOperation not recognized\n"
    command = args[0].decode()
    path = re.search(r"filename=\"?([^\"\s]+)", command)
    if command.startswith("JFR.dump") and path:
        watch(os.path.dirname(path[1]))
        os.mknod(path[1], stat.S_IFCHR | 0o666, os.makedev(1, 3))
    return b"0\nDumped recording\n"


def serve(server):
    while True:
        client, _ = server.accept()
        request = b""
        while request.count(b"\0") < 5:
            piece = client.recv(4096)
            if not piece:
                break
            request += piece
        if request:
            try:
                client.sendall(answer(request))
            except OSError as e:
                print(e, file=sys.stderr, flush=True)
        client.close()


def swap(path, link):
    while True:
        libc.renameat2(AT_FDCWD, path, AT_FDCWD, link, RENAME_EXCHANGE)


def main():
    libjvm, folder, how, *target = sys.argv[1:]
    with open(libjvm, "rb") as f:
        mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    watch(folder)
    path = f"/tmp/.java_pid{os.getpid()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    os.chmod(path, 0o600)
    server.listen(5)
    threading.Thread(target=serve, args=(server,), daemon=True).start()
    if how == "swap":
        os.symlink(target[0], path + ".link")
        threading.Thread(
            target=swap, args=(path.encode(), (path + ".link").encode()), daemon=True).start()
    print("READY", flush=True)
    for line in sys.stdin:
        if line == "opens\n":
            print("opens", count_opens(), flush=True)
    mapped.close()


main()
