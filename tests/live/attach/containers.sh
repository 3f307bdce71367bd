#!/usr/bin/env bash
# Containers, as unshare, chroot, pivot_root and user namespaces make them: list sees the JVM,
# jcmd reaches it, heaphisto's agent gets in, its heap comes out, and nothing is left; from root
# and from the unprivileged owner.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

box=$live_dir/box
owner=4321   # an unprivileged user here
mapped=70000 # what uid 1000 inside is out here
for uid in 0 $owner $mapped 1000 1234; do
	mkdir "$W/cwd.$uid"
	chown "$uid:$uid" "$W/cwd.$uid"
done
mkdir -m 1777 "$W/dumps"
cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
mv "$W/loadee.so" "/tmp/loadee-$$.so"
litter+=("/tmp/loadee-$$.so")

# java_below PID: the first java among it and its descendants.
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

# java_of VERSION: the words that start a victim in a box.
java_of() {
	java=("${jdk_home[$1]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle)
}

# dumped NAME NSPID: a heap dump out of it, whole, and the caller's.
dumped() {
	works "$1: heapdump" heapdump "$JVM_PID" dumps/d
	same "$1: it is the caller's" "600 ${JT_AS:-0} 1" "$(stat -c '%a %u %h' "$W/dumps/d")"
	check "$1: it can be parsed" python3 "$live_dir/hprof.py" "$W/dumps/d" Idle
	rm -f "$W/dumps/d"
	same "$1: heapdump left nothing" "" "$(find "/proc/$JVM_PID/root/"{tmp,var/tmp,dev/shm,run} \
		-maxdepth 1 -name ".jtool-*-$2-*" -cmin -1)"
}

# visit NAME NSPID [AGENT]: everything works on the JVM in the container spawned last.  AGENT is
# what heaphisto's exit code should be, when not 0.
visit() {
	local name=$1 nspid=$2 init=$JVM_PID where

	await_ready || return
	if ! JVM_PID=$(java_below "$init"); then
		fail "$name: a java in the container"
		return
	fi
	where="[v for v in j['jvms'] if v['pid'] == $JVM_PID][0]"
	jt list --json
	same "$name: listed" "Idle ${nspid/own/$JVM_PID}" \
		"$(json "'{main} {nspid}'.format(**$where)")"
	prints "$name: jcmd, cold" 'VM|JDK' jcmd "$JVM_PID" VM.version
	prints "$name: jcmd, warm" 'VM|JDK' jcmd "$JVM_PID" VM.version
	if [ -z "${3:-}" ]; then
		works "$name: heaphisto" heaphisto --json "$JVM_PID"
		same "$name: it counted" True "$(json "j['total']['instances'] > 1000")"
		if [ -z "${JT_AS:-}" ]; then
			jt load "$JVM_PID" "/tmp/loadee-$$.so" 0
			same "$name: load, a library that it does not have" 0 "$rc"
			refuses 1 5 "$name: load, and its answer" \
				load "$JVM_PID" "/tmp/loadee-$$.so" 5
		fi
	else
		refuses "$3" '/tmp.*noexec' "$name: heaphisto says what it tried" \
			heaphisto "$JVM_PID"
		prints "$name: heaphisto --vm needs no place" java.lang.String \
			heaphisto --vm "$JVM_PID"
		jt retained --json "$JVM_PID"
		same "$name: retained takes another way" 0 "$rc"
		check "$name: and says why" grep -q 'noexec.*--engine hprof' "$W/err"
	fi
	works "$name: retained by its own dump" retained --json --engine hprof "$JVM_PID"
	same "$name: as much is alive" True "$(json "j['total']['instances'] > 1000")"
	dumped "$name" "${nspid/own/$JVM_PID}"
	unharmed "$name"
	stop "$init" "$JVM_PID"
}

# A user namespace made by $owner, with its uids 0 and 1000 mapped.
rootless() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	spawn setpriv --reuid=$owner --regid=$owner --clear-groups unshare -U bash -c '
		until [ "$(id -u)" = 0 ]; do sleep 0.02; done
		exec "$@"' wait-for-map unshare -m -p -f --kill-child "$@"
	poll 10 map_ids "$JVM_PID" || fail "a user namespace"
}

# One write(2) each, as the kernel wants it.
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
	visit "$version: chroot in pid and mount namespaces" "$NEXT_PID"
	unset NEXT_PID

	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 1000 "$IW/cwd.1000" rw \
		"${java[@]}"
	visit "$version: pid 1, pivot_root, own net, uid 1000" 1
	export JT_AS=$owner
	rootless "$box" chroot "$root" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
	visit "$version: rootless, its uid 1000, from owner" 1
	unset JT_AS
	is_thorough "$version" || continue

	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 0 "$IW/cwd.0" rw "${java[@]}"
	visit "$version: pid 1, pivot_root, own net" 1
	spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 0 "$IW/cwd.0" noexec \
		"${java[@]}"
	visit "$version: noexec /tmp" 1

	READONLY=1 spawn unshare -p -f -m -n --kill-child "$box" pivot "$root" 1000 "$IW/cwd.1000" \
		size=192m "${java[@]}"
	visit "$version: read-only root" 1

	spawn unshare -m "$box" chroot "$root" 0 "$IW/cwd.0" rw "${java[@]}"
	visit "$version: own /tmp and root, same pids" own
	spawn unshare -m "$box" pivot "$root" 1234 "$IW/cwd.1234" rw "${java[@]}"
	visit "$version: own /tmp and root, same pids, other uid" own

	for as in root owner; do
		[ $as = root ] || export JT_AS=$owner
		rootless "$box" chroot "$root" 0 "$IW/cwd.$owner" rw "${java[@]}"
		visit "$version: rootless, its root, from $as" 1
		unset JT_AS
	done
	rootless "$box" chroot "$root" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
	visit "$version: rootless, its uid 1000, from root" 1
done

# Nowhere to put an agent: every directory that jtool would try is noexec.
version=$(newest_of "${jdks[@]}")
java_of "$version"
export NOEXEC="var/tmp dev/shm run root home"
spawn unshare -p -f -m -n --kill-child "$box" pivot "${jdk_root[$version]}" 0 "$IW/cwd.0" noexec \
	"${java[@]}"
unset NOEXEC
visit "$version: noexec everywhere" 1 6

# The machine's own JVM with a /tmp of its own, as systemd's PrivateTmp= gives one.
# shellcheck disable=SC2016 # expanded by the inner shell
spawn unshare -m bash -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' private-tmp \
	java -Xmx64m -cp "$W/classes" Idle
visit "own: PrivateTmp" own
