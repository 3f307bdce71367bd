#!/usr/bin/env bash
# redefine, patches, restore, detach: the change and nothing but the change, beside other agents,
# until it is taken back, whatever becomes of the class, the agents and the client.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# variant DIR SED_SCRIPT: class Subject with another source.
variant() {
	mkdir -p "$W/$1"
	sed "$2" "$live_dir/victim/Subject.java" >"$W/$1/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/$1" "$W/$1/Subject.java"
}

variant v1 ''
variant v2 s/1001/1002/
variant v3 s/1001/1003/
variant wider 's/int calls;/int calls, more;/'
mkdir "$W/both" "$W/mixed"
cp "$W/v2/Subject.class" "$W/both"
cp "$W/v2/Subject.class" "$W/mixed"
printf 'abstract class Victim { void added() { } }\n' >"$W/mixed/Victim.java"
printf 'class NeverLoaded { }\n' >"$W/both/NeverLoaded.java"
javac --release 8 -Xlint:-options -d "$W/mixed" "$W/mixed/Victim.java"
javac --release 8 -Xlint:-options -d "$W/both" "$W/both/NeverLoaded.java"
jar cf "$W/both.jar" -C "$W/both" Subject.class -C "$W/both" NeverLoaded.class

javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TransformingAgent.java"
printf 'Agent-Class: TransformingAgent\nCan-Retransform-Classes: true\n' >"$W/agent.mf"
(cd "$W" && jar cfm agent.jar agent.mf -C agent .)

both() {
	ask both '^both '
}

is_now() {
	[[ $(both) =~ ^both\ $1$ ]]
}

# becomes NAME OURS THEIRS: what class Subject says, soon: an answer may have to be renewed.
becomes() {
	if poll 10 is_now "$2 $3"; then
		pass "$1"
	else
		fail "$1" "wanted: both $2 $3" "got: $(both)"
	fi
}

# replace NAME FILE...: all goes well, and stderr has just the notes.
replace() {
	local name=$1

	shift
	jt redefine "$JVM_PID" "$@"
	if [ "$rc" -eq 0 ] && ! grep -q -v '^jtool: redefine: ' "$W/err"; then
		pass "$name"
	else
		fail "$name" "$(jt_details)"
	fi
}

# does WORDS: the other agent obeys.
does() {
	jt load "$JVM_PID" "$W/agent.jar" "$1"
	if [ "$rc" -ne 0 ] || ! poll 10 grep -q "^did $1\$" "$JVM_OUT"; then
		fail "the other agent: $1" "$(jt_details)"
	fi
}

digest() {
	sha256sum <"$1" | cut -d' ' -f1
}

n_patches() {
	jt patches --json "$JVM_PID"
	json 'len(j["patches"])'
}

# A class that is replaced, and again, and put back.
simple() {
	local v=$1

	works "$v: dump" dump "$JVM_PID" Subject -d "$W/first"
	jt redefine --check "$JVM_PID" "$W/v2/Subject.class"
	same "$v: --check says yes" "0 0" "$rc $(wc -l <"$W/err")"
	becomes "$v: --check changes nothing" 1001 1111
	refuses 2 'nosuch' "$v: no such file" redefine "$JVM_PID" "$W/nosuch.class"
	refuses 1 'more' "$v: --check names what is in the way" \
		redefine "$JVM_PID" "$W/wider/Subject.class"

	replace "$v: redefine" "$W/v2/Subject.class"
	becomes "$v: the new code runs" 1002 1111
	works "$v: patches" patches --json "$JVM_PID"
	same "$v: it is told" "Subject app $W/v2/Subject.class $(digest "$W/v2/Subject.class")" \
		"$(json '" ".join(j["patches"][0][k] for k in ["class", "loader", "file", "digest"])')"
	replace "$v: redefine a replaced class" "$W/v3/Subject.class"
	becomes "$v: the newer code runs" 1003 1111
	same "$v: there is one patch" 1 "$(n_patches)"
	works "$v: the same again, of a directory" redefine "$JVM_PID" "$W/v3"
	check "$v: is left alone" grep -q unchanged "$W/out"
	replace "$v: the same again, named" "$W/v3/Subject.class"
	check "$v: is put in place" grep -q 'replaced' "$W/out"
	works "$v: restore" restore "$JVM_PID" 'Sub*'
	becomes "$v: one restore leads back to the first" 1001 1111
	same "$v: nothing is left" 0 "$(n_patches)"
	works "$v: dump again" dump "$JVM_PID" Subject -d "$W/second"
	check "$v: the dump is the same" cmp "$W/first/Subject.class" "$W/second/Subject.class"
	rm -rf "$W/first" "$W/second"
	refuses 1 'no class .* is replaced' "$v: restore what is not replaced" \
		restore "$JVM_PID" Subject
	prints "$v: restore nothing" 'nothing is replaced' restore "$JVM_PID"
}

