#!/usr/bin/env bash
# redefine, patches, restore, detach: exactly the patch is applied until it is reverted, also if
# other agents change the class, the class is unloaded, or the client is killed.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# variant DIR SED_SCRIPT: compiles class Subject from an edited source.
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

# becomes NAME OURS THEIRS: class Subject returns these values, perhaps only after a while.
becomes() {
	if poll 10 is_now "$2 $3"; then
		pass "$1"
	else
		fail "$1" "wanted: both $2 $3" "got: $(both)"
	fi
}

# replace NAME FILE...: redefine works, and prints only notices of its own on stderr.
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

# does WORDS: the other agent runs these commands.
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

# A class is replaced twice and restored.
simple() {
	local v=$1

	works "$v: dump: it works" dump "$JVM_PID" Subject -d "$W/first"
	jt redefine --check "$JVM_PID" "$W/v2/Subject.class"
	same "$v: redefine --check: it accepts the patch" "0 0" "$rc $(wc -l <"$W/err")"
	becomes "$v: redefine --check: it changes nothing" 1001 1111
	refuses 2 'nosuch' "$v: redefine: a missing file is refused" \
		redefine "$JVM_PID" "$W/nosuch.class"
	refuses 1 'more' "$v: redefine: an added field is refused" \
		redefine "$JVM_PID" "$W/wider/Subject.class"

	replace "$v: redefine: it works" "$W/v2/Subject.class"
	becomes "$v: redefine: the new code runs" 1002 1111
	works "$v: patches: it works" patches --json "$JVM_PID"
	same "$v: patches: class, loader, file and digest" \
		"Subject app $W/v2/Subject.class $(digest "$W/v2/Subject.class")" \
		"$(json '" ".join(j["patches"][0][k] for k in ["class", "loader", "file", "digest"])')"
	replace "$v: redefine of a replaced class: it works" "$W/v3/Subject.class"
	becomes "$v: redefine of a replaced class: the newer code runs" 1003 1111
	same "$v: redefine of a replaced class: one patch" 1 "$(n_patches)"
	works "$v: redefine DIR with the running code: it works" redefine "$JVM_PID" "$W/v3"
	check "$v: redefine DIR with the running code: unchanged" grep -q unchanged "$W/out"
	replace "$v: redefine FILE with the running code: it works" "$W/v3/Subject.class"
	check "$v: redefine FILE with the running code: replaced" grep -q 'replaced' "$W/out"
	works "$v: restore: it works" restore "$JVM_PID" 'Sub*'
	becomes "$v: restore: it reverts all patches of the class" 1001 1111
	same "$v: restore: no patch remains" 0 "$(n_patches)"
	works "$v: restore: dump works" dump "$JVM_PID" Subject -d "$W/second"
	check "$v: restore: the dump equals the first one" \
		cmp "$W/first/Subject.class" "$W/second/Subject.class"
	rm -rf "$W/first" "$W/second"
	refuses 1 'no class .* is replaced' "$v: restore: a class without a patch is refused" \
		restore "$JVM_PID" Subject
	prints "$v: restore: it works without patches" 'nothing is replaced' restore "$JVM_PID"
}

# Several classes: all or none is replaced.
several() {
	local v=$1

	jt redefine "$JVM_PID" "$W/mixed"
	same "$v: one of two is refused: exit code 1" 1 "$rc"
	check "$v: one of two is refused: the message names it" grep -q 'Victim.*added' "$W/err"
	becomes "$v: one of two is refused: none is changed" 1001 1111
	replace "$v: redefine JAR: it works" "$W/both.jar"
	check "$v: redefine JAR: a class that is not loaded is skipped" \
		grep -q 'not loaded: NeverLoaded' "$W/err"
	becomes "$v: redefine JAR: the loaded class is replaced" 1002 1111
	prints "$v: detach: it works" 'restored: 1 class$' detach "$JVM_PID"
	becomes "$v: detach: the original runs" 1001 1111
	refuses 1 'NeverLoaded' "$v: redefine: a class that is not loaded is refused" \
		redefine "$JVM_PID" "$W/both/NeverLoaded.class"
}

