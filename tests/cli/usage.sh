#!/usr/bin/env bash
# The command line without a JVM: help, usage errors, and output that cannot be written.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# refuses CODE PATTERN ARGUMENT...: one line on stderr that matches, nothing on stdout.
refuses() {
	local code=$1 pattern=$2
	shift 2
	run "$@"
	equal "$code" "$status" "exit status of: jtool $*"
	[[ " $* " == *' --json '* ]] || equal '' "$out" "stdout of: jtool $*"
	equal 1 "$(wc -l <<<"$err")" "lines on stderr of: jtool $*"
	matches "^jtool: $pattern" "$err" "stderr of: jtool $*"
}

# prints PATTERN ARGUMENT...: exit code 0, and text on stdout only.
prints() {
	local pattern=$1
	shift
	run "$@"
	equal 0 "$status" "exit status of: jtool $*"
	equal '' "$err" "stderr of: jtool $*"
	matches "$pattern" "$out" "stdout of: jtool $*"
}

# help
prints '^Usage: jtool COMMAND' --help
prints '^Usage: jtool COMMAND' -h
prints '--completion SHELL' --help
prints '^Usage: jtool COMMAND' help
prints '^jtool [0-9]+\.[0-9]+' --version
prints '^jtool [0-9]+\.[0-9]+' -V
mapfile -t commands < <("$jtool" --help |
	sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
equal 'Find:,Threads and time:,Memory:,Classes:,The JVM itself:,Options:' \
	"$("$jtool" --help | grep -x '[A-Z].*:' | paste -s -d,)" 'groups of --help'
equal 33 "${#commands[@]}" 'number of commands that --help lists'
matches 'list .*heaphisto .*jcmd' "${commands[*]}" 'commands that --help lists'
for command in "${commands[@]}"; do
	prints "^Usage: jtool $command " "$command" --help
	prints "^Usage: jtool $command " "$command" -h
	matches $'\n\nExamples:\n  jtool '"$command" "$out" "$command --help: examples"
	prints $'^NAME\n     jtool-'"$command - " help "$command"
	matches $'\n\nEXAMPLES\n' "$out" "help $command: it has examples"
done
prints $'\n\nWhich calls:\n      --min TIME .*\n\nHow long:\n  -d, ' trace --help
prints $'\nOptions of every command: --json, --timeout TIME, --verbose, -h, --help.\n' list --help
prints $'\nOptions of every command: .*, -v, --verbose, -h, --help.\n' info --help
# Each example is a valid command line, which fails only because no process has the pid.
for command in "${commands[@]}"; do
	while read -r words; do
		case $words in
		list* | agent* | copy* | exporter* | top | *all* | *" app.hprof"* | "profile app.jfr"* | "jfr view"*) continue ;;
		esac
		words=${words/4711/4194305}
		(cd "$work" && eval "exec \"$(realpath "$jtool")\" ${words%%|*}") >"$work/out" 2>&1
		equal 3 $? "exit status of the example: $words"
	done < <("$jtool" "$command" --help |
		sed -n '/^Examples:/,/^$/s/^  jtool \(.*[^ ]\)   *[^ ].*/\1/p' | sed 's/   .*//')
done
prints '^Usage: jtool jcmd ' jcmd 1 --help
prints '^Usage: jtool load ' load --help 1 no-such-agent.so

# commands
run
equal 2 "$status" 'exit status without a command'
matches 'Usage: jtool COMMAND' "$err" 'usage without a command'
matches $'\njtool: missing COMMAND: give one of those listed above$' "$err" 'error without a command'
for abbreviated in l heaph hist jst threa; do
	refuses 2 "unknown command '$abbreviated': " $abbreviated
done
refuses 2 "unknown command 'lits': did you mean 'list'\?$" lits
refuses 2 "unknown command 'jstck': did you mean 'threads'\?$" jstck
refuses 2 "unknown command 'heaphsito': did you mean 'heaphisto'\?$" heaphsito
refuses 2 "unknown command 'frobnicate': jtool --help lists them$" frobnicate
refuses 2 "unknown command ''" ''
refuses 2 "unknown command 'frobnicate'" help frobnicate
while read -r name command; do
	refuses 2 "unknown command '$name': did you mean '$command'\?$" "$name"
