"""Compares a heap dump from a snapshot with the JVM's own dump of all objects, by address.

    same_dump.py SNAPSHOT OWN [NAME=TEXT...]

Both are of the same JVM, which is idle, so no object has moved in between.  Prints one JSON object:
for instances, object arrays, primitive arrays, classes, statics and roots, how many are the same,
different, and in the snapshot only; and the classes that only the JVM's own dump has.  A NAME=TEXT
is a field of any object that is a String, and its text in the snapshot.
"""
import collections
import json
import struct
import sys

SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ROOTS = {0xFF: ('unknown', 0), 0x01: ('global', 8), 0x02: ('jni local', 8), 0x03: ('local', 8),
         0x04: ('native', 4), 0x05: ('class', 0), 0x06: ('block', 4), 0x07: ('monitor', 0),
         0x08: ('thread', 8)}
FORMATS = {2: 'Q', 4: 'B', 5: 'H', 6: 'I', 7: 'Q', 8: 'B', 9: 'H', 10: 'I', 11: 'Q'}


class Dump:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        self.names, self.loaded, self.classes = {}, {}, {}
        self.instances, self.objects, self.primitives = {}, {}, {}
        self.roots = collections.defaultdict(set)
        self.frames, self.traces, self.serials = {}, {}, {}
        self.threads = {}  # address of a Thread: serial number of its trace
        self.locals = collections.Counter()
        assert self.data[:19] == b'JAVA PROFILE 1.0.2\0', path
        at = 31
        while at < len(self.data):
            tag, _, length = struct.unpack_from('>BII', self.data, at)
            at += 9
            self.record(tag, at, at + length)
            at += length
        assert tag == 0x2C and at == len(self.data), f'{path}: it does not end with END'

    def record(self, tag, at, end):
        if tag == 0x01:
            ident = struct.unpack_from('>Q', self.data, at)[0]
            assert ident not in self.names
            self.names[ident] = self.data[at + 8:end].decode('utf8', 'replace')
        elif tag == 0x02:
            serial, ident, _, name = struct.unpack_from('>IQIQ', self.data, at)
            self.loaded[ident] = self.names[name]
            self.serials[serial] = ident
        elif tag == 0x04:
            ident, name, sign, source, serial, line = struct.unpack_from('>QQQQIi', self.data, at)
            self.frames[ident] = (self.loaded.get(self.serials.get(serial)),
                                  self.names.get(name), self.names.get(sign),
                                  self.names.get(source), line)
        elif tag == 0x05:
            serial, thread, n = struct.unpack_from('>III', self.data, at)
            ids = struct.unpack_from(f'>{n}Q', self.data, at + 12)
            self.traces[serial] = [self.frames[i] for i in ids]
        elif tag in (0x0C, 0x1C):
            while at < end:
                at = self.sub_record(self.data[at], at + 1)
            assert at == end, f'a sub-record ends {at - end} bytes behind its segment'

    def sub_record(self, tag, at):
        if tag in ROOTS:
            kind, more = ROOTS[tag]
            ident = struct.unpack_from('>Q', self.data, at)[0]
            self.roots[kind].add(ident)
            if tag == 0x08:
                self.threads[ident] = struct.unpack_from('>II', self.data, at + 8)[1]
            elif tag == 0x03:
                thread, frame = struct.unpack_from('>Ii', self.data, at + 8)
                self.locals[frame >= 0] += 1
            return at + 8 + more
        if tag == 0x20:
            return self.class_dump(at)
        if tag == 0x21:
            ident, _, of, n = struct.unpack_from('>QIQI', self.data, at)
            assert ident not in self.instances, 'an instance is dumped twice'
            self.instances[ident] = (of, self.data[at + 24:at + 24 + n])
            return at + 24 + n
        if tag == 0x22:
            ident, _, n, of = struct.unpack_from('>QIIQ', self.data, at)
            assert ident not in self.objects, 'an array is dumped twice'
            self.objects[ident] = (of, self.data[at + 24:at + 24 + 8 * n])
            return at + 24 + 8 * n
        assert tag == 0x23, f'a sub-record of type {tag:#x} at {at}'
        ident, _, n, of = struct.unpack_from('>QIIB', self.data, at)
        size = n * SIZES[of]
        assert ident not in self.primitives, 'an array is dumped twice'
        self.primitives[ident] = (of, self.data[at + 17:at + 17 + size])
        return at + 17 + size

    def class_dump(self, at):
        data = self.data
        ident, _, sup, loader, signers, domain = struct.unpack_from('>QIQQQQ', data, at)
        size, n = struct.unpack_from('>IH', data, at + 60)
        at += 66
        constants = []
        for _ in range(n):
            index, of = struct.unpack_from('>HB', data, at)
            constants.append(struct.unpack_from('>' + FORMATS[of], data, at + 3)[0])
            at += 3 + SIZES[of]
        statics, fields = {}, []
        n = struct.unpack_from('>H', data, at)[0]
        at += 2
        for _ in range(n):
            name, of = struct.unpack_from('>QB', data, at)
            statics[self.names[name], of] = struct.unpack_from('>' + FORMATS[of], data, at + 9)[0]
            at += 9 + SIZES[of]
        n = struct.unpack_from('>H', data, at)[0]
        at += 2
        for _ in range(n):
            name, of = struct.unpack_from('>QB', data, at)
            fields.append((self.names[name], of))
            at += 9
        assert ident not in self.classes, 'a class is dumped twice'
        self.classes[ident] = {'super': sup, 'loader': loader, 'signers': signers,
                               'domain': domain, 'size': size, 'constants': constants,
                               'statics': statics, 'fields': fields}
        return at

    def name(self, ident):
        return self.loaded.get(ident, hex(ident))

    def values(self, ident):
        """The fields of an instance with the class that declares them."""
        of, data = self.instances[ident]
        values, at = {}, 0
        while of:
            for i, (name, kind) in enumerate(self.classes[of]['fields']):
                values[self.name(of), name, kind] = struct.unpack_from(
                    '>' + FORMATS[kind], data, at)[0]
                at += SIZES[kind]
            of = self.classes[of]['super']
        assert at == len(data), f'{len(data) - at} bytes follow the fields'
        return values

    def text(self, ident):
        if ident not in self.instances:
            return None
        values = {key[1]: value for key, value in self.values(ident).items()
                  if key[0] == 'java/lang/String'}
        of, data = self.primitives[values['value']]
        if of == 5:
            return data.decode('utf-16-be')
        # Elements of a byte[] are in the machine's order.
        return data.decode('utf-16-le' if values.get('coder') else 'latin-1')


