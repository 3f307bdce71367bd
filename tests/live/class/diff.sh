#!/usr/bin/env bash
# dump --diff: what an agent changed, and not a word about what nobody did.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TransformingAgent.java"
printf 'Agent-Class: TransformingAgent\nCan-Retransform-Classes: true\n' >"$W/agent.mf"
(cd "$W" && jar cfm transforming.jar agent.mf -C agent .)

# The same classes in every form.
(cd "$W" && jar cf plain.jar -C classes . && mkdir -p boot/BOOT-INF/lib &&
	cp plain.jar boot/BOOT-INF/lib && jar c0f nested.jar -C boot . && jar cf packed.jar -C boot . &&
	{ printf '#!/bin/sh\nexec java -jar "$0"\n' && cat nested.jar; } >script.jar)

# A version that does something else in one method, and another that has one more, too.
mkdir "$W/patch" "$W/other"
sed -e 's/1001/3003/' "$live_dir/victim/Subject.java" >"$W/patch/Subject.java"
javac --release 8 -Xlint:-options -d "$W/patch" "$W/patch/Subject.java"
sed -e 's/1001/3003/' -e 's/int both() {/void added() { }\n&/' \
	"$live_dir/victim/Subject.java" >"$W/other/Subject.java"
javac --release 8 -Xlint:-options -d "$W/other" "$W/other/Subject.java"

# Its class has no commit() but the one that it inherits.
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

# finds NAME WANTED ARGUMENT...: these differences.
finds() {
	local name=$1 wanted=$2

	shift 2
	works "$name" dump --json "$@" || return
	same "$name: what differs" "$wanted" "$(differences)"
}

# agrees NAME N ARGUMENT...: no difference in more than N classes.
agrees() {
	local name=$1 n=$2

	shift 2
	jt dump --json "$@"
	same "$name: nothing differs" '0 ' "$rc $(differences)"
	same "$name: more than $n classes were compared" True "$(json "j['compared'] > $n")"
}

# jdk_file VERSION MODULE JAR: where a JDK keeps the class files of a module.
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
	ask "compile $IW" '^compiled$' 20 >/dev/null || fail "$version: the compiler works"
	ask mixed '^mixed A1' >/dev/null
	ask subject '^subject' >/dev/null

	# Nobody changed anything.
	for file in classes classes/ plain.jar nested.jar packed.jar script.jar classes/Subject.class; do
		finds "$version: untouched, $file" '' "$pid" Subject --diff "$W/$file"
	done
	agrees "$version: all of the victim" 3 "$pid" 'Compiling*' Subject Victim --diff "$W/classes"
	! is_thorough "$version" ||
		agrees "$version: the compiler" 600 "$pid" 'com.sun.tools.javac.*' \
			--diff "$(jdk_file "$version" jdk.compiler lib/tools.jar)"
	# The holders of method handles' code are generated, anew for each JDK's image and archive.
	jt dump --json "$pid" 'java.*' --diff "$(jdk_file "$version" java.base jre/lib/rt.jar)"
	same "$version: java.*: nothing but what the JDK generates" '0 []' "$rc $(json "[d for d in
		j['differences'] if not d['class'].startswith('java.lang.invoke.')
			or not d['class'].endswith('\$Holder')]")"
	same "$version: java.*: many were compared" True "$(json "j['compared'] > 400")"

	# What the file does not have.
	refuses 2 'classes has no class file of java.lang.String$' "$version: none to compare" \
		dump "$pid" java.lang.String --diff "$W/classes"
	refuses 2 'nosuch.jar cannot be read: No such file' "$version: no such file" \
		dump "$pid" Subject --diff "$W/nosuch.jar"
	jt dump "$pid" Subject 'java.lang.Str*' --diff "$W/plain.jar"
	same "$version: some are missing: exit 0" 0 "$rc"
	same "$version: the others are compared" "0 of 1 classes run other code than in $W/plain.jar" \
		"$(cat "$W/out")"
	check "$version: those that are missing are named" \
		grep -q -F "plain.jar has no class file of that name" "$W/err"

	# A file that is another.
	finds "$version: another version" \
		'Subject.int ours(): code differs, Subject.void added(): only in the file,' \
		"$pid" Subject --diff "$W/other"
	prints "$version: as a table" '^Subject +int ours\(\) +code differs$' \
		dump "$pid" Subject --diff "$W/other"

	# Ourselves.
	jt redefine "$pid" "$W/patch/Subject.class"
	same "$version: a patch" '0 subject 30031111' "$rc $(ask subject '^subject')"
	finds "$version: what it changed" 'Subject.int ours(): code differs,' \
		"$pid" Subject --diff "$W/plain.jar"
	finds "$version: the patch is what runs" '' "$pid" Subject --diff "$W/patch"
	jt restore "$pid"
	same "$version: it is gone" '0 subject 10011111' "$rc $(ask subject '^subject')"
	finds "$version: and nothing differs" '' "$pid" Subject --diff "$W/plain.jar"

	# Another agent.
	works "$version: an agent that changes code" \
		load "$pid" "$W/transforming.jar" add,retransform
	same "$version: it did" 'subject 10012222' "$(ask subject '^subject')"
	finds "$version: what it changed" 'Subject.int theirs(): code differs,' \
		"$pid" Subject 'Compiling*' Victim --diff "$W/plain.jar"
	! is_thorough "$version" ||
		agrees "$version: what it did not change" 600 "$pid" 'com.sun.tools.javac.*' \
			--diff "$(jdk_file "$version" jdk.compiler lib/tools.jar)"
	unharmed "$version: dump --diff" '(subject .*|did .*|compiled|mixed .*)'
	stop "$pid"

	# The JVM's own instrumentation; on some versions without a recording, too.
	[ "$version" -ge 11 ] || continue
	start_jvm "$version" serial Recorded -Xmx128m || continue
	pid=$JVM_PID
	jt jfr "$pid" start name=sales
	same "$version: a recording starts" 0 "$rc"
	ask sell '^sold$' >/dev/null
	jt dump --json "$pid" 'Recorded*' --diff "$W/classes"
	same "$version: what the recorder changed" '0 Recorded$Sale: only in memory' \
		"$rc $(json "'{class}: {change}'.format(**next(d for d in j['differences']
			if d['method'] == 'void commit()'))")"
	same "$version: and nothing else" 'Recorded$Sale' \
		"$(json "' '.join({d['class'] for d in j['differences']})")"
	unharmed "$version: events" 'sold'
	stop "$pid"
done

# A large application, as it is.
if command -v tomcat10-instance-create >/dev/null; then
	port=$((20000 + RANDOM % 10000))
	(cd "$W" && tomcat10-instance-create -p $port -c $((port + 1)) -w SHUTDOWN tc >/dev/null)
	spawn env "CATALINA_BASE=$W/tc" CATALINA_HOME=/usr/share/tomcat10 JAVA_OPTS=-Xmx128m \
		/usr/share/tomcat10/bin/catalina.sh run
	check "Tomcat serves" poll 60 curl -s -o "$W/page" --max-time 5 "http://localhost:$port/"
	for jar in catalina:150 tomcat-coyote:100 tomcat-util:50; do
		agrees "Tomcat's ${jar%:*}" "${jar#*:}" "$JVM_PID" 'org.apache.*' \
			--diff "/usr/share/tomcat10/lib/${jar%:*}.jar"
	done
	stop "$JVM_PID"
else
	skip "Tomcat" "tomcat10-user is not installed"
fi
