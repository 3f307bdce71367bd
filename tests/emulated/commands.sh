# shellcheck shell=bash
# Runs each command once on a JVM of each JDK: the short form of the live tests, for a machine
# without Python and compilers. $jdks has lines "VERSION JAVA", $classes is the directory of the
# compiled victims, $patched that of another version of class Subject.
# shellcheck disable=SC2016,SC2154 # names of nested classes; the caller sets the variables

W=$(mktemp -d /tmp/commands.XXXXXX)

# jt COMMAND ARGUMENT...: runs jtool in $W; sets rc and took, the time in seconds, and leaves the
# output in $W/out and $W/err. --timeout 5m, because an emulated JVM is slow: the first JFR.start
# loads about 600 classes, which takes 1.3 s of CPU time on x86-64 and 40 times as much here.
jt() {
	local began=${EPOCHREALTIME/./}

	rc=0
	(cd "$W" && exec timeout -k 1 600 jtool "$1" --timeout 5m "${@:2}") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
	took=$(((${EPOCHREALTIME/./} - began) / 100000))
	took=$((took / 10)).$((took % 10))
}

details() {
	echo "exit $rc; stderr:"
	head -n 5 "$W/err"
	echo "stdout:"
	head -n 12 "$W/out"
}

# prints PATTERN ARGUMENT...: exit code 0, and a line of stdout that matches PATTERN.
prints() {
	local pattern=$1

	shift
	jt "$@"
	if [ "$rc" -eq 0 ] && grep -q -E -e "$pattern" "$W/out"; then
		pass "$version: $* ($took s)"
	else
		fail "$version: $*" "wanted: /$pattern/" "$(details)"
	fi
}

# works ARGUMENT...: exit code 0.
works() {
	jt "$@"
	if [ "$rc" -eq 0 ]; then
		pass "$version: $* ($took s)"
	else
		fail "$version: $*" "$(details)"
	fi
}

# check NAME COMMAND...: COMMAND succeeds.
check() {
	local name=$1

	shift
	if "$@" >/dev/null 2>&1; then
		pass "$version: $name"
	else
		fail "$version: $name" "$*"
	fi
}

# ask LINE PATTERN: sends LINE to the JVM; its output then has a line that matches PATTERN.
ask() {
	: >"$W/jvm.out"
	echo "$1" >&9
	poll 300 grep -q -E -x -e "$2" "$W/jvm.out"
}

# runs_version NUMBER: class Subject returns it.
runs_version() {
	ask both "both $1 1111"
}

jvm_is_ready() {
	grep -q '^READY$' "$W/jvm.out" || gone "$pid"
}

# start JAVA FLAG...: the victim; sets pid.
start() {
	rm -f "$W/in"
	mkfifo "$W/in"
	exec 9<>"$W/in"
	: >"$W/jvm.out"
	# Appends: ask() truncates the file.
	env --default-signal=INT,QUIT "$@" -Xmx64m -cp "$classes" Steady \
		<"$W/in" >>"$W/jvm.out" 2>>"$W/jvm.err" 9>&- &
	pid=$!
	poll 600 jvm_is_ready && ! gone "$pid" && return
	fail "$version: the JVM becomes ready" "$(tail -n 5 "$W/jvm.out" "$W/jvm.err")"
	return 1
}

stop() {
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	exec 9>&-
	rm -rf "${W:?}"/* "/tmp/.java_pid$pid" "/tmp/hsperfdata_root/$pid"
}

# Commands that read /proc and counters, or run the JVM's own commands.
vm_commands() {
	prints " $version\\..* Steady\$| (1\\.$version|$version)[.0-9_u]* .* Steady\$" list
	prints 'Steady' info "$pid"
	prints "(OpenJDK|JDK) .*$version" jcmd "$pid" VM.version
	prints 'worker' threads "$pid"
	prints 'Steady\.loop' threads "$pid" --raw
	prints 'heap' memory "$pid"
}

heap_commands() {
	local engine

	for engine in snapshot agent jvmti; do
		prints '(^| )1000 .*Steady\$Kept$' heaphisto "$pid" --engine $engine --max-pause 1m --filter 'Steady$Kept'
	done
	prints '(^| )1000 .*Steady\$Kept' heaphisto "$pid" --vm --filter 'Steady$Kept'
	prints '1000 .*Steady\$Kept$' retained "$pid" --max-pause 1m --filter 'Steady$Kept'
	prints 'KEPT' refpaths "$pid" --max-pause 1m 'Steady$Kept'
	works heapdump "$pid" --max-pause 1m heap.hprof
	prints '1000 .*Steady\$Kept$' heaphisto heap.hprof --filter 'Steady$Kept'
	works heapdump "$pid" --engine hprof --force heap.hprof
	prints 'KEPT' refpaths heap.hprof 'Steady$Kept'
}

class_commands() {
	prints 'Steady\$Kept ' classes "$pid" 'Steady*'
	prints 'sipush +1001' class "$pid" Subject -b
	prints 'Subject\.class' dump "$pid" Subject -d .
	prints '^0 of 1 classes run other code' dump "$pid" Subject --diff "$classes"
}

code_commands() {
	if [ "$version" -ge 11 ]; then
		prints 'Steady\.work' alloc "$pid" -d 2s 'byte[]'
	fi
	prints 'Steady\.work' alloc "$pid" --exact -d 2s Subject
	prints 'Subject\.both\(\).* 10011111' trace "$pid" Subject.both -c 3
	prints 'Subject\.both' trace "$pid" Subject.both --summary -d 2s
	prints 'Subject' redefine "$pid" "$patched/Subject.class"
	check "the new code runs" runs_version 1002
	prints 'Subject' patches "$pid"
	prints 'Subject' restore "$pid"
	check "the original code runs" runs_version 1001
	prints 'Subject' redefine "$pid" "$patched/Subject.class"
	prints 'restored: 1 class$' detach "$pid"
	check "detach: the original code runs" runs_version 1001
	prints 'holds nothing' detach "$pid"
}

recordings() {
	works jfr "$pid" record -d 2s app.jfr
	prints 'CPULoad' jfr view app.jfr summary
	prints 'Steady\.' profile "$pid" -d 5s
}

no_thread_of_ours() {
	! grep -q -i jtool "/proc/$pid/task"/*/comm
}

nothing_left() {
	[ -z "$(find /tmp /var/tmp /dev/shm -maxdepth 1 \( -name '.jtool*' -o -name '.attach_pid*' \))" ]
}

while read -r version java <&8; do
	began=$SECONDS
	start "$java" || continue
	vm_commands
	class_commands
	heap_commands
	code_commands
	recordings
	check "no thread of jtool remains" poll 60 no_thread_of_ours
	check "no file of jtool remains" poll 60 nothing_left
	check "the JVM answers" ask "last words" "last words"
	stop
	# Such a heap is at high addresses, where ARM uses a bit more than x86-64.
	if [ "$version" -eq 17 ] && start "$java" -XX:-UseCompressedOops; then
		works heapdump "$pid" --engine snapshot --max-pause 1m heap.hprof
		prints '1000 .*Steady\$Kept$' heaphisto heap.hprof --filter 'Steady$Kept'
		stop
	fi
	echo "# $version: $((SECONDS - began)) s"
done 8<<<"$jdks"
rm -rf "$W"