class Tally:
    def __init__(self):
        self.same, self.different, self.extra = 0, collections.Counter(), collections.Counter()

    def add(self, what, ours, own):
        if own is None:
            self.extra[what] += 1
        elif ours == own:
            self.same += 1
        else:
            self.different[what] += 1

    def result(self):
        return {'same': self.same, 'different': dict(self.different.most_common(20)),
                'extra': dict(self.extra.most_common(20))}


def instances(ours, own):
    tally = Tally()
    for ident, (of, _) in ours.instances.items():
        name = ours.name(of)
        if ident not in own.instances:
            tally.add(name, None, None)
            continue
        a, b = ours.values(ident), own.values(ident)
        if own.name(own.instances[ident][0]) != name:
            tally.different[f'{name}: it is {own.name(own.instances[ident][0])}'] += 1
        elif a == b:
            tally.same += 1
        else:
            for key in set(a) | set(b):
                if a.get(key) != b.get(key):
                    tally.different[f'{key[0]}.{key[1]}'] += 1
    return tally.result()


def arrays(ours, own, ours_by_address, own_by_address, name):
    tally = Tally()
    for ident, (of, data) in ours_by_address.items():
        b = own_by_address.get(ident)
        tally.add(name(ours, of), (name(ours, of), data), b and (name(own, b[0]), b[1]))
    return tally.result()


