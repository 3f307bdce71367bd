"""A file system that never answers.

hangfs.py DIR

Mounts a FUSE at DIR and answers only the kernel's first request, so that every process that looks
into DIR is blocked until this one ends.
"""
import ctypes
import os
import struct
import sys

FUSE_INIT = 26
HEADER = "<IIQQIIIHH"


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hangfs", sys.argv[1].encode(), b"fuse.hangfs", 0, options.encode()) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    while True:
        request = os.read(fd, 1 << 20)
        _, opcode, unique = struct.unpack_from("<IIQ", request)
        if opcode == FUSE_INIT:
            major, minor = struct.unpack_from("<II", request, struct.calcsize(HEADER))
            reply = struct.pack("<IIIIHHIIHHI7I", major, min(minor, 31), 4096, 0, 12, 9, 4096, 1,
                                1, 0, 0, *[0] * 7)
            os.write(fd, struct.pack("<IiQ", 16 + len(reply), 0, unique) + reply)
            print("READY", flush=True)


main()
