#!/usr/bin/env bash
# The image of packaging/image in Podman, as the documents use it, and kubectl-jtool with a stand-in
# for kubectl whose pods are containers.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh

# In a mount namespace of its own, for what podman mounts.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../lib.sh"

D=$(mktemp -d /var/tmp/jtool-image.XXXXXX) # not in $W, whose path is too long for sockets
to_remove+=("$D")
chmod 755 "$D"
# shellcheck source=attach/podman.sh
. "$(dirname "$0")/podman.sh"
engine_of rootful
mkdir "$D/root"
printf '#!/bin/sh\nexec %s "$@"\n' "${engine[*]}" >"$D/engine"
chmod 755 "$D/engine"
version=$(newest_of 8 17 21 25)
if ! pod import -q "$D/image.tar" localhost/app >"$W/out" 2>&1 ||
	! pod run --rm localhost/app true >"$W/out" 2>&1 && ! grep -q 'not found' "$W/out"; then
	skip "containers" "podman does not work here: $(tail -n 1 "$W/out")"
	exit
fi
if ldd "$JTOOL" 2>&1 | grep -q "=>"; then
	skip "the image" "this jtool is not static"
	exit
fi

# The image is the same each time, and has an index for two architectures.
build=$top_srcdir/packaging/image/build
check "the image is built" "$build" "$D/one.tar" "amd64=$JTOOL" "arm64=$JTOOL"
umask 077
check "it is built again, with another umask" "$build" "$D/two.tar" "amd64=$JTOOL" "arm64=$JTOOL"
umask 022
check "both have the same bytes" cmp "$D/one.tar" "$D/two.tar"
mkdir "$D/oci"
tar -C "$D/oci" -xf "$D/one.tar"
same "its index has two architectures" "['amd64', 'arm64']" "$(python3 - "$D/oci" <<'PY'
import json, sys
def blob(digest):
    return json.load(open(f"{sys.argv[1]}/blobs/sha256/{digest.split(':')[1]}"))
index = blob(json.load(open(f"{sys.argv[1]}/index.json"))["manifests"][0]["digest"])
print(sorted(m["platform"]["architecture"] for m in index["manifests"]))
PY
)"
check "podman loads it" pod load -q -i "$D/one.tar"
check "podman loads it: its name needs no tag" pod image exists localhost/jtool || exit
same "it has the version" "$("$JTOOL" --version | sed -n '1s/^jtool //p')" \
	"$(pod inspect -f '{{index .Labels "org.opencontainers.image.version"}}' localhost/jtool)"

# start_app NAME [OPTION...]: starts a JVM in a container. Sets JVM_PID.
start_app() {
	local name=$1

	shift
	spawn "$D/engine" run -i --rm --log-driver none --name "$name" --label app=shop \
		-v "$W/classes:/srv:ro" -v "$matrix/usr:/usr:ro" "$@" localhost/app \
		"${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp /srv Idle
	await_ready 60
}

# in_image [OPTION... --] WORD...: runs jtool's image. Sets `rc`; results are in $W/out and $W/err.
in_image() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rc=0
	pod run --rm "${options[@]}" localhost/jtool "$@" >"$W/out" 2>"$W/err" </dev/null || rc=$?
}

mkdir "$D/shared"
chmod 777 "$D/shared"
in_image -v "$D/shared:/shared" -- copy /shared
same "init container: it copies itself" "0 755" "$rc $(stat -c %a "$D/shared/jtool")"
in_image -v "$D/shared:/shared" -- copy /shared
same "init container: it runs again" "0 " "$rc $(cat "$W/err")"
start_app shop-1 --user 1000:1000 -v "$D/shared:/opt/jtool:ro" --read-only \
	--tmpfs /tmp:rw,notmpcopyup --cap-drop ALL || exit
same "the copy of the init container works in the application's container" 0 \
	"$(pod exec shop-1 /opt/jtool/jtool heaphisto 1 >"$W/out" 2>&1; echo $?)"
for command in list "jcmd 1 VM.version" "heaphisto 1"; do
	# shellcheck disable=SC2086 # split into words
	in_image --pid container:shop-1 -- $command
	same "sidecar: $command" "0 " "$rc $(cat "$W/err")"
done
in_image --pid host --cap-add SYS_PTRACE -- list
same "--pid host with SYS_PTRACE: the JVM and its container are found" 1 \
	"$(grep -c -E "^ *$(pod inspect -f '{{.State.Pid}}' shop-1) .* Idle$" "$W/out")"