def classes(ours, own):
    tally, statics = Tally(), Tally()
    for ident, a in ours.classes.items():
        b = own.classes.get(ident)
        keys = ('super', 'loader', 'signers', 'domain', 'fields')
        tally.add(ours.name(ident), [ours.name(ident)] + [sorted(a[k]) if k == 'fields' else a[k]
                                                          for k in keys],
                  b and [own.name(ident)] + [sorted(b[k]) if k == 'fields' else b[k]
                                             for k in keys])
        for key, value in a['statics'].items():
            statics.add(f'{ours.name(ident)}.{key[0]}', value,
                        b['statics'].get(key) if b else None)
    result = tally.result()
    result['absent'] = sorted(own.name(i) for i in own.classes if i not in ours.classes)[:40]
    result['sizes'] = collections.Counter(
        ours.classes[i]['size'] == own.classes[i]['size']
        for i in ours.classes if i in own.classes)[False]
    result['constants'] = sum(len(c['constants']) for c in ours.classes.values())
    return result, statics.result()


def dangling(ours):
    """References to objects that are not in the dump, by the field that has them."""
    found = collections.Counter()
    known = (ours.instances, ours.objects, ours.primitives, ours.classes, ours.loaded)

    def look(what, ident):
        if ident and not any(ident in k for k in known):
            found[what] += 1
    for ident in ours.instances:
        for key, value in ours.values(ident).items():
            if key[2] == 2:
                look(f'{key[0]}.{key[1]}', value)
    for of, data in ours.objects.values():
        for value in struct.unpack(f'>{len(data) // 8}Q', data):
            look(ours.name(of), value)
    for ident, c in ours.classes.items():
        for (name, kind), value in c['statics'].items():
            if kind == 2:
                look(f'{ours.name(ident)}.{name}', value)
        for value in c['constants'] + [c['super'], c['loader'], c['signers'], c['domain']]:
            look(f'class {ours.name(ident)}', value)
    for kind, idents in ours.roots.items():
        for ident in idents:
            look(f'root: {kind}', ident)
    return dict(found)


def roots(ours, own):
    return {kind: {'same': len(ours.roots[kind] & own.roots[kind]),
                   'extra': len(ours.roots[kind] - own.roots[kind]),
                   'absent': len(own.roots[kind] - ours.roots[kind])}
            for kind in sorted(set(ours.roots) | set(own.roots))}


def stacks(ours, own):
    tally = Tally()
    for thread, serial in own.threads.items():
        trace = ours.traces.get(ours.threads.get(thread))
        name = 'of a thread with frames' if own.traces[serial] else 'empty'
        tally.add(name, trace, own.traces[serial])
    return tally.result()


def texts(ours, wanted):
    found = {}
    for field in wanted:
        for ident, c in ours.classes.items():
            for (name, kind), value in c['statics'].items():
                if name == field and kind == 2:
                    found[field] = ours.text(value)
    return found


def main():
    ours, own = Dump(sys.argv[1]), Dump(sys.argv[2])
    of_classes, of_statics = classes(ours, own)
    json.dump({
        'instances': instances(ours, own),
        'object arrays': arrays(ours, own, ours.objects, own.objects, Dump.name),
        'primitive arrays': arrays(ours, own, ours.primitives, own.primitives,
                                   lambda dump, of: of),
        'classes': of_classes, 'statics': of_statics, 'dangling': dangling(ours),
        'roots': roots(ours, own), 'stacks': stacks(ours, own),
        'locals with a frame': ours.locals[True], 'without': ours.locals[False],
        'texts': texts(ours, sys.argv[3:]),
    }, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == '__main__':
    main()
