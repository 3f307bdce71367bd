#!/usr/bin/env bash
# dump --diff: reports what an agent changed, and nothing that is unchanged.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TransformingAgent.java"
printf 'Agent-Class: TransformingAgent\nCan-Retransform-Classes: true\n' >"$W/agent.mf"
(cd "$W" && jar cfm transforming.jar agent.mf -C agent .)

# The same classes in every kind of jar.
(cd "$W" && jar cf plain.jar -C classes . && mkdir -p boot/BOOT-INF/lib &&
	cp plain.jar boot/BOOT-INF/lib && jar c0f nested.jar -C boot . && jar cf packed.jar -C boot . &&
	{ printf '#!/bin/sh\nexec java -jar "$0"\n' && cat nested.jar; } >script.jar)

# One version of Subject with a changed method, and one that also adds a method.
mkdir "$W/patch" "$W/other"
sed -e 's/1001/3003/' "$live_dir/victim/Subject.java" >"$W/patch/Subject.java"
javac --release 8 -Xlint:-options -d "$W/patch" "$W/patch/Subject.java"
sed -e 's/1001/3003/' -e 's/int both() {/void added() { }\n&/' \
	"$live_dir/victim/Subject.java" >"$W/other/Subject.java"
javac --release 8 -Xlint:-options -d "$W/other" "$W/other/Subject.java"

# An event class without its own commit(): it inherits the method.
mkdir "$W/events"
cat >"$W/events/Recorded.java" <<'END'
final class Recorded extends Victim {
	static final class Sale extends jdk.jfr.Event {
		int id;
	}

	@Override
	String answer(String line) {
		if (!line.equals("sell"))
			return null;
		new Sale().commit();
		return "sold";
	}

