"""Runs jtool on a JVM's answers, into which errors are inserted.

mutants.py JTOOL LIBJVM PID SESSIONS FILES SEED DIR

Processes that look like JVMs pass every request on to the JVM PID, whose attach listener must
run, and change its answers, the frames of its agent, and its flight recordings.  jtool runs with
each of them in turn, SESSIONS times in all, and FILES times on changed heap dumps, histograms,
reports and class files.  DIR has base.hprof, saved.json and Idle.class.

Prints each run that crashes, hangs, has a sanitizer's report, takes more than MEMORY of memory or
an unknown exit code, and at last a line with the counts.  The same SEED makes the same choices.
"""
import mmap
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading

MEMORY = 1024  # MB, of which a sanitizer takes most
HANG = 60  # seconds
PATIENCE = 3  # seconds that a connection stays after an error
WORKERS = 4  # most of the time they wait
COMMANDS = [
    "heaphisto {pid} --max-memory 64", "heaphisto {pid} --json --by loader", "heaphisto {pid} --vm",
    "classes {pid}", "classes {pid} --json", "class {pid} java.lang.String -c -b",
    "class {pid} java.util.HashMap --json", "dump {pid} java.lang.Str* -d {dir}/out",
    "heaphisto {pid} --live", "heaphisto {pid} --engine snapshot --json",
    "retained {pid} --max-memory 64", "retained {pid} --tree --json --max-memory 64",
    "retained {pid} --engine agent --max-memory 64",
    "retained {pid} --engine snapshot --suspects --max-memory 64",
    "refpaths {pid} java.lang.Thread --max-memory 64", "trace {pid} Idle.* -d 0.05",
    "alloc {pid} -d 0.05", "alloc {pid} --live --json -d 0.05", "patches {pid}", "detach {pid}",
    "redefine {pid} {dir}/Idle.class --check", "threads {pid}", "threads {pid} --json",
    "threads {pid} --stack", "threads {pid} --deadlocks", "threads {pid} --blocked",
    "memory {pid}", "memory {pid} --json", "props {pid} --json",
    "flags {pid}", "jcmd {pid} VM.version --json", "info {pid}", "stat {pid}", "jfr {pid} check",
    "jfr {pid} dump {dir}/x.jfr --force", "heapdump {pid} {dir}/x.hprof --force",
]
# Pairs of a file that is changed and a command that reads it.
FILES = [
    ("base.hprof", "retained {file} --max-memory 64"),
    ("base.hprof", "refpaths {file} java.lang.Thread --max-memory 64"),
    ("base.hprof", "heaphisto {file}"),
    ("base.hprof", "retained {file} --suspects --json --max-memory 64"),
    ("base.hprof.gz", "retained {file} --max-memory 64"),
    ("saved.json", "heaphisto {jvm} --vm --diff {file}"),
    ("memory.json", "memory {jvm} --diff {file}"),
    ("report.txt", "alloc {file}"),
    ("report.txt", "alloc {file} --json"),
    ("Idle.class", "redefine {jvm} {file} --check"),
    ("Idle.class", "redefine {jvm} {file} --check --json"),
    ("Idle.jar", "redefine {jvm} {file} --check"),
]