in_image --pid container:shop-1 -- exporter --listen 999.0.0.1:1
same "exporter: an invalid address: 2" 2 "$rc"

# kubectl-jtool.
mkdir "$D/bin" "$D/here"
cp "$live_dir/attach/kubectl" "$top_srcdir/packaging/kubectl/kubectl-jtool" "$D/bin"
cp "$JTOOL" "$D/bin/jtool"
export ENGINE=$D/engine KUBECTL_LOG=$D/calls
: >"$KUBECTL_LOG"

# plugin WORD...: runs it as kubectl does. Sets `rc`.
plugin() {
	rc=0
	(cd "$D/here" && PATH=$D/bin:$PATH exec kubectl-jtool "$@") >"$W/out" 2>"$W/err" </dev/null ||
		rc=$?
}

# tidy NAME: nothing of jtool is left in the containers.
tidy() {
	local name left=

	for name in shop-1 ${second:-}; do
		left+=$(pod exec "$name" sh -c 'ls -d /tmp/kubectl-jtool.* 2>/dev/null')
	done
	same "$1: nothing is left in the container" "" "$left"
}

plugin -n prod --context test shop-1 list
same "kubectl jtool POD list: it works" "0 " "$rc $(cat "$W/err")"
check "kubectl jtool POD list: it shows the JVM" grep -q ' Idle$' "$W/out"
check "kubectl jtool -n --context: both are passed on" grep -q '^--context test -n prod exec' \
	"$KUBECTL_LOG"
tidy "kubectl jtool POD list"
plugin shop-1 heapdump 1 shop.hprof
same "kubectl jtool heapdump: it works" 0 "$rc"
check "kubectl jtool heapdump: the dump is brought back" \
	python3 "$live_dir/hprof/hprof.py" "$D/here/shop.hprof" Idle
tidy "kubectl jtool heapdump"
plugin shop-1 heapdump 1 shop.hprof
same "kubectl jtool heapdump: a file that exists is not replaced" 7 "$rc"
check "kubectl jtool heapdump: the message names it" grep -q "'./shop.hprof' exists" "$W/err"
check "kubectl jtool heapdump: it remains in the pod" pod exec shop-1 sh -c \
	'ls /tmp/kubectl-jtool.*/out/shop.hprof && rm -r /tmp/kubectl-jtool.*'
plugin shop-1 dump 1 java.lang.String -d classes
same "kubectl jtool dump: it works" 0 "$rc"
check "kubectl jtool dump: the class is brought back" \
	test -s "$D/here/classes/java/lang/String.class"
plugin shop-1 jfr 1 record -d 1s app.jfr
check "kubectl jtool jfr record: the recording is brought back" "$JTOOL" jfr view "$D/here/app.jfr"
plugin shop-1 alloc 1 --exact -d 1s --flamegraph page.html
check "kubectl jtool --flamegraph: the page is brought back" grep -q '</html>' "$D/here/page.html"
tidy "kubectl jtool jfr, alloc"
plugin shop-1 jcmd 4711 VM.version
same "kubectl jtool: the exit status is jtool's" 3 "$rc"
plugin deployment/shop list
same "kubectl jtool deployment/NAME: it works" 0 "$rc"
plugin deployment/none list
same "kubectl jtool deployment/NAME: it does not exist: the exit status and the message" \
	"2 kubectl jtool: cannot read the labels of deployment/none, for the reason above" \
	"$rc $(tail -n 1 "$W/err")"
second=shop-2
start_app shop-2 || exit
plugin -l app=shop list
same "kubectl jtool -l: several pods need --all-pods" 2 "$rc"
check "kubectl jtool -l: the message names them" grep -q 'shop-1 shop-2' "$W/err"
plugin --all-pods -l app=shop heapdump 1 app.hprof
same "kubectl jtool --all-pods: it works" 0 "$rc"
same "kubectl jtool --all-pods: a directory for each pod" "app.hprof app.hprof" \
	"$(ls "$D/here/shop-1" 2>&1) $(ls "$D/here/shop-2" 2>&1)"
tidy "kubectl jtool --all-pods"
plugin -l app=none list
same "kubectl jtool -l: no pod: 2" 2 "$rc"
check "kubectl jtool -l: no pod: the message" grep -q -x \
	"kubectl jtool: no running pod has the labels 'app=none'" "$W/err"
