"""Kills jtool during a heap walk, and measures how long the walk goes on after that.

killed.py PID IN OUT COMMAND...: PID is the victim, IN its standard input, OUT its output.  Waits
until the VM thread has used 15 ms of CPU time since the start of COMMAND, which is then in its
walk.  Prints the ms of CPU time that the VM thread uses from the kill until the victim answers:
that is the time that a pause takes on a machine that is not busy.
"""

import glob
import os
import signal
import subprocess
import sys
import time

WALKING_NS = 15_000_000
LIMIT_S = 60


def vm_thread(pid):
    for name in glob.glob(f"/proc/{pid}/task/*/comm"):
        if open(name).read() == "VM Thread\n":
            return os.path.dirname(name) + "/schedstat"
    sys.exit("no VM Thread")


def cpu_ns(schedstat):
    return int(open(schedstat).read().split()[0])


def poll(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what}: not in {LIMIT_S} s")


def main():
    pid, in_path, out_path = sys.argv[1:4]
    schedstat = vm_thread(pid)
    begin = cpu_ns(schedstat)
    with open(in_path, "w") as to_victim, open(out_path) as answers:
        answers.seek(0, os.SEEK_END)
        with subprocess.Popen(sys.argv[4:], stdout=subprocess.DEVNULL) as jtool:
            poll(lambda: cpu_ns(schedstat) - begin >= WALKING_NS or jtool.poll() is not None,
                 "the walk begins")
            jtool.kill()
            killed = cpu_ns(schedstat)
            word = f"echo-{killed}"
            to_victim.write(word + "\n")
            to_victim.flush()
            poll(lambda: word in answers.readline(), "the victim answers")
            ended = cpu_ns(schedstat)
        if jtool.returncode != -signal.SIGKILL:
            sys.exit(f"the command ended before the kill: {jtool.returncode}")
    print(round((ended - killed) / 1e6))


main()
