# shellcheck shell=bash
# Starts Debian's ZooKeeper under its own user, and a client that counts its requests. Sourced after
# lib.sh.
# shellcheck disable=SC2154,SC2034 # lib.sh sets variables used here; tests use those set here

bin=/usr/share/zookeeper/bin
jar=/usr/share/java/zookeeper.jar

# four WORD: the server's answer to a four-letter command.
four() (
	exec 3<>"/dev/tcp/127.0.0.1/$port" || exit
	printf %s "$1" >&3
	timeout 10 cat <&3
) 2>/dev/null

is_ok() {
	[ "$(four ruok)" = imok ]
}

# serves: the server has printed its last startup message. An earlier request triggers a bug of the
# server.
serves() {
	! alive "$JVM_PID" || grep -q 'ZooKeeper audit is' "$JVM_ERR"
}

free_port() {
	port=$((30000 + RANDOM % 2000))
	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((port + 1))
	done
}

# fetch_jars: copies the jars that the manifest names, and that exist, into the JDKs' chroots.
fetch_jars() {
	mkdir "$W/jars"
	python3 -c 'import re, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as jar:
    manifest = re.sub("\r?\n ", "", jar.read("META-INF/MANIFEST.MF").decode())
print(*re.search("^Class-Path: (.*)", manifest, re.M)[1].split(), sep="\n")' \
		"$jar" | xargs ls 2>/dev/null |
		xargs cp -L -t "$W/jars" "$jar" /usr/share/java/slf4j-simple.jar
}

# write_config DIR: writes the configuration of the server in `home`, whose path is DIR in its root.
write_config() {
	cat >"$home/zoo.cfg" <<-END
		tickTime=2000
		dataDir=$1/data
		clientPort=$port
		clientPortAddress=127.0.0.1
		maxSessionTimeout=600000
		4lw.commands.whitelist=*
		admin.enableServer=false
	END
	chown -R "$user" "$home"
}

n_servers=0

# start_server VERSION [FLAG...]: "own" starts it with Debian's script, else on that JDK. Sets home,
# its working directory, user, its uid and gid, and the variables that spawn sets.
start_server() {
	local version=$1 flags argv

	shift
	n_servers=$((n_servers + 1))
	home=$W/home.$n_servers
	mkdir "$home"
	free_port
	# Its log goes to stderr. forceSync=no makes it independent of the disk's speed.
	flags=(-Xmx128m -Dzookeeper.forceSync=no "$@")
	if [ "$version" = own ]; then
		user=$(id -u zookeeper):$(id -g zookeeper)
		write_config "$home"
		spawn setpriv "--reuid=${user%:*}" "--regid=${user#*:}" --clear-groups \
			env -C "$home" "ZOO_LOG_DIR=$home" \
			"JVMFLAGS=${flags[*]} -cp $jar:/usr/share/java/slf4j-simple.jar" \
			"$bin/zkServer.sh" start-foreground "$home/zoo.cfg"
	else
		user=65534:65534
		write_config "${home#"$matrix"}"
		JVM_AS=$user JVM_CWD=${home#"$matrix"} jvm_command "$version" default \
			"${flags[@]}" -cp "$IW/jars/*" \
			org.apache.zookeeper.server.quorum.QuorumPeerMain ./zoo.cfg
		spawn "${argv[@]}"
	fi
	server=$JVM_PID
	poll 120 serves
	check "$version: ZooKeeper: it serves" is_ok
	is_ok
}

# start_client: starts a client of that server; the JVM_ variables keep referring to the server.
start_client() {
	local JVM_PID JVM_IN JVM_OUT JVM_ERR

	spawn java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
		-cp "$W/made:$jar:/usr/share/java/slf4j-nop.jar" Requests "127.0.0.1:$port"
	await_ready 60
	client=("$JVM_PID" "$JVM_IN" "$JVM_OUT")
}

# client LINE: sends LINE to the client. Sets its counts since its start: creates, sets, gets,
# deletes, their sum `requests`, and kept, the number of znodes that it has left on the server.
client() {
	local JVM_PID=${client[0]} JVM_IN=${client[1]} JVM_OUT=${client[2]} wrong=

	read -r _ creates sets gets deletes wrong kept < <(ask "$1" '^did ' 120)
	requests=$((creates + sets + gets + deletes))
	[ "$wrong" = 0 ] || fail "the client: it reads what it wrote" "wrong: $wrong"
}

# znodes: the server's count of its znodes.
znodes() {
	four srvr | sed -n 's/^Node count: //p'
}

# unexpected_log: the server's log without its usual lines.
unexpected_log() {
	cat "$JVM_OUT"
	grep -v -E -e '^\[.*\] INFO ' -e '^(ZooKeeper JMX enabled|Using config)' \
		-e 'no quorum defined in config, running in standalone mode$' \
		-e 'maxCnxns is not configured' \
		-e '^WARNING: (A JVM TI agent|If a serviceability tool|Dynamic loading of agents)' \
		"$JVM_ERR"
}
