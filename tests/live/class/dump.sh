#!/usr/bin/env bash
# dump: every class that can be had, in files that javap and the verifier take; and no class, no
# compiled method, no memory of the JVM and no file elsewhere is different afterwards.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

javac --release 8 -Xlint:-options -d "$W/verifier" "$live_dir/dump/Verifier.java"

# Where files cost nothing, for what is dumped again and again.
memory_dir=$(mktemp -d /dev/shm/jtool-live.XXXXXX)
litter+=("$memory_dir")

arrange() {
	python3 "$live_dir/dump.py" "$@"
}

# partial NAME ARGUMENT...: exit 7, and nothing on stderr but lines of the promised form.
partial() {
	local name=$1

	shift
	jt "$@"
	if [ "$rc" -eq 7 ] && ! grep -v -q '^jtool: dump: ' "$W/err"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "$(jt_details)"
		return 1
	fi
}

# javap_reads NAME VERSION DIR: all files below it, and has nothing to complain of.
javap_reads() {
	local rc=0 n

	n=$(find "$W/$3" -name '*.class' | wc -l)
	(cd "$W" && find "$3" -name '*.class' -print0) | xargs -0 -n 5000 \
		chroot "${jdk_root[$2]}" env -C "$IW" "${jdk_home[$2]}/bin/javap" \
		-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -v -p \
		>"$W/javap.out" 2>"$W/javap.err" || rc=$?
	if [ $rc -eq 0 ] && [ ! -s "$W/javap.err" ] && [ "$n" -gt 0 ] &&
		[ "$(grep -c '^Classfile ' "$W/javap.out")" -eq "$n" ]; then
		pass "$1"
	else
		fail "$1" "exit $rc, $n files" "$(head -n 5 "$W/javap.err")"
	fi
	rm -f "$W/javap.out"
}

# verified NAME VERSION LIST app|boot WORD...: a fresh JVM, started with these words and with
# everything verified, links each class of the list.
verified() {
	local name=$1 version=$2 list=$3 kind=$4 argv n

	shift 4
	n=$(wc -l <"$W/$list")
	jvm_command "$version" serial -Xverify:all "$@" Verifier "$list" "$kind"
	"${argv[@]}" >"$W/verify.out" 2>"$W/verify.err"
	if [ "$n" -gt 0 ] && grep -q -x "linked $n" "$W/verify.out"; then
		pass "$name"
	else
		fail "$name" "$(cat "$W/verify.out" "$W/verify.err")"
	fi
}

# quiet: the victim started last wrote nothing for a while; its compilers are at rest.
quiet() {
	local before

	before=$(stat -c %s "$JVM_ERR")
	sleep 0.3
	[ "$(stat -c %s "$JVM_ERR")" -eq "$before" ]
}

not_entrant() {
	grep -c 'made not entrant' "$JVM_ERR"
}

# memory: what the JVM started last has of its own that a dump could make grow, in KB.  A
# collection first: environments of agents that are gone are freed with it.
memory() {
	"$JTOOL" jcmd "$JVM_PID" GC.run >/dev/null
	"$JTOOL" jcmd "$JVM_PID" VM.native_memory summary |
		sed -nE 's/^- *(Class|Internal|Symbol|Metaspace|Module|JNI|Serviceability|Arguments|Other) .*committed=([0-9]+)KB.*/\2/p' |
		awk '{ sum += $1 } END { print sum }'
}

# What -XX:+PrintCompilation prints: on stderr, or it would get into the victim's lines.
compiled=' *[0-9]+ +[0-9]+ .*'

# Everything, from a victim of many kinds of classes.

