# shellcheck shell=bash
# The JVMs of soak.sh, at random: JDK, collector, program, user. Sourced after lib.sh.
# shellcheck disable=SC2034,SC2154,SC2016 # soak.sh and lib.sh; an inner shell

# shellcheck source-path=SCRIPTDIR/.. source=apps/catalina.sh
. "$live_dir/apps/catalina.sh"
as_user=(setpriv "--reuid=$user" "--regid=$user" --clear-groups)
kinds=(Loaded Loaded Churn Churn Tomcat Tomcat Classes Virtual) # the last two are slow
collectors=(serial parallel g1 z shenandoah)
# A container-like JVM has a user, a mount namespace and a small /tmp of its own, which can be full.
places=(root container)

include=$(find -L /usr/lib/jvm/default-java/include -name jni.h -printf '%h\n' | head -n 1)
cc -shared -fPIC "-I$include" "-I$include/linux" -o "$W/probe.so" "$live_dir/soak/probe.c"
: >"$W/probed"
chmod 666 "$W/probed"

# launch COMMAND...: starts it as the JVM of this place.
launch() {
	if [ "$place" = root ]; then
		spawn nice -n 5 "$@"
	else
		spawn unshare -m bash -c 'mount -t tmpfs -o mode=1777,size=64m none "$0/tmp" &&
			exec nice -n 5 "$@"' "$matrix" "$@"
	fi
}

# launch_victim FLAG... -- ARGUMENT...
launch_victim() {
	local argv flags=(-Xms300m -Xmx300m -XX:+AlwaysPreTouch)

	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	jvm_command "$version" "$gc" "${flags[@]}" -cp "$IW/classes" "$kind" "$@"
	launch "${argv[@]}"
}

# prepare_tomcat: a Tomcat with the shop, in the root of the JDKs.
prepare_tomcat() {
	if [ ! -e "$W/tomcat" ]; then
		cp -rL /usr/share/tomcat10 "$W/tomcat"
		mkdir -p "$W/own"
		(cd "$W/own" && jar xf "$W/tomcat/lib/catalina.jar" \
			org/apache/catalina/connector/CoyoteAdapter.class)
	fi
	rm -rf "$W/base"
	mkdir -p "$W"/base/{conf,logs,temp,work,webapps/shop/WEB-INF}
	cat >"$W/base/conf/server.xml" <<-XML
		<Server port="-1"><Service name="Catalina">
		<Connector port="$port" protocol="HTTP/1.1" address="127.0.0.1"/>
		<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/>
		</Engine></Service></Server>
	XML
	echo '<web-app/>' >"$W/base/conf/web.xml"
	chown -R "$user:$user" "$W/base"
	install_shop "$W/base/webapps/shop/WEB-INF"
}

# visit: prints the number of visits to the shop so far.
visit() {
	curl -s --max-time 30 "http://127.0.0.1:$port/shop/visits"
}

has_visits() {
	[[ $(visit) =~ ^[0-9]+$ ]]
}

# launch_tomcat: starts it, and wrk, which asks without end, some hundred times a second.
launch_tomcat() {
	local argv

	prepare_tomcat
	jvm_command "$version" "$gc" -Xms300m -Xmx300m \
		-cp "$IW/tomcat/bin/bootstrap.jar:$IW/tomcat/bin/tomcat-juli.jar" \
		"-Dcatalina.home=$IW/tomcat" "-Dcatalina.base=$IW/base" "-Djava.io.tmpdir=$IW/base/temp" \
		org.apache.catalina.startup.Bootstrap start
	launch "${argv[@]}"
	poll 180 has_visits || {
		fail "Tomcat on JDK $version serves" "$(last_words 5)"
		return 1
	}
	echo 'function delay() return math.random(0, 30) end' >"$W/delay.lua"
	wrk -t 1 -c 4 -d 10h --timeout 60s -s "$W/delay.lua" "http://127.0.0.1:$port/shop/visits" \
		>"$W/wrk" 2>&1 &
	wrk=$!
	disown
	track "$wrk"
}

# choose_jvm: sets `version`, `kind`, `gc` and `place`; and `class`, `method` and `file`: a method
# that the program calls, and its class file.
choose_jvm() {
	pick jdks && version=$picked
	pick kinds && kind=$picked
	pick collectors && gc=$picked
	pick places && place=$picked
	[ "$kind" != Virtual ] || [ "$version" -ge 21 ] || kind=Churn
	[ "$kind" != Tomcat ] || [ "$version" -ge 11 ] || kind=Loaded
	case $gc in
	z | shenandoah) [ "$version" -ge 17 ] || gc=serial ;;
	esac
	JVM_AS=
	[ "$place" = root ] || JVM_AS=$user:$user
	method=answer
	case $kind in
	Loaded | Churn) class=$kind ;;
	Classes | Virtual) class=Victim method=serve ;;
	Tomcat) class=org.apache.catalina.connector.CoyoteAdapter method=service ;;
	esac
	file=$W/classes/$class.class
	[ "$kind" != Tomcat ] || file=$W/own/${class//.//}.class
}

# launch_kind: starts the JVM that was chosen and waits until its program is ready.
launch_kind() {
	case $kind in
	Loaded) launch_victim -Xss256k -- 100 50000 ;;
	Churn) launch_victim -- ;;
	Classes) launch_victim -- "$(in_soak 30000 3000)" 1 ;;
	# JDK 21 pins threads that hold a monitor.
	Virtual) launch_victim -Djdk.virtualThreadScheduler.parallelism=8 -- "$(in_soak 100000 2000)" ;;
	Tomcat)
		launch_tomcat
		return
		;;
	esac
	await_ready 300
}

# rounds: prints how much work the program has done; nothing if it does not count.
rounds() {
	case $kind in
	Loaded | Churn) ask rounds '^rounds ' | cut -d' ' -f2 ;;
	Tomcat) visit ;;
	esac
}

has_progressed() {
	local now

	now=$(rounds) && [ "$now" -gt "$before" ]
}

# program_is_wrong: prints what the program's own checks find.
program_is_wrong() {
	if [ "$kind" != Tomcat ] && ! answers; then
		echo "the program does not answer"
	elif [ -n "$before" ] && ! poll 60 has_progressed; then
		echo "the program does not go on after $before rounds"
	fi
	grep -m 1 -h -e 'Full thread dump' "$JVM_OUT" "$JVM_ERR"
	# HotSpot itself says that it could not start a thread, or that it omitted the collection before a
	# dump.
	[ "$kind" = Tomcat ] ||
		unexpected_output '.*\[warning\]\[(os,thread|gc *\] GC locker is held).*' \
			'.*GC locker is held.*' # on stderr: JDK 8
}

# wrk_is_wrong: ends wrk and prints the errors that it saw.
wrk_is_wrong() {
	kill -INT "$wrk"
	poll 30 gone "$wrk"
	grep -q 'requests in' "$W/wrk" || cat "$W/wrk"
	grep -E 'Socket errors|Non-2xx' "$W/wrk"
}

# own_fds: the number of the JVM's descriptors, without those that it opens on demand: jars, /proc
# for the flight recorder, and Tomcat's connections.
own_fds() {
	find "/proc/$JVM_PID/fd" -mindepth 1 -maxdepth 1 ! -lname '*/proc' ! -lname '*.jar' \
		! -lname '*/modules' | wc -l
}
