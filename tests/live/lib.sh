# shellcheck shell=bash
# What every live test stands on: victims to start, jtool to run on them, results to count.
#
# A test file sources this, runs checks and ends; its last line of output is then
# "N passed, N failed, N skipped".  Everything that it started, mounted or made is taken away
# when the shell ends, however it ends.  tests/live/run starts them all.
#
# From outside: JTOOL, the binary (default: ./jtool); CLASSES, the compiled victims;
# JTOOL_LIVE_JDKS, versions to run on (default: all that scripts/jdks has);
# JTOOL_SOAK=1, the long form.
set -u

live_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=$(cd "$live_dir/../.." && pwd)
theme=$(basename "$0" .sh)
JTOOL=$(realpath "${JTOOL:-./jtool}")
export LC_ALL=C.UTF-8 NO_COLOR=1
unset JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JTOOL_AGENT

n_passed=0
n_failed=0
n_skipped=0

# Counting.

pass() {
	n_passed=$((n_passed + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $theme: $1"
}

# fail NAME [DETAIL...]
fail() {
	n_failed=$((n_failed + 1))
	echo "not ok $((n_passed + n_failed + n_skipped)) - $theme: $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | head -n 20 | cut -c -300 | sed 's/^/#   /'
}

# skip NAME WHY
skip() {
	n_skipped=$((n_skipped + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $theme: $1 # SKIP $2"
}

# check NAME COMMAND...: the command must succeed.
check() {
	local name=$1 text

	shift
	if text=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "$*" "$text"
	fi
}

# same NAME WANTED GOT
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

# poll SECONDS COMMAND...: until it succeeds; fails when the time is up.
poll() {
	local end=$(($(now_ms) + $1 * 1000))

	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(now_ms)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

gone() {
	[ ! -e "/proc/$1" ]
}

alive() {
	[ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status"
}

# stands_still PID: each of its threads has stopped.
stands_still() {
	! grep -L '^State:[[:space:]]*[Tt]' "/proc/$1/task/"*/status | grep -q .
}

# halt PID: SIGSTOP, and wait until it has come to all threads: they stop one by one.
halt() {
	kill -STOP "$1"
	poll 60 stands_still "$1" || fail "process $1 stops"
}

# The matrix.

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

# has_jdk VERSION: no message, for tests that are about some versions only.
has_jdk() {
	[ -n "${jdk_root[$1]:-}" ]
}

# newest_of VERSION...: the last of these that is there, or nothing.
newest_of() {
	local v found=

	for v in "$@"; do
		has_jdk "$v" && found=$v
	done
	echo "$found"
}

# A place for everything, and its end.

# The work directory has two names: $W out here, $IW inside the root of the matrix.
W=$(mktemp -d "$matrix/var/tmp/jtool-live.XXXXXX")
IW=${W#"$matrix"}
chmod 755 "$W"
if [ -n "${CLASSES:-}" ]; then
	cp -r "$CLASSES" "$W/classes"
else
	javac --release 8 -Xlint:-options -d "$W/classes" "$live_dir"/victim/*.java
fi
cp "$JTOOL" "$W/jtool"
chmod 755 "$W/jtool"

started=()  # processes to end
declare -A born # when they began, and `ended` for those that stop has ended
inputs=()   # descriptors of their stdins
mounts=()   # mount points to unmount
litter=()   # files and directories to remove

# birth PID: when it started, in ticks since the machine did; nothing if it has ended.
birth() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# mind PID: a process of ours, to be ended at the end.
mind() {
	started+=("$1")
	born[$1]=$(birth "$1")
}

# is_ours PID: not yet ended, and not another process that got its number: pids come round, and in
# a run of all themes often.
is_ours() {
	if [ -z "${born[$1]:-}" ]; then
		! gone "$1"
	else
		[ "${born[$1]}" = "$(birth "$1")" ]
	fi
}

not_ours() {
	! is_ours "$1"
}

tidy() {
	local pid mount

	for pid in "${started[@]}"; do
		! is_ours "$pid" || kill -9 "$pid" 2>/dev/null
	done
	for pid in "${started[@]}"; do
		poll 60 not_ours "$pid" || echo "# $theme: process $pid does not end" >&2
		! gone "$pid" || sweep "$pid"
	done
	for mount in "${mounts[@]}"; do
		umount -l "$mount"
	done
	rm -rf "$W" "${litter[@]}"
}

finish() {
	local rc=$?

	trap - EXIT INT TERM HUP
	[ $rc -eq 0 ] || fail "ran to its end" "ended with $rc"
	tidy
	echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
	[ "$n_failed" -eq 0 ] || exit 1
	exit 0
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# Victims.

# spawn COMMAND...: in the background, with its stdin held open and its output in files.  A
# shell's background processes ignore SIGQUIT and SIGINT; these must not, or a signal that hurts
# would go unseen.  Sets JVM_PID, JVM_IN (a
# descriptor), JVM_OUT and JVM_ERR.
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
		# Pids come round: what the last one of this number left is not this one's.
		sweep "$BASHPID"
		exec env --default-signal=INT,QUIT "$@"
	) <"$base.in" >"$JVM_OUT" 2>"$JVM_ERR" &
	JVM_PID=$!
	disown
	mind "$JVM_PID"
}

# gc_flags NAME: how a collector is chosen, one flag a line.
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

# jvm_command VERSION GC WORD...: sets the array `argv`: a java of this version with these
# words.  VERSION is one of the matrix, or "own" for the machine's own.  JVM_AS=UID:GID runs it
# as somebody else, JVM_CWD is its working directory as it sees it.
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

# classes_of VERSION: where its victims are, as it sees them.
classes_of() {
	if [ "$1" = own ]; then
		echo "$W/classes"
	else
		echo "$IW/classes"
	fi
}

# launch_jvm VERSION GC CLASS [FLAG...] [-- ARGUMENT...]: starts, does not wait.
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

# is_ready OUT: with a last look when the process is gone, to fail early.
is_ready() {
	grep -q '^READY$' "$1"
}

ready_or_gone() {
	is_ready "$JVM_OUT" || gone "$JVM_PID"
}

# await_ready [SECONDS]: until the victim started last says that it is.
await_ready() {
	if poll "${1:-30}" ready_or_gone && is_ready "$JVM_OUT"; then
		return 0
	fi
	fail "victim became ready" "$(tail -n 5 "$JVM_OUT" "$JVM_ERR" 2>&1)"
	return 1
}

# start_jvm: launch_jvm, and wait until it is ready.  The same arguments.
start_jvm() {
	launch_jvm "$@"
	await_ready 60
}

# stop PID...: the hard way, and wait.
stop() {
	local pid

	for pid in "$@"; do
		! is_ours "$pid" || kill -9 "$pid" 2>/dev/null
	done
	for pid in "$@"; do
		poll 60 not_ours "$pid" || fail "process $pid ended"
		! gone "$pid" || sweep "$pid"
		born[$pid]=ended
	done
}

# sweep PID: the files that a JVM leaves when it is killed, its flight recorder's, too, and the
# copies of agents that `load` keeps for it; a later one may get its pid.
sweep() {
	rm -rf {"$matrix",}/tmp/{.java_pid,hsperfdata_*/,.jtool-*-,20??_??_??_*_}"$1"
	rm -rf {"$matrix",}/tmp/.jtool-*-"$1"-*
}

# ask LINE PATTERN [SECONDS]: say LINE to the victim started last; prints the first whole new
# line of its output that matches.
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

# new_lines N: of the victim started last, behind the first N, those that are whole.
new_lines() {
	head -n "$(wc -l <"$JVM_OUT")" "$JVM_OUT" | tail -n "+$(($1 + 1))"
}

n_asked=0

# answers: the victim started last still does.
answers() {
	n_asked=$((n_asked + 1))
	ask "echo-$n_asked" "^echo-$n_asked\$" >/dev/null
}

# strange_output: what the victim started last wrote that neither it nor the JVM's own notice
# about agents (JEP 451) accounts for.
strange_output() {
	grep -v -E -x -e 'READY|echo-[0-9]+|gap [0-9]+|rounds [0-9]+' -e "${1:-READY}" "$JVM_OUT"
	grep -v -E -e '^WARNING: (A JVM TI agent|A Java agent|If a serviceability tool|Dynamic loading of agents)' \
		-e 'Sharing is only supported for boot loader classes' -e "^(${2:-READY})\$" "$JVM_ERR"
}

# unharmed NAME [PATTERN [PATTERN]]: it answers, and nothing strange is in its output (a line
# that matches the first PATTERN, on stderr the second one, is not strange).
unharmed() {
	local strange

	if ! answers; then
		fail "$1: the JVM answers" "$(tail -n 5 "$JVM_OUT" "$JVM_ERR" 2>&1)"
		return 1
	fi
	strange=$(strange_output "${2:-READY}" "${3:-}")
	if [ -n "$strange" ]; then
		fail "$1: the JVM's output is its own" "$strange"
		return 1
	fi
	pass "$1: the JVM is unharmed"
}

# thread_count, lasting_threads, fd_count, rss_kb PID
thread_count() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l
}

# Without those of which the JVM starts and ends some by itself, as it has work for them.
lasting_threads() {
	cat "/proc/$1/task"/*/comm 2>/dev/null | grep -c -v -E '^(C[12] Compiler|GC Thread|G1 )'
}

fd_count() {
	find "/proc/$1/fd" -mindepth 1 -maxdepth 1 | wc -l
}

rss_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

# leftovers ROOT NSPID UID [CWD]: what jtool may have left of a target in this root.
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

# Jtool.

# jt ARGUMENT...: runs it; sets rc, and leaves $W/out and $W/err.  JT_AS=UID[:GID] runs it
# as somebody else.  A run that hangs is ended and counts as 124.
jt() {
	local as=()

	[ -z "${JT_AS:-}" ] ||
		as=(setpriv "--reuid=${JT_AS%:*}" "--regid=${JT_AS#*:}" --clear-groups)
	rc=0
	(cd "$W" && exec "${as[@]}" timeout -k 1 "${JT_LIMIT:-60}" ./jtool "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
}

# company COMMAND...: as jt, but any command, beside no other JVMs than one for each of
# company_flags, in a pid namespace of their own.
company_flags=(-Dnumber=1 -Dnumber=2)
# shellcheck disable=SC2016 # expanded by the inner shell
in_company='
for flag in $COMPANY_FLAGS; do
	tail -f /dev/null | java -Xmx32m $flag -cp classes Idle >company$flag 2>/dev/null &
	until grep -q READY company$flag; do sleep 0.02; done
done
rc=0
"$@" || rc=$?
kill $(./jtool list -q)
exit $rc'
company() {
	rc=0
	(cd "$W" && COMPANY_FLAGS=${company_flags[*]} timeout -k 1 "${JT_LIMIT:-60}" \
		unshare -p -f -m --mount-proc --kill-child bash -c "$in_company" company "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
	rm -f "$W"/company*
}

jt_details() {
	echo "exit $rc; stderr:"
	head -n 5 "$W/err"
	echo "stdout:"
	head -n 8 "$W/out"
}

# works NAME ARGUMENT...: exit 0, not a word on stderr.
works() {
	local name=$1

	shift
	jt "$@"
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
		pass "$name"
	else
		fail "$name" "jtool $*" "$(jt_details)"
		return 1
	fi
}

# refuses CODE PATTERN NAME ARGUMENT...: this exit code ("[12]": one of these), one line on
# stderr in the promised form that matches, and nothing on stdout.
refuses() {
	local code=$1 pattern=$2 name=$3

	shift 3
	jt "$@"
	# shellcheck disable=SC2053 # a pattern
	if [[ $rc == $code ]] && [ "$(wc -l <"$W/err")" -eq 1 ] && [ ! -s "$W/out" ] &&
		grep -q '^jtool: ' "$W/err" && grep -q -i -E -e "$pattern" "$W/err"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: exit $code, /$pattern/" "$(jt_details)"
		return 1
	fi
}

# prints NAME PATTERN ARGUMENT...: exit 0, and a line of stdout that matches.
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

# json EXPRESSION: of the last run's stdout, as `j`; prints what it evaluates to.
json() {
	python3 -c 'import json, sys
try:
    j = json.load(open(sys.argv[1]))
    print(eval("(" + sys.argv[2] + ")"))
except Exception as e:
    print(repr(e))' "$W/out" "$1"
}

# is_thorough VERSION: on this JDK everything is tried, in the short form, too; on the others of it
# what may differ from one to the next.
is_thorough() {
	[ "${JTOOL_SOAK:-0}" = 1 ] || [[ " 8 17 ${jdks[-1]} " == *" $1 "* ]]
}

# in_soak LONG SHORT: how many.  `in_soak own ""` stands for the machine's own JDK where it is only
# one more 17.
in_soak() {
	if [ "${JTOOL_SOAK:-0}" = 1 ]; then
		echo "$1"
	else
		echo "$2"
	fi
}
