#!/usr/bin/env bash
# Instruments every method of every class of complete JDKs and applications. The JVM verifies the
# result and runs it.
#
# tests/corpus/rewrite instruments, and applies jtool's own verifier. java/jtool/Hooks1.java is the
# class of hooks in Java, for JVMs whose own classes are instrumented. Link.java links every class.
# Then the array and object allocations are instrumented instead, and Places.java compares what the
# hooks report. JTOOL_SOAK=1: also without values, with javac on every JDK, with Clojure and with
# Kotlin's compiler.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

corpus=$top_srcdir/tests/corpus
build=$(dirname "$JTOOL")
rewrite=$build/tests/corpus/rewrite
# The stack maps in class files of version 50 must be correct, too.
verifying=(-Xverify:all -XX:+IgnoreUnrecognizedVMOptions -XX:-FailOverToOldVerifier
	-XX:+UseSerialGC -Xmx1g -Xss16m)
# Up to JDK 21 HotSpot never verifies these: is_eligible_for_verification() in verifier.cpp.
exempt='^java\.lang\.(Class|Object|String|Throwable)$|^(jdk\.internal|sun)\.reflect\.'

if ! make -s -C "$build" tests/corpus/rewrite >"$W/err" 2>&1; then
	fail "tests/corpus/rewrite: it builds" "$(tail -n 5 "$W/err")"
	exit 0
fi

# Relative paths are valid on the host and in the chroot.
cd "$W" || exit

# in_jdk VERSION TOOL ARGUMENT...: runs a tool of that JDK in the work directory.
in_jdk() {
	local version=$1 tool=$2

	shift 2
	timeout -k 1 900 chroot "${jdk_root[$version]}" env -C "$IW" \
		"${jdk_home[$version]}/bin/$tool" "$@"
}

oldest=${jdks[0]}
newest=${jdks[-1]}
cp -r "$corpus"/{*.java,java,shop.clj,Shop.kt} .
mkdir hooks programs
# Only JDK 8 compiles a class of java.* without further options.
if [ "$oldest" = 8 ]; then
	in_jdk 8 javac -d hooks java/jtool/Hooks1.java
else
	in_jdk "$oldest" javac --patch-module java.base=java -d hooks java/jtool/Hooks1.java
fi
in_jdk "$oldest" javac -d programs Link.java Counted.java
mkdir places
in_jdk "$oldest" javac -XDstringConcat=inline -d places Places.java
same "Hooks1.java: the same methods as the agent's class" \
	"$("$rewrite" --hooks Hooks1.class >out && javap -public Hooks1.class |
		sed -n 's/ native / /; s/;$//; /(/p' | sort)" \
	"$(javap -public hooks/java/jtool/Hooks1.class |
		sed -n 's/ synchronized / /; s/;$//; / counts(/d; / places(/d; /(/p' | sort)"

# count NAME: a count of the last summary.
count() {
	awk -v name="$1" '$1 == name { print $2 }' summary
}

# rewritten NAME DIRECTORY ARGUMENT...: instruments the classes in all PATHs into jars in DIRECTORY;
# writes `summary`.
rewritten() {
	local name=$1 directory=$2 refused with_code

	shift 2
	mkdir -p "$directory"
	"$rewrite" -v -o "$directory" "$@" >summary
	same "$name: jtool's verifier accepts every class" "wrong 0" \
		"$(grep -m 10 '^wrong' summary)"
	refused=$(($(count too-long) + $(count far-jump) + $(count too-many) +
		$(count malformed) + $(count not-compiled) + $(count whole-classes)))
	with_code=$(($(count hooked) + refused))
	echo "# $name: $(count classes) classes, $(count methods) methods:" \
		"$(count hooked) hooked, $(count no-code) without code, $refused refused" \
		"($(sed -n 's/^refused .*: //p' summary | sort | uniq -c |
			sed 's/^ *//' | paste -sd, | sed 's/,/, /g'));" \
		"$(count unsound) classes unsound before"
	check "$name: fewer than 0.1 % of the methods are refused" \
		[ $((1000 * refused)) -lt "$with_code" ]
	same "$name: every refused method has a reason" 0 \
		"$(($(count methods) - $(count no-code) - $(count root) - with_code))"
}

# names JAR...: the names of the classes in them.
names() {
	"$rewrite" --list "$@" | sed -E 's/^[0-9]+ //; s/\.class$//; s/\//./g' | sort
}

# verified LOG: the classes that the JVM has verified without error.
verified() {
	awk '/End class verification for: / && $NF != bad { print $NF }
		/Verification for .* (failed|has exception pending)/ {
			sub(/.*Verification for /, ""); bad = $1 }' "$1" | sort -u
}