everything() {
	local version=$1 before after i

	poll 30 quiet
	partial "$version: dump '*'" dump "$JVM_PID" '*' -d "out.$version" --json || return
	cp "$W/out" "$W/dump.json"
	same "$version: keys" "files pid skipped / bytes class loader other_code path / class loader reason" \
		"$(json "' / '.join(' '.join(sorted(x)) for x in (j, j['files'][0], j['skipped'][0]))")"
	same "$version: only arrays and hidden classes are not there" "" \
		"$(json "' '.join(c['class'] for c in j['skipped'] if not c['class'].endswith('[]')
			and not '/' in c['class'] and c['class'] != 'jdk.internal.vm.Continuation')")"
	same "$version: their number is told" "$(json "len(j['skipped'])")" \
		"$(sed -nE 's/.* ([0-9]+) of [0-9]+ classes were not dumped.*/\1/p' "$W/err")"
	same "$version: memory holds the same code" 0 "$(json "sum(f['other_code'] for f in j['files'])")"
	same "$version: a file for each" "$(json "len({f['path'] for f in j['files']})")" \
		"$(find "$W/out.$version" -type f | wc -l)"
	same "$version: of that size" True \
		"$(cd "$W" && json "all(__import__('os').stat(f['path']).st_size == f['bytes'] for f in j['files'])")"
	check "$version: in package folders" test -s "$W/out.$version/java/lang/Object.class"
	works "$version: classes" classes --json "$JVM_PID"
	cp "$W/out" "$W/classes.json"

	# The first dump has the JVM number its methods, which it never forgets.
	jt dump "$JVM_PID" '*' -d "$memory_dir/again"
	before=$(memory)
	poll 30 quiet
	after=$(not_entrant)
	for ((i = 0; i < 20; i++)); do
		jt dump "$JVM_PID" '*' -d "$memory_dir/again"
	done
	same "$version: no method was made not entrant" "$after" "$(not_entrant)"
	after=$(memory)
	check "$version: no memory after 20 dumps ($before, then $after KB)" \
		test $((after - before)) -le 64
	same "$version: the files are the same each time" "" \
		"$(diff -r "$W/out.$version" "$memory_dir/again" | grep -v "^Only in $memory_dir")"
	rm -r "$memory_dir/again"
	unharmed "$version: dumped 20 times" "hot true" "$compiled"
}

# judged VERSION NAME [PATH]: by its own javap and verifier; what the application's classes name
# but was never loaded is on the PATH.
judged() {
	local version=$1 name=$2 module patches=()

	javap_reads "$name: javap reads every file" "$version" "out.$version"
	mkdir "$W/app.$version"
	(cd "$W" && arrange app dump.json "app.$version") >"$W/app.list"
	verified "$name: the application's classes are verified" "$version" app.list app \
		-cp "app.$version:verifier${3:+:$3}"
	[ "$version" -ge 21 ] || return
	mkdir "$W/modules.$version"
	(cd "$W" && arrange boot classes.json dump.json "modules.$version") >"$W/modules.list"
	arrange names "$W/classes.json" "$W/dump.json" >"$W/boot.list"
	while read -r module; do
		patches+=(--patch-module "$module=modules.$version/$module")
	done <"$W/modules.list"
	verified "$name: the boot loader's classes are verified" "$version" boot.list boot \
		-cp verifier "-Xlog:class+load:file=load.log" "${patches[@]}"
	same "$name: all of them were" "$(wc -l <"$W/boot.list")" \
		"$(grep -o "[^ ]* source: .*modules.$version/" "$W/load.log" | sort -u | wc -l)"
}