# Several classes: all or none.
several() {
	local v=$1

	jt redefine "$JVM_PID" "$W/mixed"
	same "$v: one of two cannot be: exit 1" 1 "$rc"
	check "$v: it is named" grep -q 'Victim.*added' "$W/err"
	becomes "$v: none was changed" 1001 1111
	replace "$v: redefine by a jar" "$W/both.jar"
	check "$v: a class that is not loaded is left out" grep -q 'not loaded: NeverLoaded' "$W/err"
	becomes "$v: the other one is replaced" 1002 1111
	prints "$v: detach" 'put back: 1 class$' detach "$JVM_PID"
	becomes "$v: all is as it was" 1001 1111
	refuses 1 'NeverLoaded' "$v: no such class" redefine "$JVM_PID" "$W/both/NeverLoaded.class"
}

# Another agent's transformer, which came before us, after us, goes, comes, changes its mind.
others() {
	local v=$1

	replace "$v: redefine, nobody else" "$W/v2/Subject.class"
	does add,retransform
	becomes "$v: who comes after us sees our change" 1002 2222
	does off,retransform
	becomes "$v: and takes its own away" 1002 1111
	does on,retransform
	works "$v: restore, somebody after us" restore "$JVM_PID"
	becomes "$v: the other's change stays" 1001 2222

	replace "$v: redefine, somebody before us" "$W/v2/Subject.class"
	check "$v: which is said" grep -q 'other agents' "$W/err"
	becomes "$v: both changes are there" 1002 2222
	does retransform
	becomes "$v: both survive a retransformation" 1002 2222
	does off,retransform
	becomes "$v: theirs goes" 1002 1111
	does on,retransform
	becomes "$v: theirs comes" 1002 2222
	does odd,retransform
	becomes "$v: ours stays whatever theirs is" 1002 '3[0-9]{3}'
	does on,retransform
	replace "$v: redefine once more" "$W/v3/Subject.class"
	becomes "$v: both, again" 1003 2222
	does remove,retransform
	becomes "$v: the other agent goes" 1003 1111
	works "$v: restore, nobody else" restore "$JVM_PID"
	becomes "$v: as it was" 1001 1111

	does add-incapable
	replace "$v: redefine, somebody who sees only that" "$W/v2/Subject.class"
	becomes "$v: both" 1002 2222
	works "$v: and back" restore "$JVM_PID"
	becomes "$v: none" 1001 1111
	does remove
}

