#!/usr/bin/env bash
# Containers built with unshare, chroot, pivot_root and user namespaces: list shows the JVM, jcmd
# reaches it, heaphisto's agent is loaded, its heap is dumped, and no file remains. Each is tested
# as root and as the unprivileged owner.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

box=$live_dir/box
owner=4321   # an unprivileged user on the host
mapped=70000 # the uid on the host of uid 1000 in the container
for uid in 0 $owner $mapped 1000 1234; do
	mkdir "$W/cwd.$uid"
	chown "$uid:$uid" "$W/cwd.$uid"
done
mkdir -m 1777 "$W/dumps"
cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
mv "$W/loadee.so" "/tmp/loadee-$$.so"
to_remove+=("/tmp/loadee-$$.so")

# java_below PID: the first java process among PID and its descendants.
java_below() {
	local child

	if [ "$(cat "/proc/$1/comm")" = java ]; then
		echo "$1"
		return
	fi
	while read -r -d ' ' child; do
		java_below "$child" && return
	done < <(cat "/proc/$1/task/"*/children)
	return 1
}

# java_of VERSION: sets `java` to the command that starts a victim in a box.
java_of() {
	java=("${jdk_home[$1]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle)
}

# dumped NAME NSPID: heapdump writes a complete dump of the JVM that the caller owns.
dumped() {
	works "$1: heapdump" heapdump "$JVM_PID" dumps/d
	same "$1: heapdump: the caller owns the file" "600 ${JT_AS:-0} 1" \
		"$(stat -c '%a %u %h' "$W/dumps/d")"
	check "$1: heapdump: the file can be parsed" python3 "$live_dir/hprof/hprof.py" \
		"$W/dumps/d" Idle
	rm -f "$W/dumps/d"
	same "$1: heapdump: no file remains" "" \
		"$(find "/proc/$JVM_PID/root/"{tmp,var/tmp,dev/shm,run} \
		-maxdepth 1 -name ".jtool-*-$2-*" -cmin -1)"
}

# check_container NAME NSPID [CODE]: all commands work on the JVM in the container that was spawned
# last. CODE is the exit code of heaphisto --engine agent, if not 0.
check_container() {
	local name=$1 nspid=$2 init=$JVM_PID where

	await_ready || return
	if ! JVM_PID=$(java_below "$init"); then
		fail "$name: a java process runs in the container"
		return
	fi
	where="[v for v in j['jvms'] if v['pid'] == $JVM_PID][0]"
	jt list --json
	same "$name: list: main class and inner PID" "Idle ${nspid/own/$JVM_PID}" \
		"$(json "'{main} {nspid}'.format(**$where)")"
	prints "$name: jcmd: the first attach works" 'VM|JDK' jcmd "$JVM_PID" VM.version
	prints "$name: jcmd: the second attach works" 'VM|JDK' jcmd "$JVM_PID" VM.version
	if [ -z "${3:-}" ]; then
		works "$name: heaphisto: it works" heaphisto --json "$JVM_PID"
		same "$name: heaphisto: it counts over 1000 objects" \
			True "$(json "j['total']['instances'] > 1000")"
		if [ -z "${JT_AS:-}" ]; then
			jt load "$JVM_PID" "/tmp/loadee-$$.so" 0
			same "$name: load: a library outside the container" 0 "$rc"
			refuses 1 5 "$name: load: the library's return code is reported" \
				load "$JVM_PID" "/tmp/loadee-$$.so" 5
		fi
	else
		refuses "$3" '/tmp.*noexec' \
			"$name: heaphisto --engine agent: the error names the noexec directories" \
			heaphisto --engine agent "$JVM_PID"
		jt heaphisto --json "$JVM_PID"
		same "$name: heaphisto: it uses another engine" 0 "$rc"
		check "$name: heaphisto: the message says why" grep -q 'noexec.*--vm' "$W/err"
		prints "$name: heaphisto --vm: it needs no directory" java.lang.String \
			heaphisto --vm "$JVM_PID"
		jt retained --json "$JVM_PID"
		same "$name: retained: it uses another engine" 0 "$rc"
		check "$name: retained: the message says why" grep -q 'noexec.*--engine hprof' \
			"$W/err"
	fi
	works "$name: retained --engine hprof: it works" retained --json --engine hprof "$JVM_PID"
	same "$name: retained --engine hprof: over 1000 objects" \
		True "$(json "j['total']['instances'] > 1000")"
	dumped "$name" "${nspid/own/$JVM_PID}"
	unharmed "$name"
	stop "$init" "$JVM_PID"
}

# rootless COMMAND...: runs it in a user namespace of $owner that maps the uids 0 and 1000.
rootless() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	spawn setpriv --reuid=$owner --regid=$owner --clear-groups unshare -U bash -c '
		until [ "$(id -u)" = 0 ]; do sleep 0.02; done
		exec "$@"' wait-for-map unshare -m -p -f --kill-child "$@"
	poll 10 map_ids "$JVM_PID" || fail "user namespace: its ids are mapped"
}

