"""A hostile target: a process that looks like a JVM, and behaves as HOW says.

fake_jvm.py LIBJVM HOW [DIR [TARGET]]

LIBJVM is a file called libjvm.so, which is mapped; the attach socket is in /tmp.  Files in DIR, and
in the directory of a recording, are watched: the line "opens" on stdin prints how often one was
opened.  HOW is how the process answers every operation of the attach protocol, or what its agent
does once it is "loaded":

  right      an answer of one line
  silent     the request is read, and never answered
  midway     the answer begins and does not go on
  dribble    a byte each 200 ms
  trickle    a byte each second
  endless    as many bytes as are read
  escapes    a thread name with control characters
  nul        48 MB of characters that JSON escapes

  agent-mute     the agent connects and does not answer
  agent-dribble  the agent sends an empty frame each 200 ms
  agent-tape     the agent sends heap data that never ends, in frames of 64 KB
  agent-crumbs   the same in frames of 2 bytes
  agent-names    the agent sends names of threads that never end

  dump-endless   writes zeros to the file of a heap dump, for as long as it can
  dump-records   writes a heap dump that never ends
  dump-damaged   writes the heap dump DIR/dump, the first time with zeros in its middle; answers
                 VM.flags and VM.version with the files of these names in DIR
  jfr-sparse     a recording of 8 TB that takes no space
  jfr-claims     the same, with a header that claims that size

  device     a device node (/dev/null) under the name of the recording
  swap       exchanges the attach socket with a link to TARGET all the time
"""
import array
import ctypes
import mmap
import os
import re
import signal
import socket
import stat
import struct
import sys
import threading
import time

AGENT_FRAMES = {"HELLO": 1, "CLASSES_END": 43, "SOURCE": 41, "HEAP_STREAM": 91, "THREADS": 92}
STOP = threading.Event()
n_dumps = 0

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
    """Counts how often files were opened since the last call, and prints their names on stderr."""
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


def swap(path, link):
    while True:
        libc.renameat2(AT_FDCWD, path, AT_FDCWD, link, RENAME_EXCHANGE)


def frame(name, payload=b""):
    return struct.pack(">IBBH", len(payload), 1, 0, AGENT_FRAMES[name]) + payload


def text(data):
    return struct.pack(">I", len(data)) + data


def receive_frame(channel):
    head = channel.recv(8, socket.MSG_WAITALL)
    if len(head) < 8:
        return None
    length, _, _, kind = struct.unpack(">IBBH", head)
    if length:
        channel.recv(length, socket.MSG_WAITALL)
    return kind


def agent(path, token, how):
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(path)
    channel.sendall(frame("HELLO", text(token) + struct.pack(">II", os.getpid(), 0x30000) + text(b"") + struct.pack(">I", 0)))
    sent = 0
    try:
        receive_frame(channel)
        if how == "agent-mute":
            STOP.wait()
        if how == "agent-dribble":
            while not STOP.wait(0.2):
                channel.sendall(frame("SOURCE", struct.pack(">I", sent + 1) + text(b"x")))
                sent += 1
        # The first request is for the classes: there are none.
        channel.sendall(frame("CLASSES_END", struct.pack(">I", 0)))
        receive_frame(channel)
        # A record of the heap stream that adds nothing: see heap_stream.h.
        data = {"agent-tape": frame("HEAP_STREAM", b"\0" * 65536),
                "agent-crumbs": frame("HEAP_STREAM", b"\0\0") * 8192,
                "agent-names": frame("THREADS", struct.pack(">I", 1000) +
                                     (struct.pack(">Q", 7) + text(b"x" * 50)) * 1000)}[how]
        while True:
            channel.sendall(data)
            sent += len(data)
    except OSError:
        pass
    print("sent", sent, flush=True)


def write_dump(path, how):
    header = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0)
    data, n = b"\0" * 65536, 0
    if how == "dump-records":
        data = (struct.pack(">BIIQ", 1, 0, 8, 1)) * 4000  # a symbol without text, again and again
    fd = os.open(path, os.O_WRONLY)
    try:
        if how == "dump-records":
            os.write(fd, header)
        while True:
            n += os.write(fd, data)
    except OSError:
        pass
    os.close(fd)
    print("wrote", n, flush=True)


