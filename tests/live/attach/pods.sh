#!/usr/bin/env bash
# Containers of podman and runc, rootful and rootless: jtool on the host, inside the container, in a
# sidecar and in a pod, compared with jattach. jtool works wherever jattach does; elsewhere its
# message says what is missing. Afterwards the container and the machine are as before.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh

# In a mount namespace of its own: podman's mounts and the added user exist only here.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../lib.sh"

cgroup=/jtool-pods-$$
app=1000 # the JVM's uid in most containers

# Not in $W, whose path is too long for the sockets of podman.
D=$(mktemp -d /var/tmp/jtool-pods.XXXXXX)
to_remove+=("$D")
chmod 755 "$D"
# shellcheck source=attach/podman.sh
. "$(dirname "$0")/podman.sh"

# The folder that the containers see as /srv.
tools=$D/tools
mkdir -p "$tools/lib"
cp "$live_dir/attach/probe" "$W/classes/Idle.class" "$tools"
cp "$JTOOL" "$tools/jtool"
cp -r "$W/classes" "$tools"
chmod 755 "$tools/jtool"
# All libraries except the C library: the container has a newer one.
ldd "$JTOOL" | awk '$3 ~ "^/" && $1 !~ "^(libc|libm|libdl|libpthread|librt)\\.so" { print $3 }' |
	xargs -r cp -t "$tools/lib"
if command -v jattach >/dev/null; then
	cp "$(command -v jattach)" "$tools"
	beside=jattach
else
	skip "beside jattach" "jattach is not installed"
	beside=
fi

image=localhost/jdks

# The options that all containers have.
common=(--log-driver none -v "$matrix/usr:/usr:ro" -v "$tools:/srv:ro")

# why_not OPTION...: prints why a container with these options cannot run here; nothing if it can.
why_not() {
	local text

	text=$(pod run --rm "${in_cgroup[@]}" "${common[@]}" "$@" $image /bin/true 2>&1) ||
		echo "${text:-it fails without a message}" | tail -n 1 | cut -c -200
}

# JVMs.

# start NAME OPTION...: starts the JVM of $version in a container with these options. Sets JVM_PID,
# nspid, and the values for of_jtool.
start() {
	local name=$1

	shift
	where="$version: $flavour: $name"
	spawn "${engine[@]}" run -i --name jvm "${in_cgroup[@]}" "${common[@]}" "$@" $image \
		"${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -XX:ErrorFile=/dev/null \
		-cp /srv/classes Idle
	client=$JVM_PID
	if ! await_ready 60; then
		pod rm -f -t 0 jvm >/dev/null 2>&1
		return 1
	fi
	JVM_PID=$(pod inspect -f '{{.State.Pid}}' jvm)
	started_jvm
}

started_jvm() {
	track "$JVM_PID"
	nspid=$(awk '/^NSpid/ { print $NF }' "/proc/$JVM_PID/status")
	threads=$(own_threads)
	sockets=$(($(socket_count) + 1)) # the attach socket
	others=()
}

# own_threads: how many threads the JVM has without those that it starts for attach, the Flight
# Recorder, the JIT compilers and notifications.
own_threads() {
	cat "/proc/$JVM_PID/task"/*/comm |
		grep -c -v -E '^(Attach Listener|JFR |C[12] Compiler|GC Thread|Notification)'
}

# socket_count: the number of the JVM's sockets without the Flight Recorder's.
socket_count() {
	echo $(($(find "/proc/$JVM_PID/fd" -lname 'socket:*' | wc -l) -
		$(grep -l '^JFR Recorder' "/proc/$JVM_PID/task"/*/comm | wc -l)))
}

