# shellcheck shell=bash
# Yama restricts ptrace(2), in three degrees.  jtool does not use ptrace(2): with each degree, it
# works for the JVM's user and for root.
yama=/proc/sys/kernel/yama/ptrace_scope

as_owner() {
	setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
}

# served NAME COMMAND...: list, an attach and the agent work.
served() {
	local name=$1 text

	shift
	text=$("$@" jtool list 2>&1)
	if grep -q -E " (ready|listening) +BigHeap" <<<"$text"; then
		pass "$name: list"
	else
		fail "$name: list" "$text"
	fi
	text=$("$@" jtool jcmd "$JVM_PID" VM.version 2>&1) && grep -q 'JDK' <<<"$text"
	same "$name: jcmd: $(tail -n 1 <<<"$text")" 0 $?
	text=$("$@" jtool heaphisto --engine agent "$JVM_PID" 2>&1) &&
		grep -q 'java.lang.String' <<<"$text"
	same "$name: heaphisto: $(tail -n 1 <<<"$text")" 0 $?
}

if [ ! -e $yama ]; then
	skip "Yama" "the kernel has none"
else
	# Degree 3 cannot be changed, so it is the last.
	for degree in 1 2 3; do
		echo $degree >$yama
		start_jvm -Xmx64m BigHeap big 0.01 || continue
		same "Yama $degree: it is on" $degree "$(cat $yama)"
		served "Yama $degree: owner" as_owner
		served "Yama $degree: root" env
		if answers; then
			pass "Yama $degree: the JVM answers"
		else
			fail "Yama $degree: the JVM answers" "$(tail -n 5 /run/jvm.out)"
		fi
		stop_jvm
	done
fi
