#!/usr/bin/env bash
# The Debian package: lintian, and in a fresh root of Debian 12 with a JRE: it is installed, works,
# passes its own tests (autopkgtest), and leaves nothing when it is removed.  Its scripts run without
# systemd, and with a stand-in for systemctl that writes down its arguments.
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

# planned WORD...: lists the packages that a command in the root would install, which calls apt-get -s.
planned() {
	chroot "$root" "$@" 2>"$D/err" | sed -n 's/^Inst \([^ ]*\).*/\1/p' | sort
}

# calls WORD...: runs apt-get in the root, and prints the calls of systemctl by the package's scripts.
calls() {
	rm -f "$root/srv/calls"
	apt "$@" >"$D/out" 2>&1 || cat "$D/out"
	[ ! -e "$root/srv/calls" ] || cat "$root/srv/calls"
}

if ! fresh; then
	fail "a fresh root" "no root, or no overlayfs"
	exit
fi
check "apt-get update" apt update

# scripts/release builds the package with nothing but the packages of scripts/apt-need.
mkdir -p "$root/srv/bin" "$root/srv/source"
cp "$top_srcdir/scripts/apt-need" "$root/srv/bin"
cp -r "$D/source/jtool-$version/debian" "$root/srv/source"
cat >"$root/srv/bin/apt-get" <<'EOF'
#!/bin/sh
[ "$1" = update ] || exec /usr/bin/apt-get -s "$@"
EOF
chmod 755 "$root/srv/bin/apt-get"
planned env "PATH=/srv/bin:$PATH" apt-need build static release >"$D/needed"
planned apt-get -s -P nocheck build-dep /srv/source >"$D/build-dep"
check "build dependencies: apt-get prints them" grep -q -x debhelper "$D/build-dep"
same "build dependencies: scripts/apt-need installs each" "" "$(comm -13 "$D/needed" "$D/build-dep")"

mkdir -p "$root/etc/systemd/system"
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
same "no unit is enabled" "" "$(find "$root/etc/systemd" -name '*jtool*')"
# As systemctl enable does.
wants=$root/etc/systemd/system/sockets.target.wants
mkdir -p "$wants"
ln -s /lib/systemd/system/jtool-exporter.socket "$wants"
check "the package is installed again" apt install --reinstall /srv/jtool.deb
check "the socket is still enabled" test -L "$wants/jtool-exporter.socket"
check "the package is purged" apt purge --autoremove jtool
files >"$D/after"
same "no file of it is left, and no link" "" "$(diff "$D/before" "$D/after" | grep '^[<>]')"

mkdir -p "$root/run/systemd/system"
cat >"$root/usr/bin/systemctl" <<'EOF'
#!/bin/sh
echo "$*" >>/srv/calls
EOF
chmod 755 "$root/usr/bin/systemctl"
same "systemd: the first installation starts nothing" "--system daemon-reload" \
	"$(calls install --no-install-recommends /srv/jtool.deb)"
same "systemd: an upgrade restarts what is active" \
	"--system daemon-reload;try-restart jtool-exporter.service jtool-exporter.socket;" \
	"$(calls install --reinstall /srv/jtool.deb | tr '\n' ';')"
same "systemd: removal stops the socket and the service" \
	"stop jtool-exporter.socket jtool-exporter.service;--system daemon-reload;" \
	"$(calls remove jtool | tr '\n' ';')"
rm -r "$root/run/systemd" "$root/usr/bin/systemctl"

# An unprivileged user cannot be expected in the root: the tests run as root.
check "autopkgtest" autopkgtest --no-built-binaries --setup-commands 'apt-get update -q' "$package" \
	"$D/source/jtool-$version" -- chroot "$root"
