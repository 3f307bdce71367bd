#!/usr/bin/env bash
# A real application: Debian's Tomcat, as a user of its own.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v tomcat10-instance-create >/dev/null; then
	skip "Tomcat" "tomcat10-user is not installed"
	exit 0
fi

user=4322
port=$((20000 + RANDOM % 10000))
mkdir "$W/home"
chown $user:$user "$W/home"
as_user=(setpriv "--reuid=$user" "--regid=$user" --clear-groups env -C "$W/home" "HOME=$W/home")
"${as_user[@]}" tomcat10-instance-create -p $port -c $((port + 1)) -w SHUTDOWN tc >/dev/null
if [ -d /usr/share/tomcat10-examples/examples ]; then
	"${as_user[@]}" ln -s /usr/share/tomcat10-examples/examples tc/webapps/
fi
spawn "${as_user[@]}" "CATALINA_BASE=$W/home/tc" CATALINA_HOME=/usr/share/tomcat10 \
	JAVA_OPTS=-Xmx128m /usr/share/tomcat10/bin/catalina.sh run

served() {
	curl -s -o /dev/null --max-time 5 "http://localhost:$port/"
}

check "Tomcat serves" poll 60 served
prints "list: its main class" "^ *$JVM_PID .*Bootstrap" list
name=$(awk -v pid="$JVM_PID" '$1 == pid { print "found" }' "$W/out")
same "list: it is there once" found "$name"
prints "jcmd from root" 'OpenJDK' jcmd "$JVM_PID" VM.version
works "heaphisto from root" heaphisto --json "$JVM_PID"
same "its classes" True "$(json "any(c['class'].startswith('org.apache.catalina.')
	for c in j['classes']) and j['total']['classes'] > 1000")"
export JT_AS=$user
prints "jcmd as its user" 'OpenJDK' jcmd "$JVM_PID" VM.version
works "heaphisto as its user" heaphisto --live -n 20 "$JVM_PID"
prints "by loader" 'catalina|loader' heaphisto --by loader "$JVM_PID"
prints "by package" 'org.apache.catalina' heaphisto --by package -n 200 "$JVM_PID"
unset JT_AS
check "Tomcat still serves" served
check "nothing left" poll 2 nothing_left / "$JVM_PID" $user "${W#/}/home"
same "no thread dump in its log" 0 "$(cat "$JVM_OUT" "$JVM_ERR" | grep -c 'Full thread dump')"
