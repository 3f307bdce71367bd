#!/usr/bin/env bash
# The Debian package: lintian, and in a fresh root of Debian 12 with a JRE: it is installed, works,
# passes its own tests (autopkgtest), and leaves nothing when it is removed.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh

# In a mount namespace of its own, for the copy of the root.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../live/lib.sh"

D=$(mktemp -d /var/tmp/jtool-debian.XXXXXX)
to_remove+=("$D")
chmod 755 "$D"
version=$(sed -nE 's/^AC_INIT\(\[jtool\], \[([^]]+)\].*/\1/p' "$top_srcdir/configure.ac")
package=$(echo "$RELEASE"/jtool_*.deb)
suite=bookworm

# lint FILE: prints the findings of lintian; succeeds if there are none.
lint() {
	lintian --allow-root --fail-on error,warning,info --display-info --tag-display-limit 0 "$1"
}

check "lintian: the package" lint "$package"
mkdir "$D/source"
cp "$RELEASE/jtool-$version.tar.xz" "$D/source/jtool_$version.orig.tar.xz"
tar -xJf "$RELEASE/jtool-$version.tar.xz" -C "$D/source"
check "the source package is made" env -C "$D/source/jtool-$version" dpkg-buildpackage -S -d -us -uc
check "lintian: the source package" lint "$(echo "$D"/source/jtool_*.changes)"

# fresh: mounts a copy of the root; sets `root`.
fresh() {
	local lower

	lower=$("$top_srcdir/scripts/roots" --list | sed -n "s/^$suite //p")
	root=$D/root
	mkdir -p "$root" "$D/upper" "$D/work"
	mount -t overlay none "$root" -o "lowerdir=$lower,upperdir=$D/upper,workdir=$D/work" &&
		mount -t proc none "$root/proc" || return
	mounts+=("$root/proc" "$root")
	cp -L /etc/resolv.conf "$root/etc"
	echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90mirror"
	cp -r "$W/classes" "$root/srv"
	cp "$package" "$root/srv/jtool.deb"
}

# apt WORD...: apt-get in the root.
apt() {
	chroot "$root" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y "$@"
}

# files: lists the files of the root, except logs, caches and lists of packages.
files() {
	find "$root" -xdev -path "$root/var/log" -prune -o -path "$root/var/cache" -prune \
		-o -path "$root/var/lib/apt" -prune -o -path "$root/proc" -prune \
		-o -path "$root/tmp" -prune -o -printf '%P %y %M %U:%G %l\n' |
		grep -v '^var/lib/dpkg/[^/ ]* ' | sort
}

# in_root NAME PATTERN WORD...: jtool of the package succeeds and prints a line that matches PATTERN.
in_root() {
	local name=$1 pattern=$2 rc=0

	shift 2
	chroot "$root" jtool "$@" </dev/null >"$D/out" 2>&1 || rc=$?
	if [ $rc -eq 0 ] && grep -q -E -e "$pattern" "$D/out"; then
		pass "$name"
	else
		fail "$name" "exit $rc" "$(<"$D/out")"
	fi
}

if ! fresh; then
	fail "a fresh root" "no root, or no overlayfs"
	exit
fi
check "apt-get update" apt update
files >"$D/before"
check "the package is installed" apt install --no-install-recommends /srv/jtool.deb
check "dpkg: every file is as it was packed" chroot "$root" dpkg --verify jtool
spawn chroot "$root" java -Xmx64m -XX:+UseSerialGC -cp /srv/classes Idle
if await_ready 60; then
	in_root "jtool list: it shows the JVM" "^ *$JVM_PID .* Idle$" list
	in_root "jtool jcmd: it attaches" OpenJDK jcmd "$JVM_PID" VM.version
	in_root "jtool heaphisto --engine agent: it loads the agent" ' java\.lang\.String$' \
		heaphisto --engine agent "$JVM_PID"
	unharmed "the JVM"
	stop "$JVM_PID"
fi
check "the package is purged" apt purge --autoremove jtool
files >"$D/after"
same "no file of it is left" "" "$(diff "$D/before" "$D/after" | grep '^[<>]')"

# An unprivileged user cannot be expected in the root: the tests run as root.
check "autopkgtest" autopkgtest --no-built-binaries --setup-commands 'apt-get update -q' "$package" \
	"$D/source/jtool-$version" -- chroot "$root"
