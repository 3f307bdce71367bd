#!/usr/bin/env bash
# The command lines of docs/containers.md, and those of README.md about containers: each is run as it
# stands, in containers of Podman and runc, rootful and rootless; the init container and a sidecar
# with a shared pid namespace as a pod. kubectl is the stand-in of the theme `image`.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh

# In a mount namespace of its own, for what podman mounts and for the added user.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../lib.sh"

D=$(mktemp -d /var/tmp/jtool-docs.XXXXXX) # not in $W, whose path is too long for sockets
to_remove+=("$D")
chmod 755 "$D"
# shellcheck source=attach/podman.sh
. "$live_dir/attach/podman.sh"
if ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip "podman and runc" "not installed: run scripts/apt-need containers"
	exit
fi
if ldd "$JTOOL" 2>&1 | grep -q "=>"; then
	skip "the command lines" "this jtool is not static"
	exit
fi
"$top_srcdir/scripts/apt-need" image
version=$(newest_of 17 21 25)
java=${jdk_home[$version]}/bin/java

# lines: prints the command lines, one a line: the blocks of shell commands and the table in README.
lines() {
	awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
		"$top_srcdir/docs/containers.md"
	awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$top_srcdir/README.md" |
		grep -E '^(kubectl|podman|docker) '
	sed -n '/^## In containers/,/^## Is it safe/p' "$top_srcdir/README.md" |
		sed -nE 's/^\|[^|]*\| .((kubectl|podman|docker) [^`]*).*/\1/p'
}

# The directory in which the reader is, with what the lines name: a static jtool, the plugin, and the
# sources. `podman` and `docker` are the tested engine; `kubectl` the stand-in.
here=$D/here
mkdir -p "$here"/{bin,build-static,build-aarch64,packaging/image,scripts}
install -m 755 "$JTOOL" "$here/jtool"
cp "$here/jtool" "$here/build-static"
cp "$here/jtool" "$here/build-aarch64" # only copied here; tests/release/documents.sh starts the real one
cp "$here/jtool" "$live_dir/attach/kubectl" "$top_srcdir/packaging/kubectl/kubectl-jtool" "$here/bin"
cp "$top_srcdir/packaging/image/build" "$here/packaging/image"
cp "$top_srcdir/scripts/apt-need" "$here/scripts"
cp "$top_srcdir/Containerfile" "$top_srcdir/configure.ac" "$here"
cp -r "$W/classes" "$D/classes"

# write_reader: sets the command `reader`, which runs a program as the reader of the pages does, and
# writes the programs podman and docker of the current flavour.
write_reader() {
	local engine_here=("${engine[@]}")

	reader=(env -C "$here" "PATH=$here/bin:$PATH" "ENGINE=$here/bin/podman"
		"KUBECTL_LOG=$here/calls")
	if [ "$flavour" = rootless ]; then
		# The reader is that user already, and in a directory.
		engine_here=(env -i "${engine[@]:8}")
		reader=(setpriv "--reuid=$user_id" "--regid=$user_id" --init-groups "${reader[@]}"
			"HOME=$D/user" "XDG_RUNTIME_DIR=$D/user/run")
		chown -R "$user_id:$user_id" "$here"
	fi
	printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PATH" "${engine_here[*]}" >"$here/bin/podman"
	ln -sf podman "$here/bin/docker"
	chmod 755 "$here/bin/podman"
	: >"$here/calls"
}

# start_app NAME [OPTION...]: starts a JVM in a container. Sets JVM_PID.
start_app() {
	local name=$1

	shift
	spawn "${engine[@]}" run -i --log-driver none --name "$name" -v "$D/classes:/srv:ro" \
		-v "$matrix/usr:/usr:ro" "$@" localhost/app \
		"$java" -Xmx64m -XX:+UseSerialGC -cp /srv Idle
	await_ready 60
}

