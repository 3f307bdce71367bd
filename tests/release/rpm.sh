#!/usr/bin/env bash
# The RPM package: in a root with nothing but a shell and systemctl it is installed, its files are
# verified, the program works, and nothing is left when it is removed. Its scripts run without systemd,
# and with a stand-in for systemctl that writes down its arguments. The spec file also builds from the
# sources.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh

# In a mount namespace of its own, for /proc in the root.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../live/lib.sh"

D=$(mktemp -d /var/tmp/jtool-rpm.XXXXXX)
to_remove+=("$D")
package=$(echo "$RELEASE"/jtool-*."$(uname -m)".rpm)
root=$D/root
mkdir -p "$root"/{etc,proc}
mount -t proc none "$root/proc"
mounts+=("$root/proc")

# Debian's rpm creates its own data base in the home directory, unless --dbpath is given.
export HOME=$D

rpm_in_root() {
	rpm --root "$root" --dbpath /var/lib/rpm "$@"
}

# changes WORD...: runs rpm, and prints what it prints, except Debian's advice to use alien.
changes() {
	rpm_in_root "$@" 2>&1 | grep -v '^rpm: '
}

# left: lists the files in the root, except the data base and the directories of a base system.
left() {
	find "$root" -xdev -path "$root/var/lib/rpm" -prune -o \( ! -type d -o -name '*jtool*' \) -print |
		sort
}

# put PROGRAM: copies a program and its libraries to the root.
put() {
	{
		echo "$1"
		ldd "$1" | grep -o '/[^ ]*'
	} | xargs cp -L --parents -t "$root"
}

# calls WORD...: runs rpm, and prints the calls of systemctl by the package's scripts.
calls() {
	rm -f "$root/calls"
	changes "$@"
	[ ! -e "$root/calls" ] || cat "$root/calls"
}

put /bin/sh
put /usr/bin/systemctl
left >"$D/before"
check "an empty data base" rpm_in_root --initdb
same "it needs only a shell, for its scripts" "/bin/sh" \
	"$(rpm -q --requires -p "$package" | grep -v '^rpmlib(' | sort -u)"
same "the package is installed" "" "$(changes -i --nodeps "$package")"
same "no unit is enabled" "" "$(find "$root/etc" -name '*jtool*')"
for file in /usr/bin/jtool /usr/share/man/man1/jtool.1.gz '/usr/share/licenses/jtool.*/LICENSE' \
	/usr/share/bash-completion/completions/jtool /usr/lib/systemd/system/jtool-exporter.socket; do
	check "it has $file" grep -q -x "$file" <(rpm_in_root -ql jtool)
done
same "every page of the manual" "$(find "$top_srcdir/man" -name '*.[17]' -printf '%f.gz\n' | sort)" \
	"$(rpm_in_root -ql jtool | sed -n 's|^/usr/share/man/man./||p' | sort)"
same "rpm -V: every file is as it was packed" "" "$(rpm_in_root -V --nodeps jtool 2>&1)"
same "every file belongs to root" "root root" \
	"$(rpm_in_root -q --qf '[%{FILEUSERNAME} %{FILEGROUPNAME}\n]' jtool | sort -u)"
echo >>"$root/usr/share/man/man1/jtool.1.gz"
check "rpm -V: a change is found" grep -q 'jtool.1.gz$' <(rpm_in_root -V --nodeps jtool 2>&1)
start_jvm own serial Idle || exit
check "jtool list: it shows the JVM" grep -q -E "^ *$JVM_PID .* Idle$" \
	<(chroot "$root" /usr/bin/jtool list 2>&1)
check "jtool heaphisto: it works" grep -q ' java\.lang\.String$' \
	<(chroot "$root" /usr/bin/jtool heaphisto "$JVM_PID" 2>&1)
unharmed "the JVM"
link=$root/etc/systemd/system/sockets.target.wants/jtool-exporter.socket
check "the socket is enabled" chroot "$root" systemctl enable jtool-exporter.socket
check "the socket is enabled: there is a link" test -L "$link"
same "the package is installed again" "" "$(changes -U --nodeps --force "$package")"
check "the socket is still enabled" test -L "$link"
same "the package is removed" "" "$(changes -e jtool)"
same "nothing is left" "" "$(left | diff "$D/before" -)"

mkdir -p "$root/run/systemd/system"
rm "$root/usr/bin/systemctl"
cat >"$root/usr/bin/systemctl" <<'EOF'
#!/bin/sh
echo "$*" >>/calls
EOF
chmod 755 "$root/usr/bin/systemctl"
same "systemd: the first installation starts nothing" daemon-reload "$(calls -i --nodeps "$package")"
same "systemd: an upgrade restarts what is active" \
	"daemon-reload;daemon-reload;try-restart jtool-exporter.service jtool-exporter.socket;" \
	"$(calls -U --nodeps --force "$package" | tr '\n' ';')"
same "systemd: removal disables and stops the socket and the service" \
	"disable jtool-exporter.socket;stop jtool-exporter.socket jtool-exporter.service;daemon-reload;" \
	"$(calls -e jtool | sed 's/^--quiet --no-reload //' | tr '\n' ';')"

# Debian has the tools, but not as RPM packages, so --nodeps.
mkdir "$D/build" "$D/tar"
cp "$RELEASE"/jtool-*.tar.xz "$RELEASE/jtool.spec" "$D/build"
check "the spec file builds from the sources" rpmbuild -bb --nodeps --define "_topdir $D/build" \
	--define "_sourcedir $D/build" "$D/build/jtool.spec"
check "a package is made" test -s "$(echo "$D"/build/RPMS/*/jtool-*.rpm)"
# The package of a release has the notices of the libraries in its static program.
same "it has the same files" "$(rpm -qlp "$package" | grep -v -e /.build-id -e /NOTICES)" \
	"$(rpm -qlp "$D"/build/RPMS/*/jtool-*.rpm | grep -v /.build-id)"