# of_jtool: processes of jtool in the JVM's pid namespace or with its root, threads of jtool's agent
# in the JVM, and files of jtool.
of_jtool() {
	local dir

	for dir in tmp var/tmp dev/shm run srv; do
		find "/proc/$JVM_PID/root/$dir" -maxdepth 1 \( -name ".attach_pid$nspid" \
			-o -name ".jtool-*-$nspid" -o -name ".jtool-*-$nspid-*" \) 2>/dev/null
	done
	grep -s -l -i jtool "/proc/$JVM_PID/task"/*/comm
	for dir in /proc/[0-9]*; do
		[ "$(cat "$dir/comm" 2>/dev/null)" = jtool ] &&
			[ "$(readlink "$dir/root")" = "$(readlink "/proc/$JVM_PID/root")" ] &&
			[ "$dir/ns/mnt" -ef "/proc/$JVM_PID/ns/mnt" ] && echo "$dir"
	done
	[ "$(own_threads)" -le "$threads" ] || cat "/proc/$JVM_PID/task"/*/comm
	[ "$(socket_count)" -le "$sockets" ] || ls -l "/proc/$JVM_PID/fd"
}

no_trace() {
	[ -z "$(of_jtool)" ]
}

# untouched: the JVM has no trace of jtool. Only then checks that jattach does not work either where
# jtool was refused: its trigger file of the wrong user makes the JVM print a thread dump.
untouched() {
	local other

	unharmed "$where"
	poll 20 no_trace
	same "$where: no file, thread, socket or process of jtool remains" "" "$(of_jtool)"
	[ -n "$beside" ] || return
	for other in "${others[@]}"; do
		eval "jattach_refuses $other"
	done
}

quietly_removes() {
	pod rm -f -t 0 "$1" >/dev/null 2>"$W/err"
}

# end_jvm: the JVM has no trace of jtool, and the container is removed.
end_jvm() {
	untouched
	# A process that was started meanwhile with a mount namespace of its own holds the mounts.
	poll 60 quietly_removes jvm || fail "$where: the container is removed" "$(cat "$W/err")"
	stop "$client" "$JVM_PID"
}

# Callers: each runs probe with the arguments PID COMMAND...; the JVM's pid is as the caller sees it.

on_host() {
	"$tools/probe" "$JVM_PID" "$@"
}

as_owner() {
	setpriv "--reuid=$user_id" "--regid=$user_id" --init-groups "$tools/probe" "$JVM_PID" "$@"
}

in_unshare() {
	pod unshare "$tools/probe" "$JVM_PID" "$@"
}

# inside USER [OPTION...] -- COMMAND...
inside() {
	local options=(--user "$1")

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	pod exec "${options[@]}" jvm /srv/probe "$nspid" "$@"
}

# sidecar [OPTION...] -- COMMAND...
sidecar() {
	local options=(--pid=container:jvm) pid=$nspid

	while [ "$1" != -- ]; do
		[ "$1" != --pid=host ] || pid=$JVM_PID
		[ "$1" != --pod=jtool ] || options=()
		options+=("$1")
		shift
	done
	shift
	pod run --rm "${in_cgroup[@]}" "${common[@]}" "${options[@]}" $image /srv/probe "$pid" "$@"
}

short=(list jcmd agent)
long=("${short[@]}" info class heaphisto retained heapdump dump redefine restore detach)

# result COMMAND: the line that `probe` last printed for this command.
result() {
	sed -n "s/^$1 //p" "$W/cell"
}

declare -A wanted=([list]='^0 [0-9][^ ]* +(ready|listening)$' [jcmd]='^0 .*(JDK|VM)'
	[agent]='^0 .*java\.lang\.String' [heaphisto]='^0 .*java\.lang\.String' [info]='^0 .*Attach'
	[class]='^0 .*Idle' [retained]='^0 .*java\.lang' [heapdump]='^0 [0-9]{6}' [dump]='^0 '
	[jfr]='^0 [0-9]{5}' [redefine]='^0 .*replaced' [restore]='^0 ' [detach]='^0 '
	[jattach]='^0 .*(JDK|VM)' [inspectheap]='^0 .*java\.lang\.String')

