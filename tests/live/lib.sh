# shellcheck shell=bash
# The library of the live tests: starts victim JVMs, runs jtool on them, and counts results.
#
# A theme's script sources this file and runs its checks. The last line of its output is "N passed,
# N failed, N skipped". When the shell exits, also by SIGINT, SIGTERM or SIGHUP, all processes,
# mounts and files that it created are removed. tests/live/run starts all themes.
#
# Environment: JTOOL, the binary (default: ./jtool); CLASSES, the compiled victims; JTOOL_LIVE_JDKS,
# the JDK versions to test (default: all that scripts/jdks lists); JTOOL_SOAK=1, the long form.
[ "${JTOOL_TEST_ENV:-}" = $$ ] ||
	exec "$(dirname "${BASH_SOURCE[0]}")/../../scripts/test-env" bash "$0" "$@"
set -u

live_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=$(cd "$live_dir/../.." && pwd)
theme=$(basename "$0" .sh)
JTOOL=$(realpath -e "${JTOOL:-./jtool}") || exit
export NO_COLOR=1

n_passed=0
n_failed=0
n_skipped=0

# Results.

pass() {
	n_passed=$((n_passed + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $theme: $1"
}

# fail NAME [DETAIL...]
fail() {
	n_failed=$((n_failed + 1))
	echo "not ok $((n_passed + n_failed + n_skipped)) - $theme: $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | head -n 60 | cut -c -300 | sed 's/^/#   /'
}

# skip NAME WHY
skip() {
	n_skipped=$((n_skipped + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $theme: $1 # SKIP $2"
}

# check NAME COMMAND...: COMMAND succeeds.
check() {
	local name=$1 text

	shift
	if text=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "$*" "$text"
	fi
}

# same NAME WANTED GOT: the two strings are equal.
same() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "wanted: $2" "got: $3"
	fi
}

# Waiting.

now_ms() {
	local t=$EPOCHREALTIME

	echo $((${t/[.,]/} / 1000))
}

# poll SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS.
poll() {
	local begin end pause=0.02

	begin=$(now_ms)
	end=$((begin + $1 * 1000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(now_ms)" -lt "$end" ] || return 1
		[ "$(now_ms)" -lt $((begin + 1000)) ] || pause=0.2
		sleep $pause
	done
}

gone() {
	[ ! -e "/proc/$1" ]
}

alive() {
	[ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status"
}

# all_threads_stopped PID: every thread of the process is stopped.
all_threads_stopped() {
	! grep -L '^State:[[:space:]]*[Tt]' "/proc/$1/task/"*/status | grep -q .
}

# suspend PID: sends SIGSTOP and waits until all threads have stopped: they stop one by one.
suspend() {
	kill -STOP "$1"
	poll 60 all_threads_stopped "$1" || fail "process $1 stops"
}

# JDKs.

declare -A jdk_root jdk_home
jdks=()
matrix=
while read -r version root home; do
	case " ${JTOOL_LIVE_JDKS:-$version} " in
	*" $version "*) ;;
	*) continue ;;
	esac
	jdks+=("$version")
	jdk_root[$version]=$root
	jdk_home[$version]=$home
	matrix=$root
done < <("$top_srcdir/scripts/jdks" --list)

# has_jdk VERSION: succeeds if this JDK is tested. Reports no skipped test: for tests that concern
# only some versions.
has_jdk() {
	[ -n "${jdk_root[$1]:-}" ]
}

# newest_of VERSION...: prints the last of these versions that is installed, or nothing.
newest_of() {
	local v found=

	for v in "$@"; do
		has_jdk "$v" && found=$v
	done
	echo "$found"
}

# The work directory, and what is removed at the end.

# The work directory has two names: $W on the host, $IW inside the root of the JDKs.
W=$(mktemp -d "$matrix/var/tmp/jtool-live.XXXXXX")
IW=${W#"$matrix"}
chmod 755 "$W"
if [ -n "${CLASSES:-}" ]; then
	cp -r "$CLASSES" "$W/classes"
else
	javac --release 8 -Xlint:-options -d "$W/classes" "$live_dir"/{,*/}victim/*.java
fi
cp "$JTOOL" "$W/jtool"
chmod 755 "$W/jtool"

started=() # processes to kill at the end
declare -A start_time # their start times; `ended` after stop
inputs=() # descriptors of their standard inputs
mounts=() # mount points to unmount
to_remove=() # files and directories to remove

# start_ticks PID: when it started, in clock ticks since boot; prints nothing if it has exited.
start_ticks() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# track PID: registers a process of ours that is killed at the end.
track() {
	started+=("$1")
	start_time[$1]=$(start_ticks "$1")
}

# is_ours PID: the tracked process still runs. Another process may have its PID: in a run of all
# themes, PIDs are often reused.
is_ours() {
	if [ -z "${start_time[$1]:-}" ]; then
		! gone "$1"
	else
		[ "${start_time[$1]}" = "$(start_ticks "$1")" ]
	fi
}

not_ours() {
	! is_ours "$1"
}

clean_up() {
	local pid mount

	for pid in "${started[@]}"; do
		! is_ours "$pid" || kill -9 "$pid" 2>/dev/null
	done
	for pid in "${started[@]}"; do
		poll 60 not_ours "$pid" || echo "# $theme: process $pid does not exit" >&2
		! gone "$pid" || remove_jvm_files "$pid"
	done
	for mount in "${mounts[@]}"; do
		umount -l "$mount"
	done
	rm -rf "$W" "${to_remove[@]}"
}

finish() {
	local rc=$?

	set +e # a failure must not stop the cleanup
	trap - ERR EXIT
	trap '' INT TERM HUP
	[ $rc -eq 0 ] || fail "the script runs to its end" "it exited with $rc"
	clean_up
	echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
	[ "$n_failed" -eq 0 ] || exit 1
	exit 0
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# Victims.

# spawn COMMAND...: runs it in the background, with an open stdin and its output in files. A shell's
# background processes ignore SIGQUIT and SIGINT; here both are reset to their defaults, so that a
# signal that kills is noticed. Sets JVM_PID, JVM_IN (a descriptor), JVM_OUT and JVM_ERR.
spawn() {
	local base=$W/${#started[@]}

	mkfifo "$base.in"
	exec {JVM_IN}<>"$base.in"
	JVM_OUT=$base.out
	JVM_ERR=$base.err
	inputs+=("$JVM_IN")
	(
		for fd in "${inputs[@]}"; do
			exec {fd}>&-
		done
		# PIDs are reused: remove the files of an earlier process with this PID.
		remove_jvm_files "$BASHPID"
		exec env --default-signal=INT,QUIT "$@"
	) <"$base.in" >"$JVM_OUT" 2>"$JVM_ERR" &
	JVM_PID=$!
	disown
	track "$JVM_PID"
}

# gc_flags NAME: the flags that select a collector, one per line.
gc_flags() {
	case $1 in
	default) ;;
	serial) echo -XX:+UseSerialGC ;;
	parallel) echo -XX:+UseParallelGC ;;
	g1) echo -XX:+UseG1GC ;;
	z) printf '%s\n' -XX:+UnlockExperimentalVMOptions -XX:+UseZGC ;;
	shenandoah) printf '%s\n' -XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC ;;
	esac
}

# jvm_command VERSION GC WORD...: sets the array `argv` to a java command of this version with these
# words. VERSION is one of the installed JDKs, or "own" for the machine's own. JVM_AS=UID:GID runs
# it as another user; JVM_CWD is its working directory in its own mount namespace.
jvm_command() {
	local version=$1 gc=$2 flags cwd

	shift 2
	mapfile -t flags < <(gc_flags "$gc")
	flags=(-Xmx64m "${flags[@]}")
	if [ "$version" = own ]; then
		cwd=${JVM_CWD:-$W}
		argv=(env -C "$cwd" java "${flags[@]}" "$@")
		[ -z "${JVM_AS:-}" ] || argv=(setpriv "--reuid=${JVM_AS%:*}"
			"--regid=${JVM_AS#*:}" --clear-groups "${argv[@]}")
		return
	fi
	cwd=${JVM_CWD:-$IW}
	argv=(chroot ${JVM_AS:+"--userspec=$JVM_AS"} "${jdk_root[$version]}"
		env -C "$cwd" "${jdk_home[$version]}/bin/java" "${flags[@]}" "$@")
}

# java_root DIRECTORY: puts the machine's Java runtime there, below jre, and the libraries that it links.
java_root() {
	local home

	home=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
	mkdir -p "$1/jre"
	tar -C "$home" -h --exclude=src.zip --exclude=ct.sym -cf - bin/java conf lib |
		tar -C "$1/jre" -xf -
	find "$1/jre" \( -name '*.so' -o -name java \) -type f -exec ldd {} + |
		grep -o '/[^ ]*\.so[^ ]*' | grep -v -F "$1" | cut -c 2- | sort -u |
		tar -C / -h -T - -cf - | tar -C "$1" -xf -
}

# classes_of VERSION: the directory of the victims, as a JVM of this version sees it.
classes_of() {
	if [ "$1" = own ]; then
		echo "$W/classes"
	else
		echo "$IW/classes"
	fi
}

# launch_jvm VERSION GC CLASS [FLAG...] [-- ARGUMENT...]: starts a victim and does not wait.
launch_jvm() {
	local version=$1 gc=$2 class=$3 flags=() argv

	shift 3
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	jvm_command "$version" "$gc" -cp "$(classes_of "$version")" "${flags[@]}" "$class" "$@"
	spawn "${argv[@]}"
}

# is_ready OUT: the victim with this output is ready.
is_ready() {
	grep -q '^READY$' "$1"
}

ready_or_gone() {
	is_ready "$JVM_OUT" || gone "$JVM_PID"
}

# await_ready [SECONDS]: waits until the victim that was started last is ready, or has exited.
await_ready() {
	if poll "${1:-30}" ready_or_gone && is_ready "$JVM_OUT"; then
		return 0
	fi
	fail "the victim becomes ready" "$(last_words 5)"
	return 1
}

# start_jvm: launch_jvm with the same arguments, then waits until the victim is ready.
start_jvm() {
	launch_jvm "$@"
	await_ready 60
}

# stop PID...: kills the processes and waits until they have exited.
stop() {
	local pid

	for pid in "$@"; do
		! is_ours "$pid" || kill -9 "$pid" 2>/dev/null
	done
	for pid in "$@"; do
		poll 60 not_ours "$pid" || fail "process $pid exits"
		! gone "$pid" || remove_jvm_files "$pid"
		start_time[$pid]=ended
	done
}

# remove_jvm_files PID: removes the files that a killed JVM leaves, including its flight recorder's,
# and the copies of agents that `load` keeps for it: a later JVM may get the same PID.
remove_jvm_files() {
	rm -rf {"$matrix",}/tmp/{.java_pid,hsperfdata_*/,.jtool-*-,20??_??_??_*_}"$1"
	rm -rf {"$matrix",}/tmp/.jtool-*-"$1"-*
}

# last_words N: prints the last N lines of each output of the victim that was started last. If the
# victim crashed, also prints where, and the stack of the crashed thread.
last_words() {
	local log

	if grep -q '^# A fatal error has been detected' "$JVM_OUT"; then
		grep -A 1 -E '^# +(SIG|Internal Error|Problematic frame|JRE version)' "$JVM_OUT"
		for log in {"$W","${JVM_CWD:-$W}"}"/hs_err_pid$JVM_PID.log"; do
			[ ! -e "$log" ] || sed -n '/^Current thread/,/^$/p; /^Native frames/,/^$/p;
				/^siginfo/p; /^VM_Operation/p' "$log"
		done | awk '!seen[$0]++'
	fi
	tail -n "$1" "$JVM_OUT" "$JVM_ERR" 2>&1
}

# known_crash: the victim that was started last crashed where HotSpot is known to; prints where.
#
# ObjectMonitor::vthread_wait_reenter, JDK 25.0.5: a virtual thread that returns from Object.wait()
# uses an ObjectWaiter that HotSpot has deleted. No frame of the agent is on the stack. Seen twice in
# several hundred runs on busy machines.
known_crash() {
	grep -A 1 '^# Problematic frame' "$JVM_OUT" | grep -o 'ObjectMonitor::vthread_wait_reenter'
}

# fail_or_skip NAME DETAIL...: a failure, unless the victim crashed where HotSpot is known to.
fail_or_skip() {
	local where

	if where=$(known_crash); then
		skip "$1" "HotSpot crashed in $where"
	else
		fail "$@"
	fi
}

# ask LINE PATTERN [SECONDS]: sends LINE to the victim that was started last, and prints the first
# complete new line of its output that matches.
ask() {
	local before end

	before=$(wc -l <"$JVM_OUT")
	echo "$1" >&"$JVM_IN"
	end=$(($(now_ms) + ${3:-60} * 1000))
	until new_lines "$before" | grep -E -m 1 -e "$2"; do
		[ "$(now_ms)" -lt "$end" ] && alive "$JVM_PID" || return 1
		sleep 0.02
	done
}

# new_lines N: the complete output lines after the first N of the victim that was started last.
new_lines() {
	head -n "$(wc -l <"$JVM_OUT")" "$JVM_OUT" | tail -n "+$(($1 + 1))"
}

n_asked=0

# answers: the victim that was started last answers.
answers() {
	n_asked=$((n_asked + 1))
	ask "echo-$n_asked" "^echo-$n_asked\$" >/dev/null
}

# unexpected_output: the output of the victim that was started last, without its own lines and
# without the JVM's notice about agents (JEP 451).
unexpected_output() {
	grep -v -E -x -e 'READY|echo-[0-9]+|gap [0-9]+|rounds [0-9]+' -e "${1:-READY}" "$JVM_OUT"
	grep -v -E -e '^WARNING: (A JVM TI agent|A Java agent|If a serviceability tool|Dynamic loading of agents)' \
		-e 'Sharing is only supported for boot loader classes' -e "^(${2:-READY})\$" "$JVM_ERR"
}

# unharmed NAME [PATTERN [PATTERN]]: the victim answers, and its output has no unexpected line.
# Lines that match the first PATTERN are expected on stdout, the second one on stderr.
unharmed() {
	local unexpected

	if ! answers; then
		fail "$1: the JVM answers" "$(last_words 5)"
		return 1
	fi
	unexpected=$(unexpected_output "${2:-READY}" "${3:-}")
	if [ -n "$unexpected" ]; then
		fail "$1: the JVM's output is unchanged" "$unexpected"
		return 1
	fi
	pass "$1: the JVM is unharmed"
}

# thread_count, lasting_names, lasting_threads, fd_count, rss_kb PID
thread_count() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l
}

# lasting_names: the names of the threads, without the kinds that the JVM starts and ends on demand.
lasting_names() {
	cat "/proc/$1/task"/*/comm 2>/dev/null | grep -v -E '^(C[12] Compiler|GC Thread|G1 )'
}

lasting_threads() {
	lasting_names "$1" | wc -l
}

fd_count() {
	find "/proc/$1/fd" -mindepth 1 -maxdepth 1 | wc -l
}

rss_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

# leftovers ROOT NSPID UID [CWD]: the files of jtool that remain in this root.
leftovers() {
	local dir

	for dir in tmp var/tmp dev/shm run "${4:-tmp}"; do
		find "$1/$dir" -maxdepth 1 \
			\( -name ".attach_pid$2" -o -name ".jtool-$3-$2" \
			-o -name ".jtool-$3-$2-*" \) 2>/dev/null
	done | sort -u
}

# nothing_left ROOT NSPID UID [CWD]
nothing_left() {
	[ -z "$(leftovers "$@")" ]
}

# nothing_left_here: in the root of the JVM that was started last, which has the JDK `version`.
nothing_left_here() {
	nothing_left "${jdk_root[$version]:-}" "$JVM_PID" 0
}

# our_processes: the PIDs of the processes of this theme's jtool, helpers included.
our_processes() {
	find /proc -maxdepth 2 -name exe -lname "$W/jtool*" 2>/dev/null | cut -d/ -f3
}

no_jtool_left() {
	[ -z "$(our_processes)" ]
}

# killed_but_blocked PID: true if this process has been killed, but still waits in the kernel for a
# file system that hangs. jtool leaves such a worker, also at a file system of another theme.
killed_but_blocked() {
	local pending

	pending=$(sed -n 's/^SigPnd:\t/0x/p' "/proc/$1/status" 2>/dev/null)
	((pending & 1 << 8)) # SIGKILL
}

# children: the PIDs of the processes that this JVM has started, also zombies.
children() {
	pgrep -P "$JVM_PID"
}

childless() {
	! children >/dev/null
}

# has_child_or_ended: that JVM has a child, or jtool, whose PID is `pid`, has ended.
has_child_or_ended() {
	! childless || gone "$pid"
}

# jtool.

# jt ARGUMENT...: runs jtool; sets rc, and leaves its output in $W/out and $W/err. JT_AS=UID[:GID]
# runs it as another user. A run that exceeds JT_LIMIT seconds is killed; rc is then 124.
jt() {
	local as=()

	[ -z "${JT_AS:-}" ] ||
		as=(setpriv "--reuid=${JT_AS%:*}" "--regid=${JT_AS#*:}" --clear-groups)
	rc=0
	(cd "$W" && exec "${as[@]}" timeout -k 1 "${JT_LIMIT:-60}" ./jtool "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
}

# run_among_jvms COMMAND...: like jt, for any command, in a new PID namespace in which only one JVM
# for each of other_jvm_flags runs.  /tmp is a file system of its own: other themes have JVMs with
# the same PIDs in namespaces, whose sockets have the same names, and a JVM that starts outside
# removes hsperfdata files whose PID it does not see.
other_jvm_flags=(-Dnumber=1 -Dnumber=2)
# shellcheck disable=SC2016 # expanded by the inner shell
among_jvms='
mount -t tmpfs -o mode=1777 none /tmp || exit
for flag in $OTHER_JVM_FLAGS; do
	tail -f /dev/null | java -Xmx32m $flag -cp classes Idle >other_jvm$flag 2>/dev/null &
	until grep -qs READY other_jvm$flag; do sleep 0.02; done
done
rc=0
"$@" || rc=$?
kill $(./jtool list -q)
exit $rc'
run_among_jvms() {
	rc=0
	(cd "$W" && OTHER_JVM_FLAGS=${other_jvm_flags[*]} timeout -k 1 "${JT_LIMIT:-60}" \
		unshare -p -f -m --mount-proc --kill-child bash -c "$among_jvms" among_jvms "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
	rm -f "$W"/other_jvm*
}

jt_details() {
	echo "exit $rc; stderr:"
	head -n 5 "$W/err"
	echo "stdout:"
	head -n 8 "$W/out"
}

# works NAME ARGUMENT...: exit code 0 and an empty stderr.
works() {
	local name=$1 try

	shift
	# On a busy machine jtool stops a walk that would pause the JVM for too long, and says so.
	for try in 1 2 3 4 5; do
		jt "$@"
		grep -q 'when this machine is less busy' "$W/err" || break
		echo "# $theme: $name: the machine is busy, try $try"
	done
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
		pass "$name"
	else
		fail "$name" "jtool $*" "$(jt_details)"
		return 1
	fi
}

# prints_error ARGUMENT...: jtool with these arguments has printed no result: nothing, or with --json
# a document about the error.
prints_error() {
	case " $* " in
	*' --json '*) grep -q '^{"schema":1,"error":{"code":' "$W/out" || [ ! -s "$W/out" ] ;;
	*) [ ! -s "$W/out" ] ;;
	esac
}

# refuses CODE PATTERN NAME ARGUMENT...: this exit code ("[12]": one of these), one line on stderr
# in the documented form that matches PATTERN, and nothing on stdout.
refuses() {
	local code=$1 pattern=$2 name=$3

	shift 3
	jt "$@"
	# shellcheck disable=SC2053 # a pattern
	if [[ $rc == $code ]] && [ "$(wc -l <"$W/err")" -eq 1 ] && prints_error "$@" &&
		grep -q '^jtool: ' "$W/err" && grep -q -i -E -e "$pattern" "$W/err"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: exit $code, /$pattern/" "$(jt_details)"
		return 1
	fi
}

# prints NAME PATTERN ARGUMENT...: exit code 0, and a line of stdout that matches PATTERN.
prints() {
	local name=$1 pattern=$2

	shift 2
	jt "$@"
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ] && grep -q -E -e "$pattern" "$W/out"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: /$pattern/" "$(jt_details)"
		return 1
	fi
}

# json EXPRESSION: evaluates it with the JSON of the last run's stdout as `j`, and prints the
# result.
json() {
	python3 -c 'import json, sys
try:
    j = json.load(open(sys.argv[1]))
    print(eval("(" + sys.argv[2] + ")"))
except Exception as e:
    print(repr(e))' "$W/out" "$1"
}

# is_thorough VERSION: the short form tests everything on this JDK. On the others it tests only what
# may differ between versions.
is_thorough() {
	[ "${JTOOL_SOAK:-0}" = 1 ] || [[ " 8 17 25 27 " == *" $1 "* ]]
}

# in_soak LONG SHORT: prints LONG in the long form, else SHORT. `in_soak own ""` adds the machine's
# own JDK in the long form only, where it is one more JDK 17.
in_soak() {
	if [ "${JTOOL_SOAK:-0}" = 1 ]; then
		echo "$1"
	else
		echo "$2"
	fi
}
