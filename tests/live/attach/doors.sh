#!/usr/bin/env bash
# Access to JVMs with the capability sets of container runtimes, in the JVM's mount namespace and in
# another one, as root, as the JVM's user and as a stranger. jtool works wherever jattach or the
# JDK's jcmd works; elsewhere its message says what is missing.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

box=$live_dir/box
owner=5 # games: HotSpot publishes counters only for users in /etc/passwd
stranger=1001
mkdir "$W/cwd"
chmod 777 "$W/cwd"
if ! command -v jattach >/dev/null; then
	skip "doors: beside jattach" "jattach is not installed"
fi

# sets NAME: the capabilities that remain; containerd's default is Docker's.
sets() {
	local set

	case $1 in
	docker) set="chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service
		net_raw sys_chroot mknod audit_write setfcap" ;;
	podman) set="chown dac_override fowner fsetid kill net_bind_service setfcap setgid setpcap
		setuid sys_chroot" ;;
	runc) set="audit_write kill net_bind_service" ;;
	ids) set="setuid setgid" ;;
	ptrace) set=sys_ptrace ;;
	none) set= ;;
	esac
	printf %s -all
	# shellcheck disable=SC2086 # one word for each
	[ -z "$set" ] || printf ',+%s' $set
}

# as UID SET COMMAND...: runs it with these ids, no groups and this bounding set, and with the root
# directory of the array `within`.
within=()
as() {
	local uid=$1 set

	set=$(sets "$2")
	shift 2
	"${within[@]}" setpriv "--reuid=$uid" "--regid=$uid" --clear-groups --bounding-set "$set" --inh-caps -all \
		"$@"
}