# serves NAME COMMANDS CALLER...: each command works.
serves() {
	local name="$where: $1" commands command got

	mapfile -t commands < <(tr ' ' '\n' <<<"$2")
	shift 2
	"$@" "${commands[@]}" $beside >"$W/cell" 2>"$W/err"
	for command in "${commands[@]}"; do
		got=$(result "$command")
		if grep -q -E -e "${wanted[$command]}" <<<"$got"; then
			pass "$name: $command"
		else
			fail "$name: $command" "wanted: ${wanted[$command]}" "got: $got" \
				"$(cat "$W/err")" "jattach: $(result jattach)"
		fi
	done
}

# refuses_cell NAME CODE PATTERN CALLER...: jcmd ends with this code and a message like PATTERN.
# untouched() then checks that jattach does not serve either.
refuses_cell() {
	local name="$where: $1" code=$2 pattern=$3 got

	shift 3
	others+=("$(printf '%q ' "$name" "$@")")
	"$@" list jcmd >"$W/cell" 2>"$W/err"
	got=$(result jcmd)
	if [[ $got == "$code jtool: "* ]] && grep -q -E -e "$pattern" <<<"$got"; then
		pass "$name: the message says what is missing"
	else
		fail "$name: the message says what is missing" "wanted: $code, /$pattern/" \
			"got: $got" "$(cat "$W/err")"
	fi
}

# jattach_refuses NAME CALLER...
jattach_refuses() {
	local name=$1

	shift
	"$@" jattach >"$W/cell" 2>"$W/err"
	check "$name: jattach does not serve" not_matched "${wanted[jattach]}" "$(result jattach)"
}

# tells NAME COMMAND CODE PATTERN CALLER...: the command ends with this code and such a message.
tells() {
	local name="$where: $1: $2" command=$2 code=$3 pattern=$4 got

	shift 4
	"$@" "$command" >"$W/cell" 2>"$W/err"
	got=$(result "$command")
	if [[ $got == "$code "*"jtool: "* ]] && grep -q -E -e "$pattern" <<<"$got"; then
		pass "$name: the message says why"
	else
		fail "$name: the message says why" "wanted: $code, /$pattern/" "got: $got"
	fi
}

not_matched() {
	! grep -q -E -e "$1" <<<"$2"
}

ways='kubectl debug --profile='

# Situations: containers, and callers that access their JVMs.

noexec=/tmp:rw,noexec,mode=1777
hardened=(--read-only --cap-drop ALL --security-opt no-new-privileges)
as_app=(--user "$app:$app")

check_root() {
	start "root" || return
	serves "from the host" "${long[*]}" on_host
	serves "inside" "${short[*]}" inside 0 --
	serves "sidecar, root" "${short[*]}" sidecar --
	refuses_cell "sidecar, root without capabilities" 4 "lacks.*CAP_SYS_PTRACE.*$ways" \
		sidecar --cap-drop ALL --
	refuses_cell "sidecar, uid $app" 4 'belongs to user root: run jtool as that user' \
		sidecar "${as_app[@]}" --
	end_jvm
}

check_app() {
	start "uid $app" "${as_app[@]}" || return
	serves "inside, exec --user 0" "${long[*]} jfr" inside 0 --
	serves "inside, same user" "${short[*]}" inside $app:$app --
	refuses_cell "inside, another group" 4 'runs with group 1000 .*run jtool with group 1000' inside $app:0 --
	serves "from the host" "${short[*]}" on_host
	serves "sidecar, root, pid namespace of the host" "${short[*]}" sidecar --pid=host --
	serves "sidecar, root with SYS_PTRACE" "${short[*]}" sidecar --cap-add SYS_PTRACE --
	serves "sidecar, same user" "${short[*]}" sidecar "${as_app[@]}" --
	refuses_cell "sidecar, another user" 4 "belongs to user" sidecar --user 1001:1001 --
	refuses_cell "sidecar, root without capabilities" 4 "CAP_SYS_PTRACE.*$app:$app.*$ways" \
		sidecar --cap-drop ALL --
	end_jvm

	# The first attach differs from later ones: here it is that of a sidecar.
	start "uid $app, first from a sidecar" "${as_app[@]}" || return
	serves "sidecar, root" "${long[*]}" sidecar --
	end_jvm
}