	public static void main(String[] args) throws Exception {
		new Recorded().serve();
	}
}
END
javac --release 11 -cp "$W/classes" -d "$W/events" "$W/events/Recorded.java"
cp "$W"/events/*.class "$W/classes"

differences() {
	json "' '.join('{class}.{method}: {change},'.format(**d) for d in j['differences'])"
}

# finds NAME WANTED ARGUMENT...: dump --diff reports these differences.
finds() {
	local name=$1 wanted=$2

	shift 2
	works "$name" dump --json "$@" || return
	same "$name: the differences" "$wanted" "$(differences)"
}

# agrees NAME N ARGUMENT...: no difference in more than N compared classes.
agrees() {
	local name=$1 n=$2

	shift 2
	jt dump --json "$@"
	same "$name: no differences" '0 ' "$rc $(differences)"
	same "$name: more than $n classes are compared" True "$(json "j['compared'] > $n")"
}

# jdk_file VERSION MODULE JAR: the file that holds the classes of a module of that JDK.
jdk_file() {
	local home=${jdk_root[$1]}${jdk_home[$1]}

	if [ "$1" -eq 8 ]; then
		echo "$home/$3"
	else
		echo "$home/jmods/$2.jmod"
	fi
}

for version in "${jdks[@]}"; do
	start_jvm "$version" serial Compiling -Xmx128m || continue
	pid=$JVM_PID
	ask "compile $IW" '^compiled$' 20 >/dev/null || fail "$version: the victim compiles a class"
	ask mixed '^mixed A1' >/dev/null
	ask subject '^subject' >/dev/null

	# Unchanged classes.
	for file in classes classes/ plain.jar nested.jar packed.jar script.jar classes/Subject.class; do
		finds "$version: unchanged class, $file" '' "$pid" Subject --diff "$W/$file"
	done
	agrees "$version: unchanged classes of the victim" \
		3 "$pid" 'Compiling*' Subject Victim --diff "$W/classes"
	! is_thorough "$version" ||
		agrees "$version: unchanged classes of javac" 600 "$pid" 'com.sun.tools.javac.*' \
			--diff "$(jdk_file "$version" jdk.compiler lib/tools.jar)"
	# The JDK generates the method handle holder classes for each image and archive.
	jt dump --json "$pid" 'java.*' --diff "$(jdk_file "$version" java.base jre/lib/rt.jar)"
	same "$version: java.*: only generated classes differ" '0 []' "$rc $(json "[d for d in
		j['differences'] if not d['class'].startswith('java.lang.invoke.')
			or not d['class'].endswith('\$Holder')]")"
	same "$version: java.*: over 400 classes are compared" True "$(json "j['compared'] > 400")"

	# Classes that the file lacks.
	refuses 2 "classes' contains no class file of java.lang.String$" \
		"$version: a class that the file lacks: refused" \
		dump "$pid" java.lang.String --diff "$W/classes"
	refuses 2 "cannot read '.*nosuch.jar': No such file" "$version: a missing file: refused" \
		dump "$pid" Subject --diff "$W/nosuch.jar"
	jt dump "$pid" Subject 'java.lang.Str*' --diff "$W/plain.jar"
	same "$version: some classes missing in the file: exit code 0" 0 "$rc"
	same "$version: some classes missing in the file: the others are compared" \
		"0 of 1 classes run other code than in $W/plain.jar" \
		"$(cat "$W/out")"
	check "$version: some classes missing in the file: the message names them" \
		grep -q -F "plain.jar has no class file of that name" "$W/err"

	# A file with another version.
	finds "$version: a file with another version" \
		'Subject.int ours(): code differs, Subject.void added(): only in the file,' \
		"$pid" Subject --diff "$W/other"
	prints "$version: a file with another version, as a table" \
		'^Subject +int ours\(\) +code differs$' \
		dump "$pid" Subject --diff "$W/other"

	# Changes by jtool.
	jt redefine "$pid" "$W/patch/Subject.class"
	same "$version: redefine: the patch runs" \
		'0 subject 30031111' "$rc $(ask subject '^subject')"
	finds "$version: redefine: the change is reported" 'Subject.int ours(): code differs,' \
		"$pid" Subject --diff "$W/plain.jar"
	finds "$version: redefine: the patch equals the running class" \
		'' "$pid" Subject --diff "$W/patch"
	jt restore "$pid"
	same "$version: restore: the original runs" \
		'0 subject 10011111' "$rc $(ask subject '^subject')"
	finds "$version: restore: nothing differs" '' "$pid" Subject --diff "$W/plain.jar"

	# Changes by another agent.
	works "$version: another agent: load works" \
		load "$pid" "$W/transforming.jar" add,retransform
	same "$version: another agent: its change runs" \
		'subject 10012222' "$(ask subject '^subject')"
	finds "$version: another agent: the change is reported" \
		'Subject.int theirs(): code differs,' \
		"$pid" Subject 'Compiling*' Victim --diff "$W/plain.jar"
	! is_thorough "$version" ||
		agrees "$version: another agent: unchanged classes of javac" \
			600 "$pid" 'com.sun.tools.javac.*' \
			--diff "$(jdk_file "$version" jdk.compiler lib/tools.jar)"
	unharmed "$version: dump --diff" '(subject .*|did .*|compiled|mixed .*)'
	stop "$pid"

	# The JVM's own instrumentation, which some versions apply without a recording, too.
	[ "$version" -ge 11 ] || continue
	start_jvm "$version" serial Recorded -Xmx128m || continue
	pid=$JVM_PID
	jt jfr "$pid" start name=sales
	same "$version: jfr start: it works" 0 "$rc"
	ask sell '^sold$' >/dev/null
	jt dump --json "$pid" 'Recorded*' --diff "$W/classes"
	same "$version: jfr: the recorder's change is reported" '0 Recorded$Sale: only in memory' \
		"$rc $(json "'{class}: {change}'.format(**next(d for d in j['differences']
			if d['method'] == 'void commit()'))")"
	same "$version: jfr: no other class differs" 'Recorded$Sale' \
		"$(json "' '.join({d['class'] for d in j['differences']})")"
	unharmed "$version: dump --diff with events" 'sold'
	stop "$pid"
done

# A large application without changes.
if command -v tomcat10-instance-create >/dev/null; then
	port=$((20000 + RANDOM % 10000))
	(cd "$W" && tomcat10-instance-create -p $port -c $((port + 1)) -w SHUTDOWN tc >/dev/null)
	spawn env "CATALINA_BASE=$W/tc" CATALINA_HOME=/usr/share/tomcat10 JAVA_OPTS=-Xmx128m \
		/usr/share/tomcat10/bin/catalina.sh run
	check "Tomcat: it serves" poll 60 curl -s -o "$W/page" \
		--max-time 5 "http://localhost:$port/"
	for jar in catalina:150 tomcat-coyote:100 tomcat-util:50; do
		agrees "Tomcat's ${jar%:*}" "${jar#*:}" "$JVM_PID" 'org.apache.*' \
			--diff "/usr/share/tomcat10/lib/${jar%:*}.jar"
	done
	stop "$JVM_PID"
else
	skip "Tomcat" "tomcat10-user is not installed"
fi
