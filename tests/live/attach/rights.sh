#!/usr/bin/env bash
# Least privilege: a helper process of jtool accesses the target's files. It has no more
# capabilities than the target, can gain none, and makes few system calls.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

docker=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap
docker+=,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap

# field PID NAME: a line of /proc/PID/status.
field() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

# helper_of PID: the staging helper that this jtool has started.
helper_of() {
	local child

	for child in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" != jtool-helper ] || echo "$child"
	done
}

# has_helper PID: this jtool's helper has two filters, its own and the client's. Linux before 5.9
# reports the seccomp mode, but not the number of filters.
has_helper() {
	local helper

	helper=$(helper_of "$1")
	[ "$(field "$helper" Seccomp)$(field "$helper" Seccomp_filters)" = 22 ] ||
		[ "$(field "$helper" Seccomp)$(field "$helper" Seccomp_filters)" = 2 ]
}

# is_subset NAME SET OF: both are hexadecimal.
is_subset() {
	if [ $((0x$2 & ~0x$3)) -eq 0 ]; then
		pass "$1"
	else
		fail "$1" "$2 has more than $3"
	fi
}

# start UID SET: a JVM with these ids and this bounding set.
start() {
	spawn chroot "${jdk_root[$version]}" env -C "$IW" setpriv "--reuid=$1" "--regid=$1" \
		--clear-groups --bounding-set "$2" --inh-caps -all \
		"${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle
	await_ready
}

# hold_listener: the JVM accepts a connection and waits for its request, until the descriptor
# closes; later connections wait, too.  JDK 8 accepts only its own user.
hold_listener() {
	local uid

	uid=$(stat -c %u "/proc/$JVM_PID")
	mkfifo "$W/hold"
	setpriv "--reuid=$uid" "--regid=$uid" --clear-groups python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()' "${jdk_root[$version]}/tmp/.java_pid$JVM_PID" <"$W/hold" >"$W/held" &
	exec {hold}>"$W/hold"
	poll 10 grep -q held "$W/held"
}

release_listener() {
	exec {hold}>&-
	rm -f "$W/hold" "$W/held"
}

# limited NAME UID: the helper of a session, while the JVM is busy, and the session's result.
limited() {
	local name=$1 uid=$2 jtool helper set status=0

	jt jcmd "$JVM_PID" VM.version
	hold_listener
	(exec {hold}>&-; cd "$W" && exec ./jtool heaphisto "$JVM_PID" --json >out 2>err) &
	jtool=$!
	if poll 10 has_helper "$jtool"; then
		helper=$(helper_of "$jtool")
		for set in CapInh CapPrm CapEff CapBnd; do
			is_subset "$name: the helper's $set" "$(field "$helper" $set)" \
				"$(field "$JVM_PID" $set)"
		done
		same "$name: the helper's CapAmb" 0000000000000000 "$(field "$helper" CapAmb)"
		same "$name: the helper cannot gain privileges" 1 "$(field "$helper" NoNewPrivs)"
		same "$name: the helper's user" "$(field "$JVM_PID" Uid)" "$(field "$helper" Uid)"
		same "$name: the helper has no supplementary group" "" \
			"$(field "$helper" Groups | tr -d ' ')"
		same "$name: only root can look into the helper" 0 \
			"$(stat -c %u "/proc/$helper/fd")"
		same "$name: jtool cannot gain privileges" 1 "$(field "$jtool" NoNewPrivs)"
		same "$name: jtool runs in a sandbox" 2 "$(field "$jtool" Seccomp)"
	else
		fail "$name: there is a helper" "$(ps -o pid,ppid,stat,comm -C jtool,jtool-helper)"
	fi
	release_listener
	wait "$jtool" || status=$?
	same "$name: the session works: its exit status" 0 "$status"
	same "$name: the session works: it has classes" True "$(json "len(j['classes']) > 100")"
	jt dump "$JVM_PID" Idle -d "$W/dumped"
	same "$name: dump works" "0 CAFEBABE" "$rc $(xxd -p -u -l 4 "$W/dumped/Idle.class")"
	jt heapdump "$JVM_PID" --force "$W/x.hprof"
	same "$name: heapdump works" "0 JAVA PROFILE" "$rc $(head -c 12 "$W/x.hprof")"
	check "$name: no file remains" poll 30 nothing_left "${jdk_root[$version]}" "$JVM_PID" "$uid" \
		"${IW#/}"
	unharmed "$name"
	stop "$JVM_PID"
}

for version in "${jdks[@]}"; do
	start 0 "$docker" || continue
	limited "$version: root with Docker's capabilities" 0
	is_thorough "$version" || continue
	start 0 -all || continue
	limited "$version: root without capabilities" 0
	start 5 "$docker" || continue
	limited "$version: another user" 5
done