check_pod() {
	local text

	if ! text=$(pod pod create --name jtool "${in_cgroup[@]}" --share pid,ipc 2>&1); then
		skip "$version: $flavour: a pod" "$(tail -n 1 <<<"$text" | cut -c -200)"
		return
	fi
	if start "a pod, uid $app" --pod jtool "${as_app[@]}"; then
		serves "container of the pod, root" "${long[*]}" sidecar --pod=jtool --
		serves "container of the pod, same user" "${short[*]}" \
			sidecar --pod=jtool "${as_app[@]}" --
		end_jvm
	fi
	pod pod rm -f -t 0 jtool >/dev/null 2>"$W/err" ||
		fail "$version: $flavour: the pod is removed" "$(cat "$W/err")"
}

check_hardened() {
	start "uid $app, hardened" --tmpfs "$noexec" "${as_app[@]}" "${hardened[@]}" || return
	serves "inside" "${short[*]}" inside $app:$app --
	serves "from the host" "${short[*]}" on_host
	serves "sidecar, same user" "${short[*]}" sidecar "${as_app[@]}" "${hardened[@]}" --
	end_jvm
}

check_read_only() {
	local options=("${as_app[@]}" --read-only --read-only-tmpfs=false)

	start "uid $app, read-only but for /tmp without exec" --tmpfs "$noexec" "${options[@]}" || return
	serves "inside" "list jcmd heaphisto heapdump jfr retained inspectheap" \
		inside $app:$app --
	tells "inside" agent 6 '/tmp: mounted noexec.*make one of them writable for it and executable' inside $app:$app --
	serves "from the host" "list jcmd heaphisto heapdump" on_host
	end_jvm

	start "uid $app, nothing can be written" "${options[@]}" || return
	refuses_cell "inside" 5 'its user cannot write to /proc/[0-9]*/root/tmp: Read-only file system; make' inside $app:$app --
	refuses_cell "from the host" 5 'its user cannot write to /proc/[0-9]*/root/tmp: Read-only file system; make' on_host
	end_jvm
}

# with NAME OPTION...: in a container with these options, jtool works for root on the host and for
# the JVM's user inside. Skipped if the options do not work here.
with() {
	local name=$1 why

	shift
	why=$(why_not "$@")
	if [ -n "$why" ]; then
		skip "$version: $flavour: $name" "$why"
		return
	fi
	start "$name" "$@" || return
	serves "from the host" "${short[*]}" on_host
	serves "inside" "${short[*]}" inside "$(inner_user)" --
	end_jvm
}

# inner_user: UID:GID of the JVM as seen inside.
inner_user() {
	pod exec --user 0 jvm stat -c %u:%g "/proc/$nspid"
}

# top and memory report the container's limits.
check_limits() {
	local both='limits 0 "cpu_limit":0.5 "memory_limit":268435456 "limit":268435456 "exceeds":false'

	start "half a CPU, 256 MB" --cpus 0.5 --memory 256m || return
	same "$where: limits, from the host" "$both" "$(on_host limits)"
	same "$where: limits, inside" "$both" "$(inside "$(inner_user)" -- limits)"
	end_jvm
}

check_rootful() {
	check_root
	check_app
	check_pod
	check_hardened
	check_read_only
	with "uid 12345:0, not in passwd" --user 12345:0 --passwd=false
	with "root without capabilities" --cap-drop ALL
	check_limits
	with "128 MB" --memory 128m
	with "96 MB without swap" --memory 96m --memory-swap 96m
	with "privileged" --privileged
	with "userns=auto" --userns=auto
	with "uidmap, uid $app" --uidmap 0:500000:65536 --user $app:$app
}