# The kernel requires one write(2) for each map.
map_ids() {
	[ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ] &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/gid_map" &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/uid_map"
}

for version in "${jdks[@]}"; do
	root=${jdk_root[$version]}
	java_of "$version"

	NEXT_PID=$((20000 + RANDOM % 10000))
	export NEXT_PID
	spawn unshare -p -f -m --kill-child "$box" chroot "$root" 0 "$IW/cwd.0" - "${java[@]}"
	check_container "$version: chroot in PID and mount namespaces" "$NEXT_PID"
	unset NEXT_PID

	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 1000 "$IW/cwd.1000" rw \
		"${java[@]}"
	check_container "$version: PID 1, pivot_root, own network, uid 1000" 1
	export JT_AS=$owner
	rootless "$box" chroot "$root" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
	check_container "$version: rootless, uid 1000, as the owner" 1
	unset JT_AS
	is_thorough "$version" || continue

	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 0 "$IW/cwd.0" rw "${java[@]}"
	check_container "$version: PID 1, pivot_root, own network" 1
	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 0 "$IW/cwd.0" noexec \
		"${java[@]}"
	check_container "$version: noexec /tmp" 1

	READONLY=1 spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 1000 "$IW/cwd.1000" \
		size=192m "${java[@]}"
	check_container "$version: read-only root" 1

	spawn unshare -m "$box" chroot "$root" 0 "$IW/cwd.0" rw "${java[@]}"
	check_container "$version: own /tmp and root, same PIDs" own
	spawn unshare -m "$box" pivot "$root" 1234 "$IW/cwd.1234" rw "${java[@]}"
	check_container "$version: own /tmp and root, same PIDs, another uid" own

	for as in root owner; do
		[ $as = root ] || export JT_AS=$owner
		rootless "$box" chroot "$root" 0 "$IW/cwd.$owner" rw "${java[@]}"
		check_container "$version: rootless, uid 0, as $as" 1
		unset JT_AS
	done
	rootless "$box" chroot "$root" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
	check_container "$version: rootless, uid 1000, as root" 1
done

# No directory for an agent: every one that jtool tries is mounted noexec.
version=$(newest_of "${jdks[@]}")
java_of "$version"
export NOEXEC="var/tmp dev/shm run root home"
spawn unshare -p -f -m -n --kill-child "$box" pivot "${jdk_root[$version]}" 0 "$IW/cwd.0" noexec \
	"${java[@]}"
unset NOEXEC
check_container "$version: noexec everywhere" 1 6

# The machine's own JVM with a private /tmp, like systemd's PrivateTmp=.
# shellcheck disable=SC2016 # expanded by the inner shell
spawn unshare -m bash -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' private-tmp \
	java -Xmx64m -cp "$W/classes" Idle
check_container "own: PrivateTmp" own

# The /proc of another pid namespace: the pid of the JVM there is that of another process here, which
# the signal would end.
spawn sleep infinity
bystander=$JVM_PID
# shellcheck disable=SC2016 # expanded by the inner shell
spawn unshare -p -f -m --mount-proc --kill-child bash -c '
	echo $(($0 - 1)) >/proc/sys/kernel/ns_last_pid
	java "$@"
	exit' "$bystander" -Xmx64m -XX:+UseSerialGC -cp "$W/classes" Idle
init=$JVM_PID
await_ready
JVM_PID=$(java_below "$init")
# without_pids ARGUMENT...: like jt, in the JVM's mount namespace, but not in its pid namespace.
without_pids() {
	rc=0
	timeout -k 1 60 nsenter -t "$JVM_PID" -m "--wd=$W" ./jtool "$@" \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
}
for command in "jcmd $bystander VM.version" "heaphisto --engine agent $bystander"; do
	# shellcheck disable=SC2086 # words
	without_pids $command
	same "inner /proc: ${command%% *} is refused" "4 1" \
		"$rc $(grep -c '^jtool: .*/proc belongs to another pid namespace' "$W/err")"
done
check "inner /proc: no signal is sent to the process that has the pid here" alive "$bystander"
without_pids list -q
same "inner /proc: list: it shows the JVM" "0 $bystander" "$rc $(tr -d ' ' <"$W/out")"
rc=0
(cd "$W" && exec timeout -k 1 60 unshare -p -f --kill-child ./jtool jcmd "$JVM_PID" VM.version) \
	>"$W/out" 2>"$W/err" </dev/null || rc=$?
same "outer /proc: jcmd is refused" "4 1" \
	"$rc $(grep -c '^jtool: .*/proc belongs to another pid namespace' "$W/err")"
unharmed "inner and outer /proc"
stop "$init" "$JVM_PID" "$bystander"
