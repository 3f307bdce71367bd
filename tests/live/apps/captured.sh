#!/usr/bin/env bash
# capture of real applications under load: Debian's Tomcat and ZooKeeper, with planted secrets.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2154 # what the sourced files set
. "$(dirname "$0")/../lib.sh"
# shellcheck source=apps/catalina.sh
. "$live_dir/apps/catalina.sh"
user=65534 # has a name: without one, a JVM publishes no counters
# shellcheck source=apps/zookeeper/server.sh
. "$live_dir/apps/zookeeper/server.sh"

secrets=(hunter2-app s3cr3t-user env-secret-7)
export APP_API_TOKEN=${secrets[2]}
planted="-Dapp.password=${secrets[0]} -Dapp.url=jdbc:x://bob:${secrets[1]}@db/app -Xlog:gc*,arguments=debug:file=vm.log"

# captured NAME: captures the JVM, which is under load: all files, a log, no secret.
captured() {
	works "$1: it works" capture "$JVM_PID" "$1.tar.gz"
	rm -rf "$W/unpacked"
	mkdir "$W/unpacked"
	check "$1: tar reads it" tar xzf "$W/$1.tar.gz" -C "$W/unpacked"
	same "$1: it is complete" 0 "$(grep -c ' missing: ' "$W/unpacked/README.txt")"
	check "$1: it has the JVM's log" test -s "$W/unpacked/logs/vm.log"
	check "$1: the cost of each file was measured" bash -c \
		"[ \$(grep -c 'at safepoints for [0-9.]* ms' '$W/unpacked/README.txt') -ge 16 ]"
	for secret in "${secrets[@]}"; do
		same "$1: no file has a secret" "" "$(grep -rlaF -e "$secret" "$W/unpacked")"
	done
	check "$1: a secret was replaced" grep -q 'secrets replaced' "$W/unpacked/README.txt"
	sed 's/^/# /' "$W/unpacked/README.txt" | grep 'cost to the JVM'
	check "$1: no file remains" poll 120 nothing_left / "$JVM_PID" "$2" "${W#/}/home"
}

if command -v tomcat10-instance-create >/dev/null; then
	tomcat_flags=$planted
	start_tomcat
	(while :; do served; done) &
	track $!
	captured Tomcat $user
	check "Tomcat: it still serves" served
	stop "${started[-1]}" "$JVM_PID"
else
	skip "Tomcat" "tomcat10-user is not installed"
fi

if [ -x "$bin/zkServer.sh" ] && getent passwd zookeeper >/dev/null; then
	version=own
	read -ra words <<<"$planted"
	start_server own "${words[@]}"
	(while :; do is_ok; done) &
	track $!
	captured ZooKeeper "${user%:*}"
	check "ZooKeeper: it still serves" is_ok
	stop "${started[-1]}" "$JVM_PID"
else
	skip "ZooKeeper" "zookeeper is not installed"
fi