# Another agent's transformer: added before or after our patch, removed, enabled, disabled, changed.
others() {
	local v=$1

	replace "$v: redefine without other agents" "$W/v2/Subject.class"
	does add,retransform
	becomes "$v: an agent added later sees our patch" 1002 2222
	does off,retransform
	becomes "$v: the other agent reverts its change: the patch stays" 1002 1111
	does on,retransform
	works "$v: restore with an agent added later: it works" restore "$JVM_PID"
	becomes "$v: restore with an agent added later: its change stays" 1001 2222

	replace "$v: redefine with an agent added earlier" "$W/v2/Subject.class"
	check "$v: redefine with an agent added earlier: a notice" grep -q 'other agents' "$W/err"
	becomes "$v: redefine with an agent added earlier: both changes run" 1002 2222
	does retransform
	becomes "$v: a retransformation keeps both changes" 1002 2222
	does off,retransform
	becomes "$v: the other agent is disabled: the patch stays" 1002 1111
	does on,retransform
	becomes "$v: the other agent is enabled: both changes run" 1002 2222
	does odd,retransform
	becomes "$v: the other agent changes its code: the patch stays" 1002 '3[0-9]{3}'
	does on,retransform
	replace "$v: redefine again with another agent" "$W/v3/Subject.class"
	becomes "$v: redefine again with another agent: both changes run" 1003 2222
	does remove,retransform
	becomes "$v: the other agent is removed: the patch stays" 1003 1111
	works "$v: restore after the other agent: it works" restore "$JVM_PID"
	becomes "$v: restore after the other agent: the original runs" 1001 1111

	does add-incapable
	replace "$v: redefine with an agent that cannot retransform" "$W/v2/Subject.class"
	becomes "$v: an agent that cannot retransform: both changes run" 1002 2222
	works "$v: an agent that cannot retransform: restore works" restore "$JVM_PID"
	becomes "$v: an agent that cannot retransform: the original runs" 1001 1111
	does remove
}

# Two classes of one name, one of which is unloaded while it is replaced.
unloaded() {
	local v=$1 seen

	seen=$(classes_of "$v")
	ask "load $seen" '^loaded ' >/dev/null
	refuses 1 \
		'2 classes .*loaders (app, java.net.URLClassLoader|java.net.URLClassLoader @[0-9a-f]+, app)' "$v: two classes of one name: refused without --loader" \
		redefine "$JVM_PID" "$W/v2/Subject.class"
	replace "$v: redefine --loader: it works" --loader URLClassLoader "$W/v2/Subject.class"
	becomes "$v: redefine --loader: the other class is unchanged" 1001 1111
	refuses 1 "class loader 'bootstrap' has loaded none of the classes" \
		"$v: redefine --loader: another loader's class is refused" \
		redefine --loader bootstrap "$JVM_PID" "$W/v2/Subject.class"
	prints "$v: restore --loader: a loader without patches" '^nothing is replaced with that loader$' \
		restore --loader app "$JVM_PID"
	refuses 1 'with that loader' "$v: restore --loader: a class without a patch is refused" \
		restore --loader app "$JVM_PID" Subject
	same "$v: a patched class can be unloaded" "collected true" "$(ask drop '^collected ' 30)"
	same "$v: an unloaded class has no patch" 0 "$(n_patches)"
	prints "$v: detach: it works without patches" 'holds nothing' detach "$JVM_PID"
}

# The client is killed during redefine: the class is old or new, and can be restored.
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
			fail "$v: client killed: the class is old or new" "$(both)"
	done
	jt restore "$JVM_PID"
	same "$v: client killed: restore works" 0 "$rc"
	becomes "$v: client killed: restore: the original runs" 1001 1111
	works "$v: client killed: dump works" dump "$JVM_PID" Subject -d "$W/after"
}

# Many rounds while other threads call the class. HotSpot adds constants that it does not find to
# the constant pool in memory, and it never finds NaN: 2,000 generations take about 100 MB.
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
	same "$v: $n rounds: the class is always old or new" "[10011111, 10021111]" \
		"$(ask answers '^answers ' | sed 's/answers \(.*\) calls.*/\1/')"
	check "$v: $n rounds: memory is bounded ($before to $after KB)" \
		test "$after" -lt $((before + $(in_soak 200000 30000)))
	works "$v: $n rounds: dump works" dump "$JVM_PID" Subject -d "$W/rounds"
	check "$v: $n rounds: the dump equals the first one" \
		cmp "$W/after/Subject.class" "$W/rounds/Subject.class"
	rm -rf "$W/after" "$W/rounds"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Replace -Xcheck:jni || continue
	both >/dev/null
	works "$version: patches without an agent: it works" patches "$JVM_PID"
	prints "$version: detach without an agent: it works" 'holds nothing' detach "$JVM_PID"
	check "$version: patches and detach: they load no agent" \
		bash -c "! grep -q jtool-agent /proc/$JVM_PID/maps"
	simple "$version"
	several "$version"
	unloaded "$version"
	unharmed "$version: redefine, -Xcheck:jni" 'both .*|loaded .*|collected .*'
	others "$version"
	# The JDK's own agent library does not ensure capacity for its local references.
	unharmed "$version: redefine with other agents, -Xcheck:jni" \
		'did .*|both .*|loaded .*|collected .*|WARNING: JNI local refs: .*|	at .*'
	stop "$JVM_PID"

	start_jvm "$version" default Replace -Xmx128m || continue
	both >/dev/null
	killed "$version"
	rounds "$version"
	unharmed "$version: many rounds" 'both .*|hammering|answers .*'
	stop "$JVM_PID"
done

refuses 2 '.' "redefine without a file: refused" redefine $$