done <<'EOF'
dashboard top
jad class -b
jhat retained FILE.hprof
leak retained --suspects
flamegraph alloc --flamegraph
deadlock threads --deadlocks
env capture
oom memory' or 'retained --suspects
nmt memory
rollback restore
locks threads --blocked
version info
properties props
jmap heaphisto' or 'heapdump
EOF
while read -r alias command; do
	prints "^Usage: jtool $command " "$alias" --help
done <<'EOF'
jps list
ps list
jstat stat
jstack threads
threaddump threads
histogram heaphisto
gcroots refpaths
heaptracker alloc
sc classes
sm class
classdump dump
retransform redefine
jinfo flags
sysprops props
reset detach
EOF
prints '^ *PID' jcmd
prints '^ *PID' jcmd -l
refuses 3 'heaphisto: no such process: 4194305' jmap -histo:live 4194305
refuses 3 'heapdump: no such process: 4194305' jmap "-dump:live,format=b,file=$work/dump" 4194305
refuses 3 'flags: no such process: 4194305' jinfo -flags 4194305
refuses 3 'flags: no such process: 4194305' jinfo -flag MaxHeapSize 4194305
refuses 3 'props: no such process: 4194305' jinfo -sysprops 4194305
refuses 3 'stat: no such process: 4194305' jstat -gccause 4194305 1000 5
refuses 3 'threads: no such process: 4194305' jstack -l 4194305
prints '^Usage: jtool heaphisto ' histo --help
prints '^Usage: jtool list ' jps --help
prints 'Also known as: jps' list --help
refuses 2 "unknown command ''" 99999999 ''
refuses 2 "unknown command 'Shop': did you mean 'jtool threads Shop'\?$" Shop threads
refuses 2 "unknown command 'Shop': did you mean 'jtool jstack Shop'\?$" Shop jstack -l
refuses 2 "unknown command 'frobnicate'" 99999999 frobnicate
refuses 3 'jcmd: no such process: 99999999; jtool list' 99999999 jcmd VM.version
for words in 'heapdump all x.hprof' 'load all x' 'op all properties' 'jfr all check'; do
	# shellcheck disable=SC2086 # words
	refuses 2 "[a-z]*: 'all' is not accepted here: give a pid" $words
done
refuses 3 'op: no such process: 99999999; jtool list' 99999999 threaddump
refuses 3 'load: no such process: 99999999; jtool list' 99999999 load /no/such.so true x=y
refuses 2 "option '--frobnicate' before the command: expected jtool COMMAND" --frobnicate
refuses 2 '--completion: ' --completion csh
refuses 2 '--completion: ' --completion
refuses 2 "top: 'app.tar.gz' is a file, and jtool top looks into a running JVM" top app.tar.gz
refuses 2 "heaphisto: cannot read 'a.jfr': expected jtool heaphisto .*FILE.hprof" heaphisto a.jfr

# a damaged archive of jtool capture
# dump_member NUMBER: a thread dump as a file of a tar archive, and gzip member, of its own.
dump_member() {
	printf '%s\n' '2026-01-01 00:00:00' 'Full thread dump OpenJDK 64-Bit Server VM:' '' \
		"\"dump-$1\" #1 prio=5 tid=0x1 nid=0x1 runnable" '' 'JNI global refs: 1' \
		>"$work/threads-$1.txt"
	tar -C "$work" -cf "$work/member.tar" "threads-$1.txt"
	head -c 1024 "$work/member.tar" | gzip -n
}
dump_member 1 >"$work/dumps.tar.gz"
second=$(stat -c %s "$work/dumps.tar.gz")
dump_member 2 >>"$work/dumps.tar.gz"
dump_member 3 >>"$work/dumps.tar.gz"
prints 'dump-3' threads "$work/dumps.tar.gz"
printf '\036' | dd of="$work/dumps.tar.gz" bs=1 seek="$second" conv=notrunc status=none
refuses 2 "threads: '.*/dumps.tar.gz' is cut off or damaged" threads "$work/dumps.tar.gz"
refuses 2 "threads: '.*/dumps.tar.gz' is cut off or damaged" threads --samples 2 "$work/dumps.tar.gz"
refuses 2 "threads: '.*/dumps.tar.gz' is cut off or damaged" threads --raw "$work/dumps.tar.gz"
head -c "$((second + 100))" "$work/dumps.tar.gz" >"$work/cut.tar.gz"
refuses 2 "threads: '.*/cut.tar.gz' is cut off or damaged" threads "$work/cut.tar.gz"