# unverified VERSION LOG JAR...: the classes in the jars that the JVM has not verified but should.
unverified() {
	comm -23 <(names "${@:3}") <(verified "$2") |
		if [ "$1" -lt 25 ]; then grep -v -E "$exempt"; else cat; fi
}

# run_with VERSION DIRECTORY: sets the array `flags` for a JVM whose own classes are in the
# directory's jars.
run_with() {
	local version=$1 jars jar module modules path

	jars=("$2"/*.jar)
	if [ "$version" = 8 ]; then
		path=$(IFS=: && echo "${jars[*]}")
		flags=("${verifying[@]}" "-Xbootclasspath/p:${broken:+$broken:}hooks:$path")
		return
	fi
	modules=$(printf '%s\n' "${jars[@]##*/}" | sed 's/\.jar$//' | paste -sd,)
	flags=("${verifying[@]}" --add-modules ALL-SYSTEM
		"--add-exports=java.base/java.jtool=ALL-UNNAMED,$modules")
	for jar in "${jars[@]}"; do
		module=$(basename "$jar" .jar)
		path=$jar
		[ "$module" != java.base ] || path=${broken:+$broken:}$path:hooks
		flags+=("--patch-module=$module=$path")
	done
}
broken= # a jar before java.base, or empty

# The files that hold the classes of a JDK.
classes_in() {
	local version=$1 home=${jdk_root[$1]}${jdk_home[$1]}

	if [ "$version" = 8 ]; then
		find "$home/" -name '*.jar' -type f
	else
		echo "$home/lib/modules"
	fi
}

# all_linked VERSION NAME JAR...: a JVM with the JDK classes in jdk/*.jar links all classes of these
# jars.
all_linked() {
	local version=$1 name=$2 flags log=()

	shift 2
	run_with "$version" jdk
	[ "$version" = 8 ] || log=("-Xlog:class+init=info:file=log:none")
	rm -f log
	in_jdk "$version" java "${flags[@]}" "${log[@]}" -cp programs Link "$@" >linked 2>err
	same "$name: a JVM made of these classes links all" "linked $(names "$@" | wc -l)" \
		"$(cat linked)"
	[ "$version" = 8 ] ||
		same "$name: a JVM made of these classes verifies all" \
			"" "$(unverified "$version" log "$@")"
}

