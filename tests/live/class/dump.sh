#!/usr/bin/env bash
# dump: writes every class that the JVM reports, in files that javap and the verifier accept.
# Classes, compiled methods, memory and other files are unchanged afterwards.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

javac --release 8 -Xlint:-options -d "$W/verifier" "$live_dir/class/Verifier.java"

# A directory in memory for repeated dumps.
memory_dir=$(mktemp -d /dev/shm/jtool-live.XXXXXX)
to_remove+=("$memory_dir")

arrange() {
	python3 "$live_dir/class/dump.py" "$@"
}

# partial NAME ARGUMENT...: exit code 7, and only lines of the documented form on stderr.
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

# javap_reads NAME VERSION DIR: javap reads all files below DIR without complaint.
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

# verified NAME VERSION LIST app|boot WORD...: a new JVM, started with these words and full
# verification, links each class of the list.
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

# quiet: the victim that was started last wrote nothing for a while; its compilers are idle.
quiet() {
	local before

	before=$(stat -c %s "$JVM_ERR")
	sleep 0.3
	[ "$(stat -c %s "$JVM_ERR")" -eq "$before" ]
}

not_entrant() {
	grep -c 'made not entrant' "$JVM_ERR"
}

# memory: the JVM's native memory that a dump could increase, in KB. The collection also frees the
# JVMTI environments of agents that have ended.
memory() {
	"$JTOOL" jcmd "$JVM_PID" GC.run >/dev/null
	"$JTOOL" jcmd "$JVM_PID" VM.native_memory summary |
		sed -nE 's/^- *(Class|Internal|Symbol|Metaspace|Module|JNI|Serviceability|Arguments|Other) .*committed=([0-9]+)KB.*/\2/p' |
		awk '{ sum += $1 } END { print sum }'
}

# The output of -XX:+PrintCompilation; it goes to stderr, to keep it apart from the victim's lines.
compiled=' *[0-9]+ +[0-9]+ .*'

# All classes of a victim with many kinds of classes.

everything() {
	local version=$1 before after i

	poll 30 quiet
	partial "$version: dump '*'" dump "$JVM_PID" '*' -d "out.$version" --json || return
	cp "$W/out" "$W/dump.json"
	same "$version: dump --json: its keys" \
		"files pid schema skipped / bytes class loader other_code path / class loader reason" \
		"$(json "' / '.join(' '.join(sorted(x)) for x in (j, j['files'][0], j['skipped'][0]))")"
	same "$version: dump '*': only arrays and hidden classes are skipped" "" \
		"$(json "' '.join(c['class'] for c in j['skipped'] if not c['class'].endswith('[]')
			and not '/' in c['class'] and c['class'] != 'jdk.internal.vm.Continuation')")"
	same "$version: dump '*': the number of skipped classes is reported" \
		"$(json "len(j['skipped'])")" \
		"$(sed -nE 's/.* ([0-9]+) of [0-9]+ classes were not dumped.*/\1/p' "$W/err")"
	same "$version: dump '*': no class runs other code" \
		0 "$(json "sum(f['other_code'] for f in j['files'])")"
	same "$version: dump '*': a file per class" \
		"$(json "len({f['path'] for f in j['files']})")" \
		"$(find "$W/out.$version" -type f | wc -l)"
	same "$version: dump '*': the files have the reported sizes" True \
		"$(cd "$W" && json "all(__import__('os').stat(f['path']).st_size == f['bytes'] for f in j['files'])")"
	check "$version: dump '*': packages are folders" \
		test -s "$W/out.$version/java/lang/Object.class"
	works "$version: classes: it works" classes --json "$JVM_PID"
	cp "$W/out" "$W/classes.json"

	# The first dump makes the JVM assign method ids, which it never frees.
	jt dump "$JVM_PID" '*' -d "$memory_dir/again"
	before=$(memory)
	poll 30 quiet
	after=$(not_entrant)
	for ((i = 0; i < 20; i++)); do
		jt dump "$JVM_PID" '*' -d "$memory_dir/again"
	done
	same "$version: 20 dumps: no compiled method is made not entrant" "$after" "$(not_entrant)"
	after=$(memory)
	check "$version: 20 dumps: native memory does not grow ($before, then $after KB)" \
		test $((after - before)) -le 64
	same "$version: 20 dumps: the same files each time" "" \
		"$(diff -r "$W/out.$version" "$memory_dir/again" | grep -v "^Only in $memory_dir")"
	rm -r "$memory_dir/again"
	unharmed "$version: 20 dumps" "hot true" "$compiled"
}