# options
refuses 2 "list: unknown option '--frobnicate'" list --frobnicate
refuses 2 "heaphisto: unknown option '--limt': did you mean --limit\?$" heaphisto --limt 3
refuses 2 "list: unknown option '-z'" list -z
refuses 2 "list: unknown option '-z'" list -qz
refuses 2 'list: --json takes no value' list --json=1
refuses 2 'list: --timeout needs a value: TIME' list --timeout
refuses 2 "list: --timeout: invalid time 'soon': expected a time such as" list --timeout soon
refuses 2 "list: unknown column 'frobnicate': choose from pid, nspid, " list -o frobnicate
refuses 2 "list: unknown column ''" list -o ''
refuses 2 "heaphisto: --sort: unknown value 'size': choose from bytes, count, name" heaphisto 1 --sort size
refuses 2 "heaphisto: --by: unknown value 'x': choose from class, package, loader" heaphisto --by=x 1
refuses 2 "heaphisto: -n: invalid number '-1': expected a whole number" heaphisto 1 -n -1
refuses 2 'heaphisto: --vm cannot be combined with --strict' heaphisto all --vm --strict
refuses 2 'heaphisto: --vm cannot be combined with --engine hprof: --vm is --engine vm$' \
	heaphisto 1 --vm --engine hprof
refuses 2 'heaphisto: --strict cannot be combined with --engine vm: --strict is --engine jvmti$' \
	heaphisto 1 --strict --engine vm
refuses 2 'heaphisto: --engine vm cannot be combined with --by loader' heaphisto 1 --engine vm --by loader
refuses 2 'heaphisto: --engine vm cannot be combined with --max-pause' heaphisto 1 --engine vm --max-pause 1
refuses 3 'heaphisto: no such process' heaphisto 99999999 --strict --engine agent
refuses 3 'heaphisto: no such process' heaphisto 99999999 --vm --engine vm
for command in retained refpaths; do
	class=()
	[ $command = retained ] || class=(a.B)
	for engine in vm jvmti; do
		refuses 2 "$command: --engine $engine is not possible here: it finds no references; choose \
from auto, snapshot, agent, hprof$" $command 99999999 "${class[@]}" --engine $engine
	done
done
refuses 2 'heapdump: --engine agent is not possible here: it writes no heap dump; choose from auto, snapshot, vm, hprof$' \
	heapdump 99999999 --engine agent
refuses 2 'heapdump: --engine jvmti is not possible here: it .*; choose from' \
	heapdump 99999999 --engine jvmti
refuses 2 'heapdump: --engine snapshot cannot be combined with --all' \
	heapdump 99999999 --engine snapshot --all
for command in heaphisto retained refpaths heapdump; do
	class=(a.B)
	[[ $command == heapdump || $command == refpaths ]] || class=()
	refuses 2 "$command: --engine: unknown value 'any': choose from auto, snapshot, agent, jvmti, vm, \
hprof$" $command 99999999 "${class[@]}" --engine any
done
refuses 2 'heaphisto: --engine agent needs a JVM, not a dump file: omit it$' \
	heaphisto app.hprof --engine agent
refuses 2 'retained: --depth needs --tree' retained 1 --depth 3
refuses 2 'retained: --min needs --tree' retained 1 --min 64k
refuses 2 "retained: --min: invalid size '1%': expected a size such as" retained 1 --tree --min 1%
refuses 3 'retained: no such process' retained 99999999 --tree --min 4g --max-memory 2g
refuses 2 'retained: --strings needs --tree or --suspects' retained 1 --strings
refuses 2 'trace: too few arguments' trace 1
refuses 2 "trace: invalid method pattern 'Shop', it names no class" trace 1 Shop
refuses 2 "trace: invalid method pattern 'Shop.', it names no method" trace 1 Shop.
refuses 2 'trace: --summary cannot be combined with stacks' trace 1 a.B.c --summary --stack
refuses 2 'trace: --summary cannot be combined with --args' trace 1 a.B.c --summary --args
refuses 2 'trace: --summary cannot be combined with stacks' trace 1 a.B.c --summary --flamegraph f
refuses 2 'trace: stacks cannot go to stdout, where the calls are shown: write the stacks to a file' \
	 trace 1 a.B.c --collapsed -