# Names that a file should not have, and two classes of one.
named() {
	local version=$1 line n=0

	ask names '^defined 14$' >/dev/null
	works "$version: strange names" dump "$JVM_PID" 'evil.*' -d "evil.$version"
	while IFS= read -r line; do
		[ ! -f "$W/$line" ] || n=$((n + 1))
	done <"$W/out"
	same "$version: their files are where it says" 14 "$n"
	same "$version: and nowhere else" 14 "$(find "$W/evil.$version" -type f | wc -l)"
	check "$version: in their folder" test -f "$W/evil.$version/evil/a100%25.class"
	check "$version: with safe names" test -f "$W/evil.$version/evil/a%0Ab.class"
	check "$version: that is no option" test -f "$W/evil.$version/evil/%2Drf.class"

	ask twins '^defined 2$' >/dev/null
	works "$version: two of one name" dump "$JVM_PID" twins.Same -d "twins.$version" --json
	same "$version: each in a folder of its loader" "2 2" \
		"$(json "'%d %d' % (len(j['files']), len({f['path'] for f in j['files']}))")"
	same "$version: called after it" True \
		"$(json "all('/loader.Generated@' + f['loader'].split('@')[1] + '/twins/Same.class' in f['path']
			for f in j['files'])")"
	line=$(json "j['files'][0]['loader'].split(' ')[-1]")
	prints "$version: one by its loader" "^one\.$version/twins/Same.class\$" \
		dump "$JVM_PID" twins.Same --loader "$line" -d "one.$version"
	refuses 1 'no class' "$version: no such class" dump "$JVM_PID" no.such.Class
	refuses 1 'loader' "$version: no such loader" dump "$JVM_PID" Dumped --loader nobody
	check "$version: no directory for nothing" test ! -e "$W/no"
	refuses 1 'no class' "$version: nothing to put there" dump "$JVM_PID" no.such -d no
	check "$version: and nothing is there" test ! -e "$W/no"
}

# What lies in the directory leads nowhere.
led_astray() {
	local version=$1

	mkdir "$W/astray.$version" "$W/elsewhere.$version"
	ln -s "../elsewhere.$version" "$W/astray.$version/evil"
	ln -s "../elsewhere.$version/file" "$W/astray.$version/Dumped.class"
	partial "$version: a link as a folder" dump "$JVM_PID" 'evil.Case' -d "astray.$version"
	check "$version: and why not" grep -q 'evil.Case not dumped: .*link' "$W/err"
	partial "$version: a link as a file" dump "$JVM_PID" Dumped 'Dumped$Circle' -d "astray.$version"
	same "$version: the other is there" "astray.$version/Dumped\$Circle.class" "$(cat "$W/out")"
	same "$version: nothing elsewhere" 0 "$(find "$W/elsewhere.$version" -mindepth 1 | wc -l)"
	mkdir "$W/old.$version"
	echo old >"$W/old.$version/Dumped.class"
	ln "$W/old.$version/Dumped.class" "$W/old.$version/kept"
	works "$version: a file that is there" dump "$JVM_PID" Dumped -d "old.$version"
	check "$version: is replaced" cmp "$W/old.$version/Dumped.class" "$W/out.$version/Dumped.class"
	same "$version: as a whole" old "$(cat "$W/old.$version/kept")"
	refuses 2 'directory' "$version: DIR is a file" dump "$JVM_PID" Dumped -d "old.$version/kept"
}

agent_is_gone() {
	[ "$(thread_count "$JVM_PID")" -le "$1" ] && ! grep -q 'jtool agent' "/proc/$JVM_PID/task/"*/comm
}

killed=$memory_dir/killed

# unlike VERSION: the files there that are not as a whole dump has them.
unlike() {
	local file

	while read -r file; do
		[ ! -e "$W/out.$1/$file" ] || cmp -s "$killed/$file" "$W/out.$1/$file" || echo "$file"
	done < <(cd "$killed" && find . -type f)
}

nothing_hidden() {
	[ -z "$(find "$killed" -mindepth 1 -name '.*')" ]
}

killed() {
	local version=$1 i threads

	threads=$(thread_count "$JVM_PID")
	mkdir "$killed"
	for ((i = 1; i <= $(in_soak 100 10); i++)); do
		# In a shell of its own, which says nothing of how it ended.
		bash -c '! timeout -s KILL "$@"' - "0.$(printf %03d $((i * 17 % 170 + 3)))" \
			"$W/jtool" dump "$JVM_PID" '*' -d "$killed" >/dev/null 2>&1
	done
	check "$version: jtool killed: the agent is gone" poll 10 agent_is_gone "$threads"
	check "$version: jtool killed: nothing hidden is left" poll 10 nothing_hidden
	same "$version: jtool killed: each file is whole" "" "$(unlike "$version")"
	works "$version: jtool killed: and again" dump "$JVM_PID" Dumped -d "$killed"
	unharmed "$version: jtool killed" "hot true|defined [0-9]+" "$compiled"
	rm -r "$killed"
}