check_rootless() {
	local name

	for name in root keep-id; do
		if [ $name = root ]; then
			start "root" || return
		else
			start "keep-id" --userns=keep-id || return
		fi
		serves "owner" "${short[*]}" as_owner
		serves "from the host" "${short[*]}" on_host
		serves "podman unshare" "${short[*]}" in_unshare
		serves "inside" "${short[*]}" inside "$(inner_user)" --
		[ $name = keep-id ] || serves "sidecar" "${short[*]}" sidecar --
		end_jvm
	done

	start "uid $app" "${as_app[@]}" || return
	# jattach fails: the JVM's user is not the owner but one of the owner's further ids.
	serves "owner" "${long[*]} jfr" as_owner
	serves "sidecar, root" "${short[*]}" sidecar --
	serves "from the host" "${short[*]}" on_host
	serves "podman unshare" "${short[*]}" in_unshare
	serves "inside" "${short[*]}" inside $app:$app --
	end_jvm
	check_hardened
	check_pod
}

# A bundle of runc, without podman.
check_bundle() {
	local bundle=$D/bundle text

	where="$version: runc bundle"
	mkdir -p "$bundle"
	rm -f "$bundle/config.json"
	runc spec --bundle "$bundle"
	python3 - "$bundle/config.json" "$rootfs" "$matrix/usr" "$tools" \
		"${jdk_home[$version]}/bin/java" "$cgroup" <<-'PYTHON'
		import json, sys
		path, root, usr, tools, java, cgroup = sys.argv[1:]
		spec = json.load(open(path))
		spec["root"] = {"path": root, "readonly": True}
		spec["linux"]["cgroupsPath"] = cgroup + "/bundle"
		spec["process"].update(terminal=False, rlimits=[], user={"uid": 1000, "gid": 1000},
			args=[java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", "/srv/classes", "Idle"])
		spec["mounts"] += [
			{"destination": to, "type": "bind", "source": source, "options": ["rbind", "ro"]}
			for to, source in (("/usr", usr), ("/srv", tools))] + [
			{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
			 "options": ["mode=1777"]}]
		json.dump(spec, open(path, "w"))
	PYTHON
	spawn runc --root "$D/runc" run --bundle "$bundle" "jtool-$$"
	client=$JVM_PID
	if poll 30 ready_or_gone && ! is_ready "$JVM_OUT"; then
		skip "$where" "$(tail -n 1 "$JVM_ERR" | cut -c -200)"
		return
	fi
	await_ready || return
	JVM_PID=$(runc --root "$D/runc" state "jtool-$$" | sed -n 's/^ *"pid": \([0-9]*\),$/\1/p')
	started_jvm
	serves "from the host" "${long[*]}" on_host
	serves "inside, same user" "${short[*]}" \
		runc --root "$D/runc" exec --user $app:$app "jtool-$$" /srv/probe "$nspid"
	# Without CAP_SETUID and CAP_SETGID, which runc grants to nobody by default.
	refuses_cell "inside, root" 4 "lacks CAP_SYS_PTRACE as well.*$app:$app.*$ways" \
		runc --root "$D/runc" exec --user 0:0 "jtool-$$" /srv/probe "$nspid"
	untouched
	runc --root "$D/runc" delete --force "jtool-$$" || fail "$where: it is removed"
	stop "$client" "$JVM_PID"
}

# jtool as an image with nothing else.
check_image() {
	local name="$version: $flavour: image of jtool" command

	if [ -z "${JTOOL_STATIC:-}" ]; then
		skip "$name" "JTOOL_STATIC is not set: run scripts/static, and set it to the binary"
		return
	fi
	if ! pod build -q --timestamp 0 -f "$top_srcdir/Containerfile" -t localhost/jtool \
		"$(dirname "$JTOOL_STATIC")" >"$W/out" 2>&1; then
		fail "$name: it can be built" "$(cat "$W/out")"
		return
	fi
	start "image of jtool, uid $app" "${as_app[@]}" || return
	for command in "list" "jcmd $nspid VM.version" "heaphisto $nspid" "heapdump $nspid -"; do
		# shellcheck disable=SC2086 # split into words
		pod run --rm --pid container:jvm localhost/jtool $command >"$W/out" 2>"$W/err"
		same "$name: ${command%% *}" "0 " "$? $(cat "$W/err")"
		case $command in
		list) grep -q -E ' (ready|listening) +Idle' "$W/out" || fail "$name: list: it shows the JVM" \
			"$(cat "$W/out")" ;;
		jcmd*) check "$name: jcmd: it prints the version" grep -q -E 'JDK|VM' "$W/out" ;;
		heaphisto*) check "$name: heaphisto: it counts" grep -q java.lang.String "$W/out" ;;
		heapdump*) check "$name: heapdump: it can be parsed" \
			python3 "$live_dir/hprof/hprof.py" "$W/out" Idle ;;
		esac
	done
	end_jvm
}

