"""Counts the different secrets of Secrets.java in a file, which has 1,000 in each form.

    secrets.py FILE

Prints a line: Latin-1, UTF-16 big-endian, UTF-16 little-endian, numbers, hash codes.
"""
import mmap
import re
import sys


def hash_code(text):
    value = 0
    for c in text:
        value = (value * 31 + ord(c)) & 0xffffffff
    return value


def main():
    with open(sys.argv[1], 'rb') as f:
        data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        big = b'\0k\0' + b'3\0y\0-' + b'\0(.)' * 4
        little = b'k\x003\0y\0-\0' + b'(.)\0' * 4
        hashes = [hash_code('k3y-%04d-text' % i).to_bytes(4, 'big') for i in range(100)]
        print(len(set(re.findall(rb'k3y-(\d{4})', data))),
              len(set(re.findall(big, data, re.S))),
              len(set(re.findall(little, data, re.S))),
              len(set(re.findall(rb'\x5e\xc4\xe7\0\0\0(..)', data, re.S))),
              sum(data.find(h) >= 0 for h in hashes))


main()