refuses 2 'trace: --args cannot be combined with --no-args' trace 1 a.B.c --args --no-args
refuses 2 "trace: --min: invalid time '5': expected a time with a unit" trace 1 a.B.c --min 5
refuses 2 'trace: invalid --budget: expected a percentage from 0 to 100, not 101' \
	trace 1 a.B.c --budget 101
refuses 2 'trace: invalid --max-methods: expected 1 to 20000' trace 1 a.B.c --max-methods 0
refuses 2 "trace: unknown option '-n'" trace 1 a.B.c -n 5
refuses 3 'trace: no such process' trace 99999999 a.B.c --duration 1s
refuses 2 "trace: 'all' is not accepted here: give a pid" trace all a.B.c
refuses 2 "alloc: --interval: invalid size '512kb': expected a size such as 4096, 512k" alloc 1 --interval 512kb
refuses 2 'alloc: invalid --interval: expected at most 2147483647' alloc 1 --interval 2g
refuses 2 'alloc: invalid --interval: expected at least 1 byte' alloc 1 --interval 0
refuses 2 'alloc: --exact cannot be combined with --interval: --exact counts all' alloc 1 --exact --interval 64k
refuses 2 'alloc: invalid --depth: expected 1 to 64 frames' alloc 1 --depth 65
refuses 2 'alloc: invalid --depth: expected 1 to 64 frames' alloc 1 --depth 0
refuses 2 'alloc: invalid --memory: expected 1M to 4096M' alloc 1 --memory 100k
refuses 2 'alloc: invalid --memory: expected 1M to 4096M' alloc 1 --memory 5g
refuses 2 "alloc: --sort: unknown value 'size': choose from bytes, count, live, live-count" alloc 1 --sort size
refuses 2 'alloc: -d cannot be combined with --recorded: the recording runs already' \
	alloc 1 --recorded -d 5
refuses 2 'alloc: --exact cannot be combined with --recorded' alloc 1 --recorded --exact
refuses 2 'alloc: only one of --collapsed and --flamegraph can go to stdout' \
	alloc 1 --collapsed - --flamegraph -
refuses 2 'profile: invalid --interval: expected at least 1ms' profile 1 --interval 10us
for time in 0 0.0004s; do # less than 1 ms is 0 ms
	refuses 2 'profile: invalid -d: expected at least 1ms' profile 1 -d $time
	refuses 2 'jfr: invalid -d: expected at least 1ms' jfr 1 record -d $time x.jfr
	refuses 2 'jfr: -d applies only to record' jfr 1 start -d $time
	refuses 2 'jfr: -d applies only to record' jfr view x.jfr -d $time
done
touch "$work/x.jfr"
refuses 2 'profile: invalid -d: expected at least 1ms' profile "$work/x.jfr" -d 0
refuses 2 'profile: --interval does not apply to -e alloc' profile 1 -e alloc --interval 10ms
refuses 2 "profile: -e: unknown value 'gpu': choose from cpu, wall, lock, alloc, io, exceptions" \
	profile 1 -e gpu
refuses 2 'profile: --diff needs --flamegraph' profile 1 --diff base
refuses 2 'profile: only one of --collapsed and --pprof can go to stdout' \
	profile 1 --collapsed - --pprof -
refuses 2 'alloc: only one of --json and --collapsed can go to stdout' alloc 1 --json --collapsed -
refuses 2 "alloc: invalid class '': expected a.b.C" alloc 1 ''
refuses 2 "alloc: invalid class '\[X'" alloc 1 --exact '[X'
refuses 2 "alloc: 'all' is not accepted here: give a pid" alloc all
refuses 2 'agent: --force requires --extract FILE' agent --force
refuses 2 'agent: --json cannot be combined with .-.: both write to stdout; name a file' agent --json --extract -
refuses 2 'retained: invalid --depth: expected at most 100 levels' retained 1 --tree --depth 101
refuses 2 'heaphisto: --vm cannot be combined with --by loader' heaphisto 1 --vm --by loader
refuses 2 'heaphisto: --save and --diff apply to one JVM' heaphisto all --save "$work/saved"