# The machine.

accounts=(/etc/passwd /etc/group /etc/subuid /etc/subgid)
of_users() {
	cat "${accounts[@]}" 2>/dev/null | sha256sum
}

# control_groups: those of containers on this machine; other themes that run now have containers, too.
control_groups() {
	find /sys/fs/cgroup -maxdepth 4 \( -name 'libpod-*' -o -name 'jtool-pods*' \) | sort
}

# idle_groups: the control groups that were not there at the start and have no process.
idle_groups() {
	local group

	comm -13 <(echo "$groups") <(control_groups) | while read -r group; do
		! [ -e "$group/cgroup.procs" ] || grep -q . "$group/cgroup.procs" || echo "$group"
	done
}

no_idle_group() {
	[ -z "$(idle_groups)" ]
}

# remains: mounts and processes of our containers.
remains() {
	local dir text

	grep -F "$D/" /proc/self/mounts | grep -v -F "$D/etc/"
	for dir in /proc/[0-9]*; do
		text=$(tr '\0' ' ' 2>/dev/null <"$dir/cmdline")
		[[ $text != *"$D/"* ]] || killed_but_blocked "${dir##*/}" || echo "${dir##*/} $text"
	done
}

nothing_remains() {
	[ -z "$(remains)" ]
}

# end_engine: removes all containers of the engine, also after a failure.
end_engine() {
	pod pod rm -f -a -t 0 >/dev/null 2>&1
	pod rm -f -a -t 0 >/dev/null 2>&1
	[ "$flavour" = rootful ] || pod system migrate >/dev/null 2>&1 # ends its namespaces
}

# our_cgroups: the control groups of our containers' monitors, which the engines leave.
our_cgroups() {
	find /sys/fs/cgroup -depth -type d -path "*$cgroup*"
	[ -n "$parents" ] || find /sys/fs/cgroup -depth -type d -path '*/libpod_parent*'
}

# end_cgroups: removes these groups; fails as long as one has a process.
end_cgroups() {
	our_cgroups | xargs -r rmdir 2>/dev/null
	[ -z "$(our_cgroups)" ]
}

end_engines() {
	for flavour in rootful rootless; do
		engine_of $flavour
		end_engine
	done
}

users=$(of_users)
groups=$(control_groups)
parents=$(find /sys/fs/cgroup -maxdepth 3 -name libpod_parent)
if ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip "podman and runc" "not installed: run scripts/apt-need containers"
	exit 0
fi
trap 'rc=$?; end_engines; poll 30 end_cgroups; (exit $rc); finish' EXIT
add_user
for flavour in rootful rootless; do
	engine_of $flavour
	thorough=17
	has_jdk 17 || thorough=${jdks[0]}
	version=$thorough
	why=$(pod import -q "$D/image.tar" $image 2>&1) && why=$(why_not)
	if [ -n "$why" ]; then
		skip "$flavour containers" "$why"
		continue
	fi
	check_$flavour
	if [ $flavour = rootful ]; then
		check_image
		for version in "${jdks[@]}"; do
			[ "$version" = "$thorough" ] || check_hardened
		done
		version=$thorough
		check_bundle
	fi
	end_engine
done

poll 30 nothing_remains
poll 30 end_cgroups
same "no mount or process of a container remains" "" "$(remains)"
for mount in "${mounts[@]}"; do
	umount "$mount"
done
mounts=()
same "users are as before" "$users" "$(of_users)"
check "no control group of a container remains" poll 30 no_idle_group