# run_line LINE: runs it as it stands, except that names stand for what the reader has.
run_line() {
	local line=$1 name rc=0

	read -r name <<<"${line%%#*}"
	case $line in
	'scripts/static' | 'scripts/static '*) # their results are there
		return
		;;
	JAVA_TOOL_OPTIONS=*) # tried by sleeping_agent
		return
		;;
	esac
	line=${line//POD/shop-7d4b9}
	line=${line//=CONTAINER/=app}
	line=${line//IMAGE/localhost/jtool}
	rm -f "$here"/*.hprof{,.gz}
	"${reader[@]}" bash -c "$line" >"$W/out" 2>"$W/err" </dev/null || rc=$?
	same "$flavour: $name" "0 " "$rc $([ $rc -eq 0 ] || cat "$W/err")"
	case $name in
	*' list')
		check "$flavour: $name: it shows the JVM" grep -q -E ' (ready|listening) .* Idle$' "$W/out"
		;;
	*hprof*)
		check "$flavour: $name: the dump is here" python3 "$live_dir/hprof/hprof.py" \
			"$here"/shop.hprof* Idle
		;;
	*heaphisto*)
		check "$flavour: $name: it counts" grep -q ' java\.lang\.String$' "$W/out"
		;;
	esac
}

# sleeping_agent: where agents are forbidden, a JVM is started with the agent, as the page says.
sleeping_agent() {
	local line

	line=$(lines | sed -n 's/^\(JAVA_TOOL_OPTIONS=[^ ]*\).*/\1/p')
	check "$flavour: jtool agent --extract FILE" "$JTOOL" agent --extract "$D/agent.so" --force
	chmod 644 "$D/agent.so"
	spawn "${engine[@]}" run -i --log-driver none --name sleeping -v "$D/classes:/srv:ro" \
		-v "$matrix/usr:/usr:ro" -v "$D/agent.so:${line#*=-agentpath:}:ro" -e "$line" \
		localhost/app "$java" -Xmx64m -XX:+UseSerialGC -XX:-EnableDynamicAgentLoading \
		-cp /srv Idle
	await_ready 60 || return
	pod run --rm --pid container:sleeping localhost/jtool heaphisto --engine agent 1 >"$W/out" 2>&1
	check "$flavour: $line: the agent works" grep -q ' java\.lang\.String$' "$W/out"
	pod rm -f -t 0 sleeping >/dev/null 2>&1
}

# manifest: prints a pod with the page's init container, the application, and a sidecar.
manifest() {
	/usr/bin/python3 - "$top_srcdir/docs/containers.md" "$java" "$D/classes" "$matrix/usr" <<'PYTHON'
import json
import re
import sys

import yaml

page, java, classes, usr = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    text = re.search(r"^```yaml\n(initContainers:.*?)^```", file.read(), re.M | re.S).group(1)
spec = yaml.safe_load(text.replace("IMAGE", "localhost/jtool"))
app = spec["containers"][0]
# The victim exits when its standard input ends.
app.update(image="localhost/app", securityContext={"readOnlyRootFilesystem": True},
           command=["/bin/sh", "-c", f"/bin/sleep 1000 | {java} -Xmx64m -XX:+UseSerialGC -cp /srv Idle"])
app["volumeMounts"] += [{"name": name, "mountPath": f"/{name}"} for name in ("srv", "usr", "tmp")]
spec["volumes"] += [{"name": "tmp", "emptyDir": {}},
                    {"name": "srv", "hostPath": {"path": classes}},
                    {"name": "usr", "hostPath": {"path": usr}}]
spec.update(shareProcessNamespace=True, hostNetwork=True, restartPolicy="Never")
print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shop"}, "spec": spec}))
PYTHON
}

idle_in_pod() {
	pod exec shop-app /opt/jtool/jtool list 2>&1 | grep -q ' Idle$'
}

# check_pod: the page's init container in a pod; a sidecar sees its JVM.
check_pod() {
	local pid

	manifest >"$D/pod.json"
	# Podman would read ./jtool as the directory from which to build the image.
	if ! (cd "$D/classes" && pod kube play "$D/pod.json") >"$W/out" 2>&1; then
		fail "$flavour: a pod with the page's init container starts" "$(cat "$W/out")"
		return
	fi
	check "$flavour: the init container's copy runs in the application's container" \
		poll 60 idle_in_pod
	pod run --rm --pod shop localhost/jtool list >"$W/out" 2>&1
	check "$flavour: a sidecar with a shared pid namespace sees the JVM" grep -q ' Idle$' "$W/out"
	pid=$(sed -nE 's/^ *([0-9]+) .* Idle$/\1/p' "$W/out")
	pod run --rm --pod shop localhost/jtool heaphisto --engine agent "$pid" >"$W/out" 2>&1
	check "$flavour: a sidecar counts its objects" grep -q ' java\.lang\.String$' "$W/out"
	pod pod rm -f -t 0 shop >/dev/null 2>&1
}

end_engine() {
	pod pod rm -f -a -t 0 >/dev/null 2>&1
	pod rm -f -a -t 0 >/dev/null 2>&1
	[ "$flavour" = rootful ] || pod system migrate >/dev/null 2>&1 # ends its namespaces
}

no_mounts() {
	! grep -F "$D/" /proc/self/mounts | grep -q -v -F "$D/etc/"
}

end_engines() {
	for flavour in rootful rootless; do
		engine_of $flavour
		end_engine
	done
	poll 30 no_mounts || umount -l "$D"/root/st/overlay 2>/dev/null
}

add_user
trap 'rc=$?; end_engines; (exit $rc); finish' EXIT
mapfile -t all < <(lines)
check "the pages have command lines" [ ${#all[@]} -ge 20 ]
for flavour in rootful rootless; do
	engine_of $flavour
	if ! pod import -q "$D/image.tar" localhost/app >"$W/out" 2>&1 ||
		! pod run --rm -v "$matrix/usr:/usr:ro" localhost/app true >"$W/out" 2>&1; then
		skip "$flavour containers" "$(tail -n 1 "$W/out")"
		continue
	fi
	write_reader
	# The lines that make the image come first: others need it.
	for line in "${all[@]}"; do
		[[ $line != 'packaging/'* && $line != 'podman load '* ]] || run_line "$line"
	done
	start_app web --label app=web || continue
	start_app shop-7d4b9 --user 1000:1000 --label app=shop || continue
	for line in "${all[@]}"; do
		[[ $line == 'packaging/'* || $line == 'podman load '* ]] || run_line "$line"
	done
	same "$flavour: the stand-in for kubectl knew every call" "" "$(grep unexpected "$here/calls")"
	same "$flavour: nothing is left in the container" "" \
		"$(pod exec shop-7d4b9 sh -c 'ls -d /tmp/kubectl-jtool.* 2>/dev/null')"
	pod rm -f -t 0 web shop-7d4b9 >/dev/null 2>&1
	sleeping_agent
	check_pod
	end_engine
done