# Tests the test: both verifiers reject a broken class that nothing uses.
rejects_broken() {
	local version=$1 name=$2 flags broken class=java/util/zip/CheckedInputStream

	mkdir broken
	classes_in "$version" | xargs "$rewrite" -o broken --break $class >out
	same "$name: jtool's verifier rejects a broken class" "wrong 1" \
		"$(grep '^wrong [0-9]*$' out)"
	broken=$(echo broken/*.jar)
	run_with "$version" jdk
	in_jdk "$version" java "${flags[@]}" -cp programs Link "$broken" >linked 2>err
	same "$name: the JVM rejects a broken class" \
		"refused ${class//\//.} java.lang.VerifyError linked 0" \
		"$(sed 's/:.*//' linked | paste -sd' ')"
	rm -r broken
}

# balanced NAME MOST: at most MOST calls still run; every other call has returned or thrown, and its
# exit hook received the value that its own entry hook had returned.
balanced() {
	local name=$1 most=$2 enters exits fails wrong running

	read -r enters exits fails wrong < <(awk '$1 ~ /^(enters|exits|fails|wrong)$/ { n[$1] = $2 }
		END { print n["enters"], n["exits"], n["fails"], n["wrong"] }' err)
	running=$((enters - exits - fails))
	echo "# $name: $enters calls, $exits returned, $fails ended by exceptions"
	check "$name: every call that enters also leaves" \
		[ "${enters:-0}" -gt 0 -a "$running" -ge 0 -a "$running" -le "$most" ]
	same "$name: every call leaves with its own value" 0 "$wrong"
}

# javac_runs VERSION NAME: the instrumented javac compiles as before.
javac_runs() {
	local version=$1 name=$2 flags sources path=programs

	mkdir victim && cp "$live_dir"/{,*/}victim/*.java victim
	sources=(victim/*.java)
	[ "$version" != 8 ] || path=$path:${jdk_home[8]}/lib/tools.jar
	mkdir plain hooked
	in_jdk "$version" javac -nowarn -proc:none -d plain "${sources[@]}" >out 2>&1
	run_with "$version" jdk
	in_jdk "$version" java "${flags[@]}" -cp "$path" Counted com.sun.tools.javac.Main compile \
		-nowarn -proc:none -d hooked "${sources[@]}" >out 2>err
	check "$name: the instrumented javac writes the same class files" diff -r plain hooked
	rm -r plain hooked
}

# jdk VERSION MODE [ARGUMENT]: instruments all modules of a JDK; the short form links java.base
# only.
jdk() {
	local version=$1 name="$1, $2" paths linked

	shift 2
	mapfile -t paths < <(classes_in "$version")
	rewritten "$name" jdk "$@" "${paths[@]}"
	same "$name: jtool's verifier accepts all original classes" 0 "$(count unsound)"
	linked=(jdk/*.jar)
	if [ "${JTOOL_SOAK:-0}" != 1 ]; then
		linked=(jdk/java.base.jar)
		[ "$version" != 8 ] || linked=(jdk/rt.jar)
	fi
	all_linked "$version" "$name" "${linked[@]}"
	if [ "${JTOOL_SOAK:-0}" = 1 ] || [ "$version" = "$newest" ]; then
		rejects_broken "$version" "$name"
	fi
	if [ "${JTOOL_SOAK:-0}" = 1 ] || [ "$version" = "$oldest" ]; then
		javac_runs "$version" "$name"
		balanced "$name: javac" 300
	fi
	rm -r jdk
}

# outcomes VERSION CLASS_PATH JARS: prints the result for each class, such as "refused NAME" or
# "missing NAME".
outcomes() {
	in_jdk "$1" java "${verifying[@]}" -cp "$2:programs" Link "$3"/*.jar \
		2>err | cut -d' ' -f 1,2
}

# application NAME OLDEST RUN JAR...: on the JDKs OLDEST and newest, the same classes link before
# and after the instrumentation; then calls RUN.
application() {
	local name=$1 versions=("$newest") run=$3 version mode before

	[ "${2:-$newest}" = "$newest" ] || versions+=("$2")
	shift 3
	mkdir -p app/old
	cp "$@" app/old # resolves symbolic links
	for mode in "" --values; do
		[ -n "$mode" ] || [ "${JTOOL_SOAK:-0}" = 1 ] || continue
		rm -rf app/new
		rewritten "$name${mode:+, with values}" app/new $mode app/old/*.jar
		for version in "${versions[@]}"; do
			before=$(outcomes "$version" 'app/old/*' app/old)
			check "$name, $version: the original classes link" \
				grep '^linked [1-9]' <<<"$before"
			same \
				"$name${mode:+, with values}, $version: the same classes link" \
				"$before" "$(outcomes "$version" 'app/new/*:app/old/*' app/old)"
			echo "# $name, $version: $(tail -n 1 <<<"$before")," \
				"$(grep -c ^missing <<<"$before") without what they need," \
				"$(grep -c ^refused <<<"$before") refused by the JVM before"
			$run "$name${mode:+, with values}, $version" "$version"
		done
	done
	rm -r app
}

# runs NAME VERSION CLASS ARGUMENT...: the instrumented application writes the same files into the
# directory `made` as the original one. HotSpot may fail over to the old verifier, unlike in
# `verifying`: only that accepts some classes of Kotlin's compiler.
runs() {
	local name=$1 version=$2

	shift 2
	mkdir made
	in_jdk "$version" java -Xverify:all -Xmx1g -Xss16m -Xbootclasspath/a:hooks -cp 'app/old/*:programs' \
		Counted "$1" main "${@:2}" >before 2>err
	mv made made.before
	mkdir made
	in_jdk "$version" java -Xverify:all -Xmx1g -Xss16m -Xbootclasspath/a:hooks \
		-cp 'app/new/*:app/old/*:programs' Counted "$1" main "${@:2}" >out 2>err
	same "$name: the same output" "$(cat before)" "$(cat out)"
	check "$name: the same files" diff -r made.before made
	check "$name: it writes output" grep -q -r . before made
	balanced "$name" 20
	rm -r made made.before
}

runs_nothing() {
	:
}

runs_clojure() {
	runs "$1" "$2" clojure.main shop.clj
}

# This version of Kotlin's compiler reads only the JDK classes of JDK 8.
runs_kotlin() {
	[ "$2" != 8 ] || runs "$1" "$2" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-reflect \
		-no-stdlib -cp app/old/kotlin-stdlib.jar -d made Shop.kt
}

has_subroutines() {
	javap -p -c -cp "$1" Old | grep ': jsr'
}

# Class files as written by javac before Java 6.
old_classes() {
	local target version directory=old versions=("$oldest" "$newest")

	[ "${JTOOL_SOAK:-0}" != 1 ] || versions=("${jdks[@]}")
	for target in 1.1 1.2 1.3 1.4 1.5; do
		mkdir -p "$directory/$target"
		in_jdk 8 javac -nowarn -XDjsrlimit=0 -source 1.3 -target $target \
			-d "old/$target" Old.java 2>err
		check "target $target: its class files have subroutines" \
			has_subroutines "$directory/$target"
		rewritten "target $target" "$directory/new" --values "$directory/$target"
		for version in "${versions[@]}"; do
			in_jdk "$version" java -Xverify:all -cp "old/$target" Old >before
			in_jdk "$version" java -Xverify:all -Xbootclasspath/a:hooks \
				-cp "old/new/$target.jar:programs" Counted Old main \
				>out 2>err
			check "target $target, $version: the original runs" \
				grep -q '^cleaned [1-9]' before
			same "target $target, $version: the same output" "$(cat before)" \
				"$(cat out)"
			balanced "target $target, $version" 0
		done
	done
}

# with_sites VERSION ARGUMENT...: instruments the allocation sites of all classes of a JDK.
with_sites() {
	local version=$1 name="$1, places" flags=(-v --sites) paths

	shift
	[ "$version" != 8 ] || flags+=(--sun-unsafe)
	mapfile -t paths < <(classes_in "$version")
	"$rewrite" "${flags[@]}" "$@" "${paths[@]}" >summary
	same "$name: jtool's verifier accepts every class" "wrong 0" \
		"$(grep -m 10 '^wrong' summary)"
	echo "# $name: $(count classes) classes, of which $(count rewritten) have" \
		"$(count sites) sites and $(count strings) ends of strings," \
		"$(count sites-refused) methods refused"
	check "$name: over 99.9 % of the sites are hooked" \
		[ $((1000 * $(count sites-hooked))) -gt $((999 * $(count sites))) -a \
		"$(count sites-hooked)" -gt 100000 ]
}

# off_the_mark FILE: prints the sites with too few allocations, or over 2000 too many: other code in
# the JVM may add some. Prints the number of sites if it is not 50.
off_the_mark() {
	awk '{ n++; more = $(NF - 1) - $NF } more < 0 || more > 2000
		END { if (n != 50) print n " lines" }' "$1"
}

# sites_seen VERSION: a JVM with such classes reports all allocations.
sites_seen() {
	local version=$1 name="$1, places" flags base=jdk/java.base.jar

	[ "$version" != 8 ] || base=jdk/rt.jar
	mkdir -p jdk
	with_sites "$version" -o jdk
	if [ "${JTOOL_SOAK:-0}" = 1 ] || [ "$version" = "$newest" ]; then
		all_linked "$version" "$name" "$base"
	fi
	"$rewrite" --sites -o . places >out
	run_with "$version" jdk
	in_jdk "$version" java "${flags[@]}" -cp places.jar Places >seen 2>err
	same "$name: every allocation is reported once" "" "$(off_the_mark seen)"
	[ "${JTOOL_SOAK:-0}" != 1 ] || javac_runs "$version" "$name"
	rm -r jdk
}

for version in "${jdks[@]}"; do
	if [ "${JTOOL_SOAK:-0}" = 1 ] || [ "$version" = "$oldest" ] ||
		[ "$version" = "$newest" ]; then
		sites_seen "$version"
	else
		with_sites "$version"
	fi
done
for version in "${jdks[@]}"; do
	[ "${JTOOL_SOAK:-0}" != 1 ] || jdk "$version" "without values"
	jdk "$version" "with values" --values
done
if has_jdk 8; then
	old_classes
else
	skip "class files of versions 45 to 49" "they require JDK 8"
fi
if [ -n "$(newest_of 11 17 21 25 27)" ]; then
	application Tomcat "$(newest_of 17 11)" runs_nothing /usr/share/tomcat10/lib/*.jar
else
	skip "Tomcat" "it requires JDK 11 or later"
fi
if [ "${JTOOL_SOAK:-0}" = 1 ]; then
	"$top_srcdir/scripts/apt-need" corpus >"$W/err" 2>&1 ||
		fail "the packages of the applications are installed" "$(tail -n 5 "$W/err")"
	application Clojure "$oldest" runs_clojure \
		/usr/share/java/{clojure,spec.alpha,core.specs.alpha}.jar
	application Kotlin "$oldest" runs_kotlin /usr/share/kotlin/kotlinc/lib/*.jar
fi