# verify_dump VERSION NAME [PATH]: javap and the verifier of that JDK accept the dump. PATH has the
# classes that the application's classes name but that were never loaded.
verify_dump() {
	local version=$1 name=$2 module patches=()

	javap_reads "$name: javap reads every file" "$version" "out.$version"
	mkdir "$W/app.$version"
	(cd "$W" && arrange app dump.json "app.$version") >"$W/app.list"
	verified "$name: the application's classes are valid" "$version" app.list app \
		-cp "app.$version:verifier${3:+:$3}"
	[ "$version" -ge 21 ] || return
	mkdir "$W/modules.$version"
	(cd "$W" && arrange boot classes.json dump.json "modules.$version") >"$W/modules.list"
	arrange names "$W/classes.json" "$W/dump.json" >"$W/boot.list"
	while read -r module; do
		patches+=(--patch-module "$module=modules.$version/$module")
	done <"$W/modules.list"
	verified "$name: the boot loader's classes are valid" "$version" boot.list boot \
		-cp verifier "-Xlog:class+load:file=load.log" "${patches[@]}"
	same "$name: all of the boot loader's classes are verified" "$(wc -l <"$W/boot.list")" \
		"$(grep -o "[^ ]* source: .*modules.$version/" "$W/load.log" | sort -u | wc -l)"
}

# Names that are unsafe for files, and two classes of one name.
named() {
	local version=$1 line n=0

	ask names '^defined 14$' >/dev/null
	works "$version: unsafe names: dump works" dump "$JVM_PID" 'evil.*' -d "evil.$version"
	while IFS= read -r line; do
		[ ! -f "$W/$line" ] || n=$((n + 1))
	done <"$W/out"
	same "$version: unsafe names: the files have the printed paths" 14 "$n"
	same "$version: unsafe names: no other file is written" \
		14 "$(find "$W/evil.$version" -type f | wc -l)"
	check "$version: unsafe names: % is escaped" test -f "$W/evil.$version/evil/a100%25.class"
	check "$version: unsafe names: a newline is escaped" \
		test -f "$W/evil.$version/evil/a%0Ab.class"
	check "$version: unsafe names: a leading dash is escaped" \
		test -f "$W/evil.$version/evil/%2Drf.class"

	ask twins '^defined 2$' >/dev/null
	works "$version: two classes of one name: dump works" \
		dump "$JVM_PID" twins.Same -d "twins.$version" --json
	same "$version: two classes of one name: two files" "2 2" \
		"$(json "'%d %d' % (len(j['files']), len({f['path'] for f in j['files']}))")"
	same "$version: two classes of one name: each in its loader's folder" True \
		"$(json "all('/loader.Generated@' + f['loader'].split('@')[1] + '/twins/Same.class' in f['path']
			for f in j['files'])")"
	line=$(json "j['files'][0]['loader'].split(' ')[-1]")
	prints "$version: two classes of one name: --loader selects one" \
		"^one\.$version/twins/Same.class\$" \
		dump "$JVM_PID" twins.Same --loader "$line" -d "one.$version"
	refuses 1 'no class' "$version: unknown class: refused" dump "$JVM_PID" no.such.Class
	refuses 1 'loader' "$version: unknown loader: refused" \
		dump "$JVM_PID" Dumped --loader nobody
	check "$version: empty dump: no directory before" test ! -e "$W/no"
	refuses 1 'no class' "$version: empty dump: refused" dump "$JVM_PID" no.such -d no
	check "$version: empty dump: no directory is created" test ! -e "$W/no"
}

