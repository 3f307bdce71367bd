#!/usr/bin/env bash
# A static jtool that is copied into other root directories: those of Debian 11, 12 and sid, one that
# has only jtool and a Java runtime, and one like Alpine's, with musl's loader. In each it lists a
# JVM, attaches to it, and loads its agent.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh

# In a mount namespace of its own, for the copies of the roots.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../lib.sh"

if ldd "$JTOOL" 2>&1 | grep -q "=>"; then
	skip "a static jtool in other roots" "this jtool is not static"
	exit
fi
D=$(mktemp -d /var/tmp/jtool-roots.XXXXXX) # not in $W, which is in one of the roots
to_remove+=("$D")

# inside WORD...: runs a program in $root. Sets `rc`; results are in $W/out and $W/err.
inside() {
	rc=0
	timeout -k 1 60 chroot "$root" "$@" >"$W/out" 2>"$W/err" </dev/null || rc=$?
}

# does NAME PATTERN WORD...: jtool in $root exits with 0, prints a line that matches the pattern, and
# no message.
does() {
	local name=$1 pattern=$2

	shift 2
	inside "$jtool" "$@"
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ] && grep -q -E -e "$pattern" "$W/out"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: /$pattern/" "$(jt_details)"
	fi
}

# check_root NAME: jtool in $root works on the JVM that was started last.
check_root() {
	does "$1: list: it shows the JVM" "^ *$JVM_PID .* Idle$" list
	does "$1: jcmd: it attaches" 'VM|JDK' jcmd "$JVM_PID" VM.version
	does "$1: heaphisto --engine agent: it loads the agent" ' java\.lang\.String$' \
		heaphisto --engine agent "$JVM_PID"
	does "$1: retained: it reads a snapshot" ' java\.lang\.' retained "$JVM_PID"
	unharmed "$1"
	poll 20 nothing_left "/proc/$JVM_PID/root" "$JVM_PID" 0
	same "$1: no file remains" "" "$(leftovers "/proc/$JVM_PID/root" "$JVM_PID" 0)"
	stop "$JVM_PID"
}

# enter_root NAME: copies jtool and the victims into the directory $D/NAME. Sets `root` and `jtool`.
enter_root() {
	root=$D/$1
	jtool=/jtool
	install -m 755 "$JTOOL" "$root/jtool"
	mkdir -p "$root"/{proc,srv,tmp}
	cp -r "$W/classes/." "$root/srv"
	mount -t proc none "$root/proc"
	mounts+=("$root/proc")
}

# start_inside JAVA: starts a victim in $root.
start_inside() {
	spawn chroot "$root" "$1" -Xmx64m -XX:+UseSerialGC -cp /srv Idle
	await_ready 60
}

# debian SUITE NAME: a copy of the cached root.
debian() {
	local lower

	lower=$("$top_srcdir/scripts/roots" --list | sed -n "s/^$1 //p")
	if [ -z "$lower" ]; then
		skip "$2" "its root is missing: run scripts/roots"
		return
	fi
	mkdir "$D/$1" "$D/$1.upper" "$D/$1.work"
	if ! mount -t overlay none "$D/$1" \
		-o "lowerdir=$lower,upperdir=$D/$1.upper,workdir=$D/$1.work"; then
		skip "$2" "overlayfs cannot be mounted here"
		return
	fi
	enter_root "$1"
	mounts+=("$root")
	start_inside java && check_root "$2"
}

# bare: nothing but a Java runtime, the libraries that it links, and jtool.
bare() {
	java_root "$D/bare"
	enter_root bare
	start_inside /jre/bin/java && check_root "a root with only a JRE"
}

# alpine: the files of a base system. Debian has no JVM for musl: the JVM is outside, as a sidecar's.
alpine() {
	local libc version

	libc=$(echo /usr/lib/*-linux-musl/libc.so)
	if [ ! -e "$libc" ] || ! command -v busybox >/dev/null || ! command -v musl-gcc >/dev/null; then
		skip "a root like Alpine's" "musl-tools or busybox-static is not installed"
		return
	fi
	mkdir -p "$D/alpine"/{bin,etc,lib}
	cp "$libc" "$D/alpine/lib/ld-musl-$(uname -m).so.1"
	cp "$(command -v busybox)" "$D/alpine/bin"
	ln -s busybox "$D/alpine/bin/sh"
	echo 3.20.0 >"$D/alpine/etc/alpine-release"
	enter_root alpine
	version=$(newest_of 8 17 21 25 27)
	start_jvm "${version:-own}" serial Idle || return
	inside sh -c 'exec /jtool --version'
	same "a root like Alpine's: a shell starts jtool" "0 " "$rc $(cat "$W/err")"
	check_root "a root like Alpine's"
	loads_agent
}

# loads_agent: musl's loader finds all libraries and symbols that the agent needs.
loads_agent() {
	inside /jtool agent --extract /agent.so
	same "musl: the agent is extracted" 0 "$rc"
	musl-gcc -o "$root/load" -x c - <<'C' || fail "musl: a program is built"
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *agent = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (agent && dlsym(agent, "Agent_OnAttach"))
		return 0;
	printf("%s\n", dlerror());
	return 1;
}
C
	inside /load /agent.so
	same "musl: its loader loads the agent" "0 " "$rc $(cat "$W/out" "$W/err")"
}

# refuses_redefine: replaced classes could not be restored in a JVM on musl. No such JVM is to be had
# from Debian, so a library with the name of musl's loader stands in for it.
refuses_redefine() {
	local library

	library=$W/ld-musl-$(uname -m).so.1
	cc -shared -nostdlib -o "$library" -x c - <<<'int f(void) { return 0; }' ||
		fail "redefine on musl: a library is built"
	spawn env "LD_PRELOAD=$library" java -Xmx64m -cp "$W/classes" Idle
	await_ready || return
	refuses 1 'runs on musl \(Alpine\).*could never be restored; restart it' \
		"redefine on musl: the message says why" redefine "$JVM_PID" "$W/classes/Idle.class"
	unharmed "redefine on musl"
	stop "$JVM_PID"
}

debian bullseye "Debian 11"
debian bookworm "Debian 12"
version=$(newest_of 8 17 21 25 27)
if [ -n "$version" ]; then
	root=$matrix jtool=$IW/jtool
	start_jvm "$version" serial Idle && check_root "Debian sid, JDK $version"
else
	skip "Debian sid" "its root is missing: run scripts/jdks"
fi
bare
alpine
refuses_redefine
