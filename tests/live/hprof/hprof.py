"""Reads a complete heap dump (HPROF, plain or gzip).

    hprof.py FILE [CLASS...]

Every record must end where its length says, every sub-record of the heap inside its segment, and
the last record at the end of the file; every instance must be as long as the fields of its class
and its superclasses.
Prints one JSON object: counts of records, roots, classes, instances, arrays, and instances of
each CLASS (in source form).  Exit code 1 and the reason if the dump is malformed.
"""
import collections
import gzip
import json
import struct
import sys

UTF8, LOAD_CLASS, END = 0x01, 0x02, 0x2C
HEAP_DUMP, SEGMENT = 0x0C, 0x1C
CLASS_DUMP, INSTANCE, OBJECT_ARRAY, PRIMITIVE_ARRAY = 0x20, 0x21, 0x22, 0x23
# The bytes after the id of each root; 'I' is one more id.
ROOTS = {0xFF: 0, 0x01: 'I', 0x02: 8, 0x03: 8, 0x04: 4, 0x05: 0, 0x06: 4, 0x07: 0, 0x08: 8}
SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}  # 2, an object, has the size of an id


class Malformed(Exception):
    pass


class Dump:
    def __init__(self, stream):
        self.stream = stream
        self.at = 0
        self.names, self.class_names, self.instances = {}, {}, collections.Counter()
        self.counts = collections.Counter()
        self.supers, self.own_bytes = {}, {}

    def read(self, n):
        data = self.stream.read(n)
        if len(data) != n:
            raise Malformed(f'ends at byte {self.at + len(data)}, in the middle of {n} bytes')
        self.at += n
        return data

    def header(self):
        if self.read(19) != b'JAVA PROFILE 1.0.2\0':
            raise Malformed('no HPROF 1.0.2')
        self.id_size = struct.unpack('>I', self.read(4))[0]
        if self.id_size not in (4, 8):
            raise Malformed(f'identifiers of {self.id_size} bytes')
        self.read(8)
        self.id_format = 'I' if self.id_size == 4 else 'Q'
        heads = {INSTANCE: 'iIiI', OBJECT_ARRAY: 'iIIi', PRIMITIVE_ARRAY: 'iIIB'}
        self.head = {tag: struct.Struct('>' + head.replace('i', self.id_format))
                     for tag, head in heads.items()}

    def records(self):
        ended = False
        while head := self.stream.read(9):
            if ended:
                raise Malformed('more behind the end')
            if len(head) < 9:
                raise Malformed('ends within the head of a record')
            self.at += 9
            tag, _, length = struct.unpack('>BII', head)
            self.counts['records'] += 1
            self.record(tag, memoryview(self.read(length)))
            ended = tag == END
        if not ended:
            raise Malformed('no HEAP DUMP END')

    def record(self, tag, body):
        if tag == UTF8:
            self.names[self.id_at(body, 0)] = bytes(body[self.id_size:])
        elif tag == LOAD_CLASS:
            _, class_id, _, name = struct.unpack(f'>I{self.id_format}I{self.id_format}', body)
            self.class_names[class_id] = self.names[name]
        elif tag in (HEAP_DUMP, SEGMENT):
            self.counts['segments'] += 1
            try:
                self.segment(body)
            except (struct.error, IndexError) as e:
                raise Malformed(f'a sub-record leaves its segment before byte {self.at}') from e
        elif tag == END and len(body):
            raise Malformed('an end with content')
        elif tag not in (0x03, 0x04, 0x05, 0x06, 0x07, 0x0D, 0x0E, END):
            raise Malformed(f'a record of type {tag:#x} before byte {self.at}')

    def id_at(self, body, at):
        return struct.unpack_from(f'>{self.id_format}', body, at)[0]

    def segment(self, body):
        at, size = 0, len(body)
        while at < size:
            tag = body[at]
            at += 1
            if tag == INSTANCE:
                _, _, class_id, n = self.head[tag].unpack_from(body, at)
                self.instances[class_id, n] += 1
                at += self.head[tag].size + n
            elif tag == OBJECT_ARRAY:
                _, _, n, class_id = self.head[tag].unpack_from(body, at)
                self.counts['object_arrays'] += 1
                at += self.head[tag].size + n * self.id_size
            elif tag == PRIMITIVE_ARRAY:
                _, _, n, kind = self.head[tag].unpack_from(body, at)
                self.counts['primitive_arrays'] += 1
                at += self.head[tag].size + n * SIZES[kind]
            elif tag == CLASS_DUMP:
                at = self.class_dump(body, at)
            elif tag in ROOTS:
                self.counts['roots'] += 1
                more = ROOTS[tag]
                at += self.id_size + (self.id_size if more == 'I' else more)
            else:
                raise Malformed(f'a sub-record of type {tag:#x} before byte {self.at}')
        if at != size:
            raise Malformed(f'a sub-record leaves its segment before byte {self.at}')

    def size_of(self, kind):
        return self.id_size if kind == 2 else SIZES[kind]

    def class_dump(self, body, at):
        class_id = self.id_at(body, at)
        self.supers[class_id] = self.id_at(body, at + self.id_size + 4)
        self.counts['classes'] += 1
        at += 7 * self.id_size + 4
        _, n_constants = struct.unpack_from('>IH', body, at)
        at += 6
        for _ in range(n_constants):
            at += 3 + self.size_of(body[at + 2])
        n_statics = struct.unpack_from('>H', body, at)[0]
        at += 2
        for _ in range(n_statics):
            at += self.id_size + 1 + self.size_of(body[at + self.id_size])
        n_fields = struct.unpack_from('>H', body, at)[0]
        at += 2
        self.own_bytes[class_id] = 0
        for _ in range(n_fields):
            self.own_bytes[class_id] += self.size_of(body[at + self.id_size])
            at += self.id_size + 1
        return at

    def instances_of(self, name):
        wanted = name.replace('.', '/').encode()
        return sum(n for (class_id, _), n in self.instances.items()
                   if self.class_names[class_id] == wanted)

    def check_instances(self):
        for class_id, n in self.instances:
            wanted, of = 0, class_id
            while of:
                wanted += self.own_bytes[of]
                of = self.supers[of]
            if n != wanted:
                raise Malformed(f'{n} bytes, not {wanted}, in a {self.class_names[class_id]}')


def main():
    with open(sys.argv[1], 'rb') as f:
        packed = f.peek(2)[:2] == b'\x1f\x8b'
        dump = Dump(gzip.open(f) if packed else f)
        dump.header()
        dump.records()
    dump.check_instances()
    dump.counts['instances'] = sum(dump.instances.values())
    print(json.dumps({**dump.counts, 'bytes': dump.at, 'gzip': packed,
                      'of': {name: dump.instances_of(name) for name in sys.argv[2:]}}))


try:
    main()
except (Malformed, KeyError, EOFError, OSError) as e:
    sys.exit(f'{sys.argv[1]}: {e!r}')