# Links in the output directory are not followed.
no_link_followed() {
	local version=$1

	mkdir "$W/astray.$version" "$W/elsewhere.$version"
	ln -s "../elsewhere.$version" "$W/astray.$version/evil"
	ln -s "../elsewhere.$version/file" "$W/astray.$version/Dumped.class"
	partial "$version: link as a folder: dump is partial" \
		dump "$JVM_PID" 'evil.Case' -d "astray.$version"
	check "$version: link as a folder: the message says why" \
		grep -q 'not dumped: .*link.*: evil.Case$' "$W/err"
	partial "$version: link as a file: dump is partial" \
		dump "$JVM_PID" Dumped 'Dumped$Circle' -d "astray.$version"
	same "$version: link as a file: the other class is dumped" \
		"astray.$version/Dumped\$Circle.class" "$(cat "$W/out")"
	same "$version: links: nothing is written to their targets" \
		0 "$(find "$W/elsewhere.$version" -mindepth 1 | wc -l)"
	mkdir "$W/old.$version"
	echo old >"$W/old.$version/Dumped.class"
	ln "$W/old.$version/Dumped.class" "$W/old.$version/kept"
	works "$version: existing file: dump works" dump "$JVM_PID" Dumped -d "old.$version"
	check "$version: existing file: it is replaced" \
		cmp "$W/old.$version/Dumped.class" "$W/out.$version/Dumped.class"
	same "$version: existing file: its hard link keeps the old content" \
		old "$(cat "$W/old.$version/kept")"
	refuses 2 'directory' "$version: file as DIR: refused" \
		dump "$JVM_PID" Dumped -d "old.$version/kept"
}

agent_is_gone() {
	[ "$(thread_count "$JVM_PID")" -le "$1" ] && ! grep -q 'jtool agent' "/proc/$JVM_PID/task/"*/comm
}

killed=$memory_dir/killed

# differing VERSION: prints the files in $killed that differ from those of a complete dump.
differing() {
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
		# In a separate shell, which prints nothing when it is killed.
		bash -c '! timeout -s KILL "$@"' - "0.$(printf %03d $((i * 17 % 170 + 3)))" \
			"$W/jtool" dump "$JVM_PID" '*' -d "$killed" >/dev/null 2>&1
	done
	check "$version: jtool killed: the agent ends" poll 10 agent_is_gone "$threads"
	check "$version: jtool killed: no temporary file remains" poll 10 nothing_hidden
	same "$version: jtool killed: every file is complete" "" "$(differing "$version")"
	works "$version: jtool killed: the next dump works" dump "$JVM_PID" Dumped -d "$killed"
	unharmed "$version: jtool killed" "hot true|defined [0-9]+" "$compiled"
	rm -r "$killed"
}

# -Xcheck:jni reports nothing.
checked() {
	start_jvm "$1" serial Dumped -Xcheck:jni || return
	partial "$1: -Xcheck:jni: dump is partial" \
		dump "$JVM_PID" 'java.lang.*' 'Dumped*' -d "$memory_dir/checked"
	unharmed "$1: -Xcheck:jni"
	stop "$JVM_PID"
	rm -r "$memory_dir/checked"
}

# A real application: Debian's Tomcat, after requests for pages of its examples.

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
	check "Tomcat on $version: it serves before the dump" \
		poll 60 page servlets/servlet/HelloWorldExample
	partial "Tomcat on $version: dump '*'" dump "$JVM_PID" '*' -d "out.$version" --json
	cp "$W/out" "$W/dump.json"
	# Two classes were loaded, although they cannot be linked without a compiler that is
	# missing.
	same "Tomcat on $version: only arrays, hidden and unlinkable classes are skipped" "" \
		"$(json "' '.join(c['class'] for c in j['skipped'] if not c['class'].endswith('[]')
			and not '/' in c['class'] and c['class'] != 'jdk.internal.vm.Continuation'
			and not 'cannot link it' in c['reason'])")"
	check "Tomcat on $version: over 2500 classes are dumped" \
		test "$(json "len(j['files'])")" -gt 2500
	works "Tomcat on $version: classes works" classes --json "$JVM_PID"
	cp "$W/out" "$W/classes.json"
	check "Tomcat on $version: it serves after the dump" \
		page servlets/servlet/RequestInfoExample
	stop "$JVM_PID"
	verify_dump "$version" "Tomcat on $version" \
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
		[ "$version" -lt 11 ] || tomcat "$version" # it requires JDK 11
	done
}

# The machine's own JVM is of a release that is also among the JDKs.
for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Dumped -XX:NativeMemoryTracking=summary \
		-XX:+PrintCompilation -XX:+DisplayVMOutputToStderr || continue
	ask hot '^hot true$' >/dev/null
	everything "$version"
	[ "$version" = own ] || verify_dump "$version" \
		"$version" # another JDK of its release is tested
	named "$version"
	no_link_followed "$version"
	killed "$version"
	stop "$JVM_PID"
	checked "$version"
	rm -rf "$W"/{out,app,modules,evil,twins,one,astray,elsewhere,old}."$version"
done
tomcats