# limited UID SET ARGUMENT...: like jt.
limited() {
	local uid=$1 set=$2 jtool=$W/jtool

	shift 2
	rc=0
	[ ${#within[@]} -eq 0 ] || jtool=$IW/jtool
	(cd "$W/cwd" && as "$uid" "$set" timeout -k 1 60 "$jtool" "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
}

# attach_of PID: VERSION and ATTACH in the last run's list.
attach_of() {
	json "[(v['version'] is not None, v['attach']) for v in j['jvms'] if v['pid'] == $1][0]"
}

# others_serve UID SET PID VERSION WHERE: jattach reaches the JVM, or the JDK's jcmd does, which is
# tried only if WHERE is `here`.
others_serve() {
	local uid=$1 set

	set=$(sets "$2")
	as "$1" "$2" timeout 20 jattach "$3" jcmd VM.version >"$W/other" 2>&1 && return
	[ "$5" = here ] && chroot "${jdk_root[$4]}" setpriv "--reuid=$uid" "--regid=$uid" \
		--clear-groups --bounding-set "$set" --inh-caps -all timeout 20 \
		"${jdk_home[$4]}/bin/jcmd" "$3" VM.version >"$W/other" 2>&1
}

# served NAME UID SET PID: every kind of command works: list, an attach, and the agent.
served() {
	limited "$2" "$3" list --json
	same "$1: list: it has a version and can be attached to" "(True, 'ready')" \
		"$(attach_of "$4" | sed "s/'listening'/'ready'/")"
	limited "$2" "$3" jcmd "$4" VM.version
	same "$1: jcmd" "0 " "$rc $(cat "$W/err")"
	limited "$2" "$3" list --json
	same "$1: list: the JVM listens now" "(True, 'listening')" "$(attach_of "$4")"
	limited "$2" "$3" heaphisto "$4"
	same "$1: heaphisto: the agent works" "0 " "$rc $(cat "$W/err")"
	limited "$2" "$3" info "$4"
	same "$1: info" "0 " "$rc $(cat "$W/err")"
}

# refused NAME UID SET PID PATTERN: exit code 4, and a message like PATTERN.
refused() {
	limited "$2" "$3" list --json
	same "$1: list: denied" "(False, 'denied')" "$(attach_of "$4")"
	limited "$2" "$3" jcmd "$4" VM.version
	same "$1: jcmd: exit code 4" 4 "$rc"
	check "$1: jcmd: the message says why" grep -q -E -e "$5" "$W/err"
	[ "$2" -ne 0 ] || same "$1: jcmd: root is not told to be root" "" \
		"$(grep 'as root' "$W/err")"
}

# attaches NAME UID SET PID: commands that need no agent work, heaphisto and retained use another
# engine, and `classes` is refused.
attaches() {
	local command

	limited "$2" "$3" list --json
	same "$1: list: it has a version and can be attached to" "(True, 'ready')" \
		"$(attach_of "$4" | sed "s/'listening'/'ready'/")"
	for command in "jcmd $4 VM.version" "info $4" "stat $4" "threads $4" "heaphisto --vm $4" \
		"heapdump --force $4 dump"; do
		# shellcheck disable=SC2086 # words
		limited "$2" "$3" $command
		same "$1: ${command%% *}" "0 " "$rc $(cat "$W/err")"
	done
	rm -f "$W/cwd/dump"
	for command in heaphisto retained; do
		limited "$2" "$3" $command "$4"
		same "$1: $command: another engine" "0 1" \
			"$rc $(grep -c 'does not show which libraries .*instead' "$W/err")"
	done
	limited "$2" "$3" classes "$4"
	same "$1: classes: the agent is not loaded" "6 1" \
		"$rc $(grep -c 'does not show which libraries .*add SYS_PTRACE' "$W/err")"
}

# cell UID SET PATTERN [WHERE]: checks the JVM that was started last. PATTERN - means that it is
# served. WHERE - omits the JDK's jcmd, which assumes that it shares /tmp with the JVM.
cell() {
	local name="$target: as $1 with $2"

	if [ "$3" = - ]; then
		served "$name" "$1" "$2" "$java_pid"
		return
	fi
	refused "$name" "$1" "$2" "$java_pid" "$3"
	if others_serve "$1" "$2" "$java_pid" "$version" "${4:-$where}"; then
		fail "$name: no other tool serves better" "$(cat "$W/other")"
	else
		pass "$name: no other tool serves better"
	fi
}

# start WHERE UID SET: a JVM with these ids and capabilities, in our mount namespace or in its own.
start() {
	local java=(setpriv "--reuid=$2" "--regid=$2" --clear-groups --bounding-set "$(sets "$3")"
		--inh-caps -all "${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC
		-cp "$IW/classes" Idle)

	where=$1
	target="$version: $1, of $2"
	if [ "$where" = here ]; then
		spawn chroot "${jdk_root[$version]}" env -C "$IW/cwd" "${java[@]}"
	else
		spawn unshare -m "$box" pivot "${jdk_root[$version]}" 0 "$IW/cwd" rw "${java[@]}"
	fi
	java_pid=$JVM_PID
	await_ready
}

for version in "${jdks[@]}"; do
	for where in here elsewhere; do
		# A new JVM for each set that has access: the first attach differs from later ones.
		# The other sets follow `unharmed`: their jattach makes JDK 8 print a thread dump.
		start "$where" $owner docker || continue
		cell 0 docker -
		unharmed "$target"
		denied="belongs to user .*CAP_SYS_PTRACE.*$owner:$owner.*kubectl debug --profile="
		cell 0 runc "$denied"
		cell 0 none "$denied"
		cell $stranger docker 'belongs to user .* run jtool as that user or as root'
		stop "$java_pid"
		is_thorough "$version" || continue
		start "$where" $owner docker || continue
		cell 0 ids -
		stop "$java_pid"
		start "$where" $owner docker || continue
		cell $owner none -
		cell 0 podman -
		limited 0 ptrace jcmd "$java_pid" VM.version
		same "$target: as 0 with ptrace: jcmd: exit code 4" 4 "$rc"
		check "$target: as 0 with ptrace: jcmd: the message names the capabilities" \
			grep -q 'CAP_SETUID and CAP_SETGID.*kubectl debug' "$W/err"
		unharmed "$target, again"
		stop "$java_pid"
		start "$where" 0 docker || continue
		if [ "$where" = here ]; then
			# In the JVM's root directory, where the JDK's jcmd works, too.
			within=(chroot "${jdk_root[$version]}")
			attaches "$target: as 0 with none, with its root" 0 none "$java_pid"
			within=()
			unharmed "$target: as 0 with none, with its root"
		fi
		cell 0 docker -
		cell 0 none 'has capabilities that jtool lacks.*CAP_SYS_PTRACE.*kubectl debug' -
		cell $owner docker 'belongs to user root'
		stop "$java_pid"
		start "$where" 0 none || continue
		cell 0 none -
		unharmed "$target"
		stop "$java_pid"
	done
done