def change(rng, data):
    """Makes one to four errors."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(7)
        if how == 0:
            del data[at:]
        elif how == 1:
            del data[at:at + rng.randint(1, 16)]
        elif how == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 16))
        elif how == 3:
            data[at:at] = data[at:at + rng.randint(1, 4096)]
        elif at < len(data):
            n = min(rng.choice([1, 1, 2, 4, 8]), len(data) - at)
            value = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80", rng.randbytes(1)])
            data[at:at + n] = value + (b"\xff" if value == b"\x7f" else value) * (n - 1)
    return bytes(data)


def hang_up(client):
    try:
        client.shutdown(socket.SHUT_RDWR)
    except OSError:  # closed already
        pass


class Proxy:
    """Runs in a process of its own, which looks like a JVM."""

    def __init__(self, real, seed):
        self.real = real
        self.rng = random.Random(seed)

    def relay_agent(self, ours, path):
        """Passes on the frames of the agent that has connected, with an error in some sessions."""
        try:
            theirs = ours.accept()[0]
        except TimeoutError:  # the agent was not loaded
            return
        finally:
            ours.close()
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
        except OSError:  # jtool has given up
            theirs.close()
            return

        def requests():
            try:
                while data := client.recv(65536):
                    theirs.sendall(data)
                theirs.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

        threading.Thread(target=requests, daemon=True).start()
        n, wrong = 0, self.rng.choice([0, 1, 1, 1, 2, 2, 3, 4, 8, 20, 100])
        try:
            while len(head := theirs.recv(8, socket.MSG_WAITALL)) == 8:
                length = struct.unpack(">I", head[:4])[0]
                payload = theirs.recv(length, socket.MSG_WAITALL) if length else b""
                if n == 0:  # HELLO: a text, then the pid
                    end = 4 + struct.unpack(">I", payload[:4])[0]
                    payload = payload[:end] + struct.pack(">I", os.getpid()) + payload[end + 4:]
                if n == wrong:  # alloc and trace wait for minutes for a frame that is missing
                    threading.Timer(PATIENCE, hang_up, (client,)).start()
                client.sendall(self.frame(head, payload, n == wrong))
                n += 1
        except OSError:
            pass
        client.close()

    def frame(self, head, payload, wrong):
        how = self.rng.randrange(10) if wrong else -1
        if how < 0:
            return head + payload
        if how == 0:
            return b""
        if how == 1:
            return (head + payload) * 2
        if how == 2:
            return change(self.rng, head + payload)
        if how == 3:  # another frame type
            return head[:6] + struct.pack(">H", self.rng.randrange(128)) + payload
        payload = change(self.rng, payload)
        return struct.pack(">I", len(payload)) + head[4:] + payload

    def load(self, fields):
        path, token = fields[4].decode().rsplit(",", 1)
        ours = socket.socket(socket.AF_UNIX)
        name = path + "p"
        ours.bind(name)
        ours.listen(1)
        ours.settimeout(HANG)
        threading.Thread(target=self.relay_agent, args=(ours, path), daemon=True).start()
        fields[4] = f"{name},{token}".encode()
        return name

    def answer(self, client):
        request = b""
        while request.count(b"\0") < 5:
            piece = client.recv(65536)
            if not piece:
                return
            request += piece
        fields = request.split(b"\0")
        name = None
        if fields[1] == b"load" and fields[4].count(b","):
            name = self.load(fields)
        real = socket.socket(socket.AF_UNIX)
        real.connect(f"/tmp/.java_pid{self.real}")
        real.sendall(b"\0".join(fields))
        data = b""
        while piece := real.recv(1 << 20):
            data += piece
        if name:
            os.unlink(name)
        recording = re.search(rb"JFR.dump.*filename=\"?([^\"\s]+)", request)
        if recording and os.path.exists(recording[1]):
            with open(recording[1], "r+b") as f:
                changed = change(self.rng, f.read())
                f.seek(0)
                f.truncate()
                f.write(changed)
        # Sessions whose loading fails are short.
        elif self.rng.random() < (0.05 if name else 0.5):
            data = change(self.rng, data)
        client.sendall(data)

    def serve(self, client):
        try:
            self.answer(client)
        except (OSError, IndexError, ValueError):
            pass
        client.close()

    def run(self, library, ready):
        with open(library, "r+b") as f:
            self.mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        signal.signal(signal.SIGQUIT, lambda *_: None)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        server = socket.socket(socket.AF_UNIX)
        name = f"/tmp/.java_pid{os.getpid()}"
        server.bind(name)
        os.chmod(name, 0o600)
        server.listen(5)
        os.write(ready, b"x")
        while True:
            threading.Thread(target=self.serve, args=(server.accept()[0],), daemon=True).start()


def start_proxy(library, real, seed):
    ready, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        Proxy(real, seed).run(library, end)
    os.read(ready, 1)
    return pid


class Runs:
    def __init__(self, jtool, directory):
        self.jtool = jtool
        self.directory = directory
        self.bad = self.partial = self.peak = 0
        self.codes = {}
        self.lock = threading.Lock()

    def run(self, words, label):
        err_name = f"{self.directory}/err.{threading.get_ident()}"
        with open(err_name, "wb") as err:
            child = subprocess.Popen([self.jtool, *words], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=err)
            timer = threading.Timer(HANG, child.kill)
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = code = os.waitstatus_to_exitcode(status)
        with open(err_name, "rb") as err:
            text = err.read()
        peak = usage.ru_maxrss // 1024
        wrong = (code not in range(8) or peak > MEMORY or
                 re.search(rb"Sanitizer|runtime error:|assertion", text))
        with self.lock:
            self.codes[code] = self.codes.get(code, 0) + 1
            self.peak = max(self.peak, peak)
            if wrong:
                self.bad += 1
                print(f"bad: {label}: {' '.join(words)}: exit {code}, {peak} MB:",
                      text.decode(errors="replace")[:2000], flush=True)
        return bool(wrong)


def main():
    jtool, library, real, sessions, files, seed, directory = sys.argv[1:]
    runs = Runs(jtool, directory)
    proxies = [start_proxy(library, int(real), f"{seed} {i}") for i in range(WORKERS)]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def sessions_of(index):
        rng = random.Random(f"{seed} commands {index}")
        out = f"{directory}/{index}"
        os.mkdir(out)
        os.link(f"{directory}/Idle.class", f"{out}/Idle.class")
        for i in range(int(sessions) // WORKERS):
            words = rng.choice(COMMANDS).format(pid=proxies[index], dir=out).split()
            words += ["--timeout", "1"]
            runs.run(words, f"session {index}.{i}")

    def files_of(index):
        rng = random.Random(f"{seed} files {index}")
        for i in range(int(files) // WORKERS):
            source, command = rng.choice(FILES)
            name = f"{directory}/changed{index}.{source}"
            with open(f"{directory}/{source}", "rb") as f:
                changed = change(rng, f.read())
            with open(name, "wb") as f:
                f.write(changed)
            if runs.run(command.format(file=name, jvm=real).split(), f"file {index}.{i}"):
                os.rename(name, f"/tmp/jtool-mutant.{os.getpid()}.{index}.{i}")

    for work in (sessions_of, files_of):
        threads = [threading.Thread(target=work, args=(i,)) for i in range(WORKERS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for pid in proxies:
        os.kill(pid, signal.SIGKILL)
        os.unlink(f"/tmp/.java_pid{pid}")
    codes = " ".join(f"{code}:{n}" for code, n in sorted(runs.codes.items()))
    print(f"runs {sum(runs.codes.values())} bad {runs.bad} peak {runs.peak} MB codes {codes}")


main()