plugin shop-9 list
same "kubectl jtool: a pod that does not exist: the exit status and the message" \
	"126 kubectl jtool: shop-9: cannot copy jtool there, for the reason above; a container without a shell or without a writable /tmp needs --image" \
	"$rc $(tail -n 1 "$W/err")"
echo '#!/no/libc' >"$D/dynamic"
plugin --binary "$D/dynamic" shop-1 list
same "kubectl jtool: a jtool without its libraries: the exit status" 127 "$rc"
check "kubectl jtool: a jtool without its libraries: the message" grep -q -x "kubectl jtool: shop-1: \
the container cannot start '$D/dynamic', which may need libraries that it does not have: give the \
static jtool as --binary FILE" "$W/err"
tidy "kubectl jtool: a jtool without its libraries"
plugin --image localhost/jtool shop-1 jcmd 1 VM.version
same "kubectl jtool --image: it works" 0 "$rc"
check "kubectl jtool --image: it prints the version" grep -q JDK "$W/out"
check "kubectl jtool --image: the container is the target" grep -q -e '--target=app' "$KUBECTL_LOG"
same "kubectl jtool --image: the log of the node has nothing of it" "" \
	"$(pod logs "$(sed -n 's/^debug .*--container=\([^ ]*\) .*/\1/p' "$KUBECTL_LOG")" 2>&1)"
plugin --image localhost/jtool shop-1 jcmd 4711 VM.version
same "kubectl jtool --image: the exit status is jtool's" 3 "$rc"

# A signal in the middle. Ctrl-C sends one to all processes of the terminal, also to kubectl.
is_alone() { # but for zombies, which have no arguments, and the command that waits
	! pod exec shop-1 sh -c 'cat /proc/[0-9]*/cmdline' | tr '\0' ' ' | grep -q 'jtool stat 1'
}
for signal in TERM INT; do
	(cd "$D/here" && PATH=$D/bin:$PATH exec setsid env --default-signal=INT kubectl-jtool shop-1 \
		stat 1 100) >"$W/out" 2>"$W/err" </dev/null &
	running=$!
	track $running
	check "kubectl jtool stat 1 100: it prints rows" poll 30 grep -q '0\.00' "$W/out"
	if [ $signal = INT ]; then
		kill -INT -- -$running
	else
		kill -TERM $running
	fi
	poll 30 gone $running
	rc=0
	wait $running || rc=$?
	same "kubectl jtool: SIG$signal: its exit status" $((128 + $(kill -l $signal))) "$rc"
	tidy "kubectl jtool: SIG$signal"
	check "kubectl jtool: SIG$signal: jtool ends in the container" poll 30 is_alone
done

# A distroless image: a Java runtime and its libraries, without a shell.
distroless=$D/distroless
java_root "$distroless"
mkdir -p "$distroless"/{dev,etc,proc,run,srv,sys,tmp}
chmod 1777 "$distroless/tmp"
spawn "$D/engine" run -i --rm --log-driver none --name bare --user 1000:1000 -v "$W/classes:/srv:ro" \
	--rootfs "$distroless:O" /jre/bin/java -Xmx64m -XX:+UseSerialGC -cp /srv Idle
if await_ready 60; then
	plugin bare list
	same "distroless: kubectl jtool: the message names --image" 1 "$(grep -c -e '--image' "$W/err")"
	plugin --image localhost/jtool bare list
	check "distroless: kubectl jtool --image list: it shows the JVM" grep -q ' Idle$' "$W/out"
	plugin --image localhost/jtool bare heaphisto --engine agent 1
	check "distroless: kubectl jtool --image heaphisto: it loads the agent" grep -q \
		' java\.lang\.String$' "$W/out"
	plugin --image localhost/jtool bare heapdump 1 -
	check "distroless: kubectl jtool --image heapdump 1 -: the dump arrives" \
		python3 "$live_dir/hprof/hprof.py" "$W/out" Idle
	unharmed "distroless"
fi

same "the stand-in knew every call" "" "$(grep unexpected "$KUBECTL_LOG")"

pod rm -f -a -t 0 >/dev/null 2>&1
poll 30 gone "$JVM_PID"
no_mounts() {
	! grep -q "$D/" /proc/self/mounts
}
poll 30 no_mounts || umount -l "$D"/root/st/overlay*/*/{userdata/shm,merged} 2>/dev/null
umount -l "$D/root/st/overlay" 2>/dev/null || true # podman's own