# Arguments of the commands.
refuses 2 'list: too many arguments: expected jtool list$' list surplus
for command in "${commands[@]}"; do
	[[ $("$jtool" "$command" --help) == *TARGET* ]] || continue
	[[ $("$jtool" "$command" --help) != *'[TARGET'* ]] || continue # it may be omitted
	[ "$command" = jcmd ] || refuses 2 "$command: missing TARGET" "$command"
	refuses 2 "$command: missing TARGET" "$command" --
done
refuses 2 'op: too few arguments' op 1
refuses 2 'load: too few arguments' load 1
refuses 2 'op: OPERATION is empty' op 1 ''
refuses 2 'load: AGENT is empty' load 1 ''
refuses 2 'heaphisto: too many arguments' heaphisto 1 surplus
refuses 2 "stat: invalid interval 'fast': expected a time" stat 1 fast
refuses 2 "stat: invalid interval '0': expected a time" stat 1 0
refuses 2 "stat: invalid count '0': expected the number" stat 1 1s 0
refuses 2 'stat: too many arguments' stat 1 1s 2 3
refuses 2 "stat: -t: unknown value 'heap': choose from gcutil, class, compiler, gc, gccapacity, " \
	stat 1 -t heap
refuses 2 'stat: --openmetrics cannot be combined with INTERVAL' stat all --openmetrics 1s
refuses 2 'stat: --openmetrics cannot be combined with --json' stat all --openmetrics --json
refuses 2 'counters: too many arguments' counters 1 a b
refuses 2 'counters: too many arguments' perf 1 a b
refuses 2 'retained: too many arguments' leaks 1 a
refuses 2 'retained: --min needs --tree' leaks 1 --min 1m
refuses 3 'retained: no such process' dominators 99999999 --min 1m
refuses 3 'retained: no such process' 99999999 leaks
prints '^Usage: jtool retained ' leaks --help
prints $'^NAME\n     jtool-retained - ' help dominators
prints $'^NAME\n     jtool-json - ' help json
prints $'^NAME\n     jtool - ' help jtool
prints '^Usage: jtool counters ' perf --help
refuses 2 'info: too many arguments' info 1 surplus

# Targets: no process, a process that is not a JVM, an unknown name.
sleep 600 &
sleeper=$!
trap 'kill $sleeper' EXIT
for target in 4194305 0 99999999999999999999; do
	refuses 3 'jcmd: ' jcmd $target VM.version
done
for command in 'jcmd VM.version' 'op properties' 'load /nonexistent.so' heaphisto info 'info --no-attach' threads props \
	agentprops stat counters flags 'flags +X' "heapdump $work/dump" 'jfr check'; do
	# shellcheck disable=SC2086 # the rest of the command line
	set -- $command
	refuses 3 "$1: .*$sleeper.* JVM" "$1" $sleeper "${@:2}"
done
kill -0 $sleeper || complain "a process that is not a JVM: it was killed"
run heaphisto 'no such JVM anywhere'
equal 3 "$status" 'exit status for an unknown name'
matches "jtool: heaphisto: no JVM matches 'no such JVM anywhere'" "$err" 'error for an unknown name'
run jcmd $'a\nb\e[2J' VM.version
equal 1 "$(grep -c 'jtool: jcmd' <<<"$err")" 'a hostile name stays on one line'
[[ $err != *$'\e'* ]] || complain "an escape sequence was not escaped"

# A pipe without a reader: both ends are opened, and the reading end is closed.
mkfifo "$work/pipe"
exec 3<>"$work/pipe"
exec 4>"$work/pipe" 3>&-