# Two classes of one name, of which one goes while it is replaced.
unloaded() {
	local v=$1 seen

	seen=$(classes_of "$v")
	ask "load $seen" '^loaded ' >/dev/null
	refuses 1 '2 classes .*loaders (app, java.net.URLClassLoader|java.net.URLClassLoader @[0-9a-f]+, app)' "$v: which of the two?" \
		redefine "$JVM_PID" "$W/v2/Subject.class"
	replace "$v: --loader" --loader URLClassLoader "$W/v2/Subject.class"
	becomes "$v: the other class is as it was" 1001 1111
	refuses 1 'with that loader' "$v: restore --loader" \
		restore --loader app "$JVM_PID" Subject
	same "$v: a patch does not keep a class" "collected true" "$(ask drop '^collected ' 30)"
	same "$v: the patch is gone with it" 0 "$(n_patches)"
	prints "$v: nothing to detach" 'holds nothing' detach "$JVM_PID"
}

# The client is killed in the middle of it: the class is old or new, and can be put back.
killed() {
	local v=$1 i client

	for ((i = 0; i < $(in_soak 100 8); i++)); do
		(cd "$W" && exec ./jtool redefine "$JVM_PID" "v$((2 + i % 2))/Subject.class") \
			>/dev/null 2>&1 &
		client=$!
		sleep "0.0$((i % 10))$((i % 7))"
		kill -9 "$client" 2>/dev/null
		wait "$client" 2>/dev/null
		[[ $(both) =~ ^both\ 100[123]\ 1111$ ]] ||
			fail "$v: the client was killed" "$(both)"
	done
	jt restore "$JVM_PID"
	same "$v: after clients were killed: restore" 0 "$rc"
	becomes "$v: after clients were killed" 1001 1111
	works "$v: after clients were killed: dump" dump "$JVM_PID" Subject -d "$W/after"
}

# Many rounds, while the class is called.  HotSpot adds what it does not find to the constants
# in memory, and NaN it never finds: 2,000 generations of them take some 100 MB.
rounds() {
	local v=$1 n before after

	ask "hammer 8" '^hammering' >/dev/null
	for ((n = 0; n < $(in_soak 1000 15); n++)); do
		jt redefine "$JVM_PID" "$W/v2/Subject.class"
		[ "$rc" -eq 0 ] || fail "$v: round $n: redefine" "$(jt_details)"
		jt restore "$JVM_PID"
		[ "$rc" -eq 0 ] || fail "$v: round $n: restore" "$(jt_details)"
		[ $n -ne 10 ] || before=$(rss_kb "$JVM_PID")
	done
	after=$(rss_kb "$JVM_PID")
	same "$v: $n rounds: old or new, nothing else" "[10011111, 10021111]" \
		"$(ask answers '^answers ' | sed 's/answers \(.*\) calls.*/\1/')"
	check "$v: $n rounds: memory is bounded ($before to $after KB)" \
		test "$after" -lt $((before + $(in_soak 200000 30000)))
	works "$v: $n rounds: dump" dump "$JVM_PID" Subject -d "$W/rounds"
	check "$v: $n rounds: the dump is that of the first" \
		cmp "$W/after/Subject.class" "$W/rounds/Subject.class"
	rm -rf "$W/after" "$W/rounds"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Replace -Xcheck:jni || continue
	both >/dev/null
	works "$version: patches, without an agent" patches "$JVM_PID"
	prints "$version: detach, without an agent" 'holds nothing' detach "$JVM_PID"
	check "$version: none was loaded for that" \
		bash -c "! grep -q jtool-agent /proc/$JVM_PID/maps"
	simple "$version"
	several "$version"
	unloaded "$version"
	unharmed "$version: redefine, -Xcheck:jni" 'both .*|loaded .*|collected .*'
	others "$version"
	# The JDK's own agent library does not announce the references of the thread that it runs on.
	unharmed "$version: redefine beside others, -Xcheck:jni" \
		'did .*|both .*|loaded .*|collected .*|WARNING: JNI local refs: .*|	at .*'
	stop "$JVM_PID"

	start_jvm "$version" default Replace -Xmx128m || continue
	both >/dev/null
	killed "$version"
	rounds "$version"
	unharmed "$version: many rounds" 'both .*|hammering|answers .*'
	stop "$JVM_PID"
done

refuses 2 '.' "redefine without a file" redefine $$
