#!/bin/bash
# Runs in the root of the emulated ARM machine, instead of its init: arm64-guest.sh KB JDK...
# KB is the size of the machine's pages.
export PATH=/payload:/usr/sbin:/usr/bin HOME=/ LC_ALL=C
mount -t proc none /proc
mount -t sysfs none /sys
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 none /dev/shm
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs -o mode=755 none /run
mount -t cgroup2 none /sys/fs/cgroup
stty -F /dev/hvc0 raw -echo
exec >/dev/hvc0 2>&1 </dev/null
bash /payload/tests/heartbeat.sh /dev/ttyAMA0 &

# main KB JDK...: the tests, in a session of their own.
main() {
	local page_kb=$(($(getconf PAGESIZE) / 1024)) lse=without v jdks=

	# shellcheck source-path=SCRIPTDIR source=guest.sh
	. /payload/tests/guest.sh
	! grep -q -w atomics /proc/cpuinfo || lse=with
	echo "# Linux $(uname -r), pages of $page_kb KB, $lse LSE"
	if [ "$page_kb" -ne "$1" ]; then
		fail "the machine has pages of $1 KB"
	fi
	shift
	for v; do
		jdks+="$v $(echo "/usr/lib/jvm/java-$v-openjdk-"*/bin/java)"$'\n'
	done
	# shellcheck disable=SC2034 # used by commands.sh
	classes=/payload/classes patched=/payload/patched jdks=${jdks%$'\n'}
	# shellcheck source-path=SCRIPTDIR source=commands.sh
	. /payload/tests/commands.sh
	echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
	[ "$n_failed" -eq 0 ]
}
export -f main
setsid -w bash -c 'main "$@"' main "$@"
echo "exit $?"
sync
sleep 1
echo o >/proc/sysrq-trigger
sleep 1000
