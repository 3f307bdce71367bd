"""Runs the examples of a Markdown page and compares what they print with the page.

    examples.py PAGE RESULTS [--update]

An example is a line "$ COMMAND" in a block that begins with ```console, with the output after it;
lines that begin with "> " continue the command.  The commands of a page run one after the other in
the current directory.  Numbers, units, times and hashes may differ, and the widths of columns; a
line "..." stands for any number of lines.

Writes one line per example to RESULTS: "ok COMMAND", or "not ok COMMAND" and then the differing
lines, each after "# ".  With --update, rewrites the outputs in PAGE that differ.
"""
import re
import subprocess
import sys
import time


def blocks(lines):
    """Yields (start, end) of each console block: the lines between its fences."""
    start = None
    for i, line in enumerate(lines):
        if start is None and line.startswith('```console'):
            start = i + 1
        elif start is not None and line.startswith('```'):
            yield start, i
            start = None


def examples(lines):
    """Splits a block's lines into (command lines, output lines)."""
    found = []
    for line in lines:
        if line.startswith('$ '):
            found.append(([line], []))
        elif found and not found[-1][1] and line.startswith('> '):
            found[-1][0].append(line)
        elif found:
            found[-1][1].append(line)
    return found


def masked(line):
    line = re.sub(r'@[0-9a-f]{4,16}\b', '@HASH', line)
    line = re.sub(r'\b[0-9a-f]{64}\b', 'SHA', line)
    line = re.sub(r'\b0x[0-9a-f]+\b', '0xADDRESS', line)
    # How many entries of a hash table share a bucket depends on addresses.
    line = re.sub(r' +\(\d+( to \d+)? in a row\)', '', line)
    line = re.sub(r'[+-]?[0-9][0-9.,:TZ+-]*', '#', line)
    line = re.sub(r'# ?([KMG]i?B?|B|ns|us|ms|[smhd])(?![A-Za-z])', '#', line)
    line = re.sub(r'# ?(# ?)+', '# ', line)
    # "1 class" and "2 classes" differ in the number only.
    line = re.sub(r'(# (?:more )?[a-z]+ss)es\b|(# (?:more )?[a-z]+(?<!s))s\b', r'\1\2', line)
    return ' '.join(line.split())


def matches(wanted, got):
    """Returns whether the lines `got` match `wanted`, in which "..." is any number of lines."""
    if not wanted:
        return not got
    if wanted[0].strip() == '...':
        return any(matches(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and masked(wanted[0]) == masked(got[0]) and matches(wanted[1:], got[1:])


def run(command):
    script = '\n'.join(line[2:] for line in command)
    done = subprocess.run(['bash', '-c', script], stdin=subprocess.DEVNULL, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors='replace').split('\n')


def run_until(command, wanted):
    """Runs the command; refpaths again if its output differs, for 10 s at most: a thread of the
    server ends its request, and drops the class loader, only after the client has the answer."""
    end = time.monotonic() + 10
    got = trimmed(run(command))
    while (command[0].startswith('$ jtool refpaths ') and not matches(wanted, got)
           and time.monotonic() < end):
        time.sleep(0.2)
        got = trimmed(run(command))
    return got


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def updated(wanted, got):
    """Returns `got`, cut where the page has "..." as its last line of an example."""
    if '...' in [line.strip() for line in wanted]:
        cut = [line.strip() for line in wanted].index('...')
        if cut < len(got):
            return got[:cut] + [wanted[cut]]
    return got


def main():
    page, results = sys.argv[1:3]
    with open(page, encoding='utf-8') as file:
        lines = file.read().split('\n')
    out, done = [], 0
    with open(results, 'w', encoding='utf-8') as report:
        for start, end in blocks(lines):
            out += lines[done:start]
            for command, wanted in examples(lines[start:end]):
                blank = bool(wanted) and not wanted[-1]
                wanted = trimmed(wanted)
                got = run_until(command, wanted)
                same = matches(wanted, got)
                out += command + (wanted if same else updated(wanted, got))
                out += [''] if blank else []
                if same:
                    report.write(f'ok {command[0][2:]}\n')
                else:
                    report.write(f'not ok {command[0][2:]}\n')
                    report.writelines(f'# page:    {line}\n' for line in wanted)
                    report.writelines(f'# program: {line}\n' for line in got)
            done = end
    if '--update' in sys.argv[3:]:
        with open(page, 'w', encoding='utf-8') as file:
            file.write('\n'.join(out + lines[done:]))


main()