# results
prints '^ *PID' list -o pid
prints '^\{"schema":1,"jvms":\[' list --json
for arguments in --help 'list --json' 'list' '--completion bash' '--version'; do
	# shellcheck disable=SC2086 # a command line
	"$jtool" $arguments >/dev/full 2>"$work/err"
	equal 7 $? "exit status on a full disk: jtool $arguments"
	matches '^jtool: .*cannot write the result to stdout' "$(cat "$work/err")" "full disk: jtool $arguments"
	# shellcheck disable=SC2086
	"$jtool" $arguments >&4 2>"$work/err"
	equal 141 $? "exit status on a closed pipe: jtool $arguments"
	equal '' "$(cat "$work/err")" "closed pipe: jtool $arguments"
done
"$jtool" agent --extract - >&4 2>"$work/err"
equal 141 $? 'exit status on a closed pipe: agent --extract -'
equal '' "$(cat "$work/err")" 'closed pipe: agent --extract -'

# The program copies itself.
mkdir "$work/shared"
run copy "$work/shared"
equal 0 "$status" 'exit status of: copy DIRECTORY'
equal '' "$out$err" 'output of: copy DIRECTORY'
equal '' "$(cmp "$jtool" "$work/shared/jtool" 2>&1)" 'copy DIRECTORY: the copy is the program'
equal 755 "$(stat -c %a "$work/shared/jtool")" 'copy DIRECTORY: its mode'
# Kubernetes may run an init container again.
before=$(stat -c '%i %Z' "$work/shared/jtool")
run copy "$work/shared"
equal 0 "$status" 'exit status of: copy, again'
equal "$before" "$(stat -c '%i %Z' "$work/shared/jtool")" 'copy, again: writes nothing'
chmod 600 "$work/shared/jtool"
run copy "$work/shared/jtool"
equal 2 "$status" 'exit status of: copy FILE that others cannot execute'
chmod 755 "$work/shared/jtool"
printf x | dd of="$work/shared/jtool" bs=1 seek=100000 conv=notrunc status=none
run copy "$work/shared/jtool"
equal 2 "$status" 'exit status of: copy FILE that differs'
run copy --force --json "$work/shared/jtool"
equal "{\"schema\":1,\"path\":\"$work/shared/jtool\"}" "$out" 'copy --force --json'
equal "$("$jtool" --version)" "$("$work/shared/jtool" --version)" 'the copy works'
(trap '' PIPE && exec "$jtool" --help >&4 2>"$work/err")
equal 141 $? 'exit status on a closed pipe, with SIGPIPE ignored'
err=$(script -qec "$jtool agent --extract -" /dev/null </dev/null)
equal 2 $? 'exit status of binary output to a terminal'
matches "cannot write 'stdout': it is a terminal; redirect the output, or name a file" "$err" \
	'binary output to a terminal'
err=$( (ulimit -f 0 && "$jtool" list >"$work/limited") 2>&1)
equal 7 $? 'exit status with a file at its limit'
matches '^jtool: list: .*cannot write the result to stdout' "$err" 'file at its limit'
"$jtool" list >&- 2>"$work/err"
equal 7 $? 'exit status with stdout closed'

# documented CODE PATTERN ARGUMENT...: the error is a JSON document, too, and nothing else is.
documented() {
	local code=$1 pattern=$2

	shift 2
	run "$@"
	equal "$code" "$status" "exit status of: jtool $*"
	matches "^jtool: .*$pattern" "$err" "stderr of: jtool $*"
	matches "^\{\"schema\":1,\"error\":\{\"code\":$code,\"message\":\"${pattern}[^\"]*\"\}\}$" "$out" \
		"document: jtool $*"
}
documented 2 'too many arguments: ' list --json surplus
documented 2 "unknown command 'nothing'" nothing --json
documented 2 "option '--json' before the command" --json list
documented 2 "unknown option '--nothing'" list --json --nothing
documented 2 "unknown option '--nothing'" list --nothing --json
documented 2 'missing TARGET' heapdump --json
documented 3 'no such process: 4194305' jcmd --json 4194305 VM.version
run jcmd 4194305 --json
equal '{"schema":1,"error":{"code":3,"message":' "${out:0:40}" 'an option after TARGET'
run jcmd 4194305 VM.version --json
equal '' "$out" 'an argument of the JVM is not an option of jtool'

finish