def write_damaged(path, right, n):
    with open(right, "rb") as file:
        data = bytearray(file.read())
    if n == 0:
        data[len(data) // 2:len(data) // 2 + 64] = b"\0" * 64
    with open(path, "wb") as file:
        file.write(data)
    return len(data)


def write_recording(path, how):
    if how == "device":
        watch(os.path.dirname(path))
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        return
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.ftruncate(fd, 1 << 43)
    if how == "jfr-claims":
        os.write(fd, b"FLR\0" + struct.pack(">HHQ", 2, 1, 1 << 43))
    os.close(fd)


def send_forever(client, data, pause):
    sent = 0
    try:
        while True:
            client.sendall(data)
            sent += len(data)
            if pause:
                time.sleep(pause)
    except OSError:
        pass
    print("sent", sent, flush=True)


def answer_files(client, line, folder):
    """Answers of a JVM whose heap dump is damaged the first time."""
    global n_dumps
    if line.startswith("GC.heap_dump"):
        n = write_damaged(re.search('"(.*)"', line).group(1), folder + "/dump", n_dumps)
        n_dumps += 1
        client.sendall(b"0\nHeap dump file created [%d bytes]\n" % n)
    elif line.split()[0] in ("VM.flags", "VM.version"):
        with open(folder + "/" + line.split()[0], "rb") as file:
            client.sendall(b"0\n" + file.read())
    else:
        client.sendall(b"0\nnothing\n")


def answer(client, how, folder):
    data = b""
    while data.count(b"\0") < 5:
        piece = client.recv(65536)
        if not piece:
            return
        data += piece
    request = data.split(b"\0")
    op, args = request[1], request[2:]
    line = args[0].decode()
    print("asked", op.decode(), flush=True)
    if op == b"getversion":
        client.sendall(b"0\n1\n")
    elif op == b"load" and how.startswith("agent-"):
        path, token = args[2].decode().rsplit(",", 1)
        threading.Thread(target=agent, args=(path, token.encode(), how), daemon=True).start()
        client.sendall(b"0\n0\n")
    elif "help GC.heap_dump" in line:
        client.sendall(b"0\n-all -overwrite\n")
    elif how == "dump-damaged":
        answer_files(client, line, folder)
    elif line.startswith("GC.heap_dump"):
        write_dump(re.search('"(.*)"', line).group(1), how)
        client.sendall(b"0\nHeap dump file created [1 bytes]\n")
    elif line.startswith("JFR.dump"):
        write_recording(re.search("filename=(\\S+)", line).group(1), how)
        client.sendall(b"0\nDumped recording, 1 MB written to:\n\n/x\n")
    elif how == "silent":
        STOP.wait()
    elif how == "midway":
        client.sendall(b"0\nThe answer begins")
        STOP.wait()
    elif how == "dribble":
        client.sendall(b"0\n")
        send_forever(client, b"x", 0.2)
    elif how == "trickle":
        client.sendall(b"0\n")
        send_forever(client, b"x", 1)
    elif how == "endless":
        client.sendall(b"0\n")
        send_forever(client, b"endless\n" * 8192, 0)
    elif how == "escapes":
        client.sendall(b'0\n"main\x1b]0;PWNED\x07\x1b[31m" #1\n\t\xc2\x9b31m rlo \xe2\x80\xae.\n')
    elif how == "nul":
        client.sendall(b"0\n" + b"\1" * (48 << 20))
    else:
        client.sendall(b"0\nright\n")
    client.close()


def main():
    library, how, *rest = sys.argv[1:]
    with open(library, "r+b") as f:
        mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC,
                           flags=mmap.MAP_PRIVATE)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for folder in rest[:1]:
        watch(folder)
    server = socket.socket(socket.AF_UNIX)
    name = f"/tmp/.java_pid{os.getpid()}"
    server.bind(name)
    os.chmod(name, 0o600)
    server.listen(5)

    def serve():
        while True:
            threading.Thread(target=answer, args=(server.accept()[0], how, rest[0] if rest else ""),
                             daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    if how == "swap":
        link = name + ".link"
        os.symlink(rest[1], link)
        threading.Thread(target=swap, args=(name.encode(), link.encode()), daemon=True).start()
    print("READY", flush=True)
    for line in sys.stdin:
        if line == "opens\n":
            print("opens", count_opens(), flush=True)
    STOP.wait()
    mapped.close()


main()