# -Xcheck:jni finds nothing in what we do.
checked() {
	start_jvm "$1" serial Dumped -Xcheck:jni || return
	partial "$1: -Xcheck:jni, dump" dump "$JVM_PID" 'java.lang.*' 'Dumped*' -d "$memory_dir/checked"
	unharmed "$1: -Xcheck:jni"
	stop "$JVM_PID"
	rm -r "$memory_dir/checked"
}

# A real application: Debian's Tomcat, with pages of its examples asked for.

page() {
	curl -s -f -o /dev/null --max-time 20 "http://localhost:$port/examples/$1"
}

tomcat() {
	local version=$1 argv

	port=$((20000 + RANDOM % 10000))
	rm -rf "$W/tc"
	tomcat10-instance-create -p $port -c $((port + 1)) -w SHUTDOWN "$W/tc" >/dev/null
	cp -rL /usr/share/tomcat10-examples/examples "$W/tc/webapps/"
	jvm_command "$version" default -Xmx256m -cp "tomcat/bin/*" -Dcatalina.home="$IW/tomcat" \
		-Dcatalina.base="$IW/tc" -Djava.io.tmpdir="$IW/tc/temp" \
		org.apache.catalina.startup.Bootstrap start
	spawn "${argv[@]}"
	check "Tomcat on $version serves" poll 60 page servlets/servlet/HelloWorldExample
	partial "Tomcat on $version: dump '*'" dump "$JVM_PID" '*' -d "out.$version" --json
	cp "$W/out" "$W/dump.json"
	# Two that need a compiler, which is not there, were loaded all the same.
	same "Tomcat on $version: only arrays and hidden classes are not there" "" \
		"$(json "' '.join(c['class'] for c in j['skipped'] if not c['class'].endswith('[]')
			and not '/' in c['class'] and c['class'] != 'jdk.internal.vm.Continuation'
			and not 'cannot link it' in c['reason'])")"
	check "Tomcat on $version: there are many" test "$(json "len(j['files'])")" -gt 2500
	works "Tomcat on $version: classes" classes --json "$JVM_PID"
	cp "$W/out" "$W/classes.json"
	check "Tomcat on $version still serves" page servlets/servlet/RequestInfoExample
	stop "$JVM_PID"
	judged "$version" "Tomcat on $version" \
		"tomcat/lib/*:tomcat/bin/*:tc/webapps/examples/WEB-INF/classes:tc/webapps/examples/WEB-INF/lib/*"
	rm -rf "$W"/{out,app,modules}."$version"
}

tomcats() {
	local version

	if ! command -v tomcat10-instance-create >/dev/null ||
		[ ! -d /usr/share/tomcat10-examples/examples ]; then
		skip "Tomcat" "tomcat10-user or tomcat10-examples is not installed"
		return
	fi
	cp -rL /usr/share/tomcat10 "$W/tomcat"
	for version in $(in_soak "${jdks[*]}" "$(newest_of 17 21)"); do
		[ "$version" -lt 11 ] || tomcat "$version" # it is compiled for 11
	done
}

# The machine's own is another JVM of a release that is in the matrix.
for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Dumped -XX:NativeMemoryTracking=summary \
		-XX:+PrintCompilation -XX:+DisplayVMOutputToStderr || continue
	ask hot '^hot true$' >/dev/null
	everything "$version"
	[ "$version" = own ] || judged "$version" "$version" # there is another one of its release
	named "$version"
	led_astray "$version"
	killed "$version"
	stop "$JVM_PID"
	checked "$version"
	rm -rf "$W"/{out,app,modules,evil,twins,one,astray,elsewhere,old}."$version"
done
tomcats
