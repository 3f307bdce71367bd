#!/usr/bin/env bash
# A real application: Debian's ZooKeeper, with a client that counts what it asks for.  What jtool
# tells from outside must be what that client knows.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"
# shellcheck source=zookeeper/server.sh
. "$live_dir/zookeeper/server.sh"

if [ ! -x "$bin/zkServer.sh" ] || ! getent passwd zookeeper >/dev/null; then
	skip "ZooKeeper" "zookeeper is not installed"
	exit 0
fi
of=org.apache.zookeeper
javac --release 8 -Xlint:-options -cp "$jar" -d "$W/made" "$live_dir"/zookeeper/*.java || exit
fetch_jars

# shown: what a trace or a profile beside the test printed, for json.
shown() {
	cp "$W/trace.out" "$W/out"
}

# left_nothing NAME: in the files that the server sees.
left_nothing() {
	check "$1: nothing left" \
		poll 30 nothing_left "${jdk_root[$version]:-}" "$JVM_PID" "${user%:*}" "${home#/}"
}

# every_class DIR: as it is now, to $W/DIR.
every_class() {
	rm -rf "${W:?}/$1"
	jt dump "$JVM_PID" '*' -d "$1" --json
	check "$version: every class is dumped" whole_dump
}

# other_code: the classes of the last dump that run other code than it says: those which the
# flight recorder changed.
other_code() {
	json "' '.join(f['class'] for f in j['files'] if f['other_code'])"
}

# as_they_were: all classes, but for what was loaded meanwhile.
as_they_were() {
	poll 10 no_agent || fail "$version: the agent is gone"
	every_class after
	same "$version: every class is as it was" "" \
		"$(diff -r "$W/before" "$W/after" 2>&1 | grep -v "^Only in $W/after")"
	same "$version: and runs so" "$recorders" "$(other_code)"
}

# What can be told without a word to it, and what it is asked.
looked_at() {
	local before

	prints "list" "^ *$JVM_PID +zookeeper .*QuorumPeerMain" list
	prints "info" '^Flags: .*zookeeper.forceSync=no' info "$JVM_PID"
	prints "perf" "^sun.rt.javaCommand=\".*QuorumPeerMain $home/zoo.cfg\"$" \
		perf "$JVM_PID" sun.rt.javaCommand
	prints "threads" '^"SyncThread:0"' threads "$JVM_PID"
	prints "threads: the one of its port" "^\"ProcessThread\(sid:0 cport:$port\):\"" \
		threads -l "$JVM_PID"
	prints "jcmd" 'OpenJDK' jcmd "$JVM_PID" VM.version
	prints "props" '^no$' props "$JVM_PID" zookeeper.forceSync
	prints "flags: set" 'true -> false' flags "$JVM_PID" -HeapDumpOnOutOfMemoryError
	prints "flags: set back" 'false -> true' flags "$JVM_PID" +HeapDumpOnOutOfMemoryError
	works "stat" stat --json "$JVM_PID"
	before=$(json "int(j['samples'][0]['FGC'])")
	works "jcmd GC.run" jcmd "$JVM_PID" GC.run
	works "stat -t gc" stat -t gc "$JVM_PID" 100ms 3 --json
	same "stat: a collection more" "True 3" \
		"$(json "'%s %d' % (j['samples'][0]['FGC'] > $before, len(j['samples']))")"
	JT_AS=$user works "heaphisto, as its user" heaphisto --by package --json "$JVM_PID"
	same "heaphisto: its packages" True "$(json "{'$of.server', '$of.data', 'java.lang'}
		< {c['class'] for c in j['classes']}")"
}

# A recording, for which the recorder changes classes of the JDK's.
recorded() {
	works "jfr record" jfr "$JVM_PID" record recording.jfr -d 1
	check "jfr: whose recording it is" \
		grep -q QuorumPeerMain <(jfr print --events jdk.JVMInformation "$W/recording.jfr")
}

# Its classes, and other code for one of them.
classes() {
	local patch=$W/made/${of//.//}/server/command/RuokCommand.class

	prints "classes" "^$of.server.DataTree +app .*/zookeeper.jar$" \
		classes "$JVM_PID" "$of.server.Data*"
	prints "class" 'byte\[\] getData\(\)' class "$JVM_PID" $of.server.DataNode
	prints "class -b" 'invokespecial .*DataNode' class -b "$JVM_PID" $of.server.DataTree
	prints "dump --diff: it runs what is in its jar" '^0 of [0-9]{2,} classes' \
		dump "$JVM_PID" "$of.server.*Processor*" "$of.server.Data*" --diff "$jar"
	works "dump" dump "$JVM_PID" $of.server.DataTree -d "$W/running"
	check "dump: javap reads it" \
		grep -q createNode <(javap -p -c "$W/running/${of//.//}/server/DataTree.class")

	jt redefine --check "$JVM_PID" "$jar" --json # tells, too, which are not loaded
	same "redefine --check: its jar, with nothing to do" "0 ['not loaded', 'unchanged']" \
		"$rc $(json "sorted({c['result'] for c in j['classes']})")"
	prints "redefine --check" possible redefine --check "$JVM_PID" "$patch" --json
	same "nothing changed by that" imok "$(four ruok)"
	jt redefine "$JVM_PID" "$patch"
	same "redefine" "0 patched" "$rc $(four ruok)"
	prints "patches" "^$of.server.command.RuokCommand " patches "$JVM_PID"
	works "restore" restore "$JVM_PID"
	same "it is what it was" imok "$(four ruok)"
}

# Who keeps what the client has left there?
kept() {
	local nodes data=$((kept * 1000)) file source name

	# The root has two names, and is one object.
	nodes=$(($(znodes) - 1))
	same "$version: what the client made is there" $((kept + 2 + n_own)) "$nodes"
	works "$version: heaphisto --live" heaphisto --live "$JVM_PID" \
		--filter $of.server.DataNode --json
	same "$version: heaphisto: as many as znodes" "$nodes" \
		"$(json "sum(c['instances'] for c in j['classes'])")"
	file=$W/dump.hprof
	works "$version: heapdump" heapdump "$JVM_PID" "$file" --force
	for source in "$JVM_PID" "$file"; do
		name="$version, $([ "$source" = "$file" ] && echo a dump || echo its heap)"
		works "$name: refpaths" refpaths "$source" $of.server.DataNode --json
		# All but the three that the tree has fields for, the root's two names among them.
		same "$name: each node is reached, by the tree's table" \
			"$nodes $nodes $((nodes - 3)) $of.server.DataTree field nodes" \
			"$(json "(lambda path: ' '.join(str(x) for x in (
				j['instances'], j['reached'], path['count'],
				*next((s['class'], s['via']) for s in path['steps']
					if s['class'].endswith('DataTree')))))(j['paths'][0])")"
		works "$name: retained" retained "$source" --json
		same "$name: the tree retains their data" True "$(json "any(
			c['class'] == '$of.server.DataTree' and c['instances'] == 1
			and c['retained'] > $data for c in j['classes'])")"
	done
}

# calls METHOD: how many of its calls were shown.
calls() {
	grep -c "\"method\":\"$of.$1[\"(]" "$W/trace.out"
}

# Each request was seen to its end.
all_ended() {
	[ "$(calls server.FinalRequestProcessor.processRequest)" -ge "$1" ] &&
		[ "$(calls server.FinalRequestProcessor.processRequest)" -eq \
			"$(calls 'proto.ReplyHeader.<init>')" ]
}

traced() {
	local name="$version: trace" before last

	begin_trace "$name" $of.server.FinalRequestProcessor.processRequest \
		"$of.proto.ReplyHeader.<init>" $of.server.DataTree.createNode \
		--json -c 0 --rate 0 || return
	client did
	before=$requests
	last=$kept
	client "rounds 200"
	client "keep 50"
	poll 20 all_ended $((requests - before))
	end_trace "$name"
	python3 "$live_dir/zookeeper/calls.py" "$W/trace.out" \
		$((requests - before)) 200 "$last" 50 >"$W/out" 2>&1
	same "$name: each request, and what it made" "as the client knows" "$(cat "$W/out")"

	begin_trace "$name --stack" $of.server.DataTree.createNode --stack --json -c 1 || return
	client "rounds 1"
	await_trace "$name --stack" || return
	shown
	same "$name --stack: from where" \
		"['DataTree.createNode', 'Final.processRequest', 'Sync.run']" \
		"$(json "[f.split('(')[0].rpartition('server.')[2].replace('RequestProcessor', '')
			for f in j['stack']
			if any(m in f for m in ('.createNode', '.processRequest(', '.run('))]")"
}

# While the client goes on: between what it had done and what it has.
traced_on() {
	local name="$version: trace --summary" first begun=0 ended=0 threads=2

	client "begin $threads"
	first=$requests
	if begin_trace "$name" $of.server.FinalRequestProcessor.processRequest \
		--summary --json; then
		client did
		begun=$requests
		client "rounds 100"
		ended=$requests
		end_trace "$name"
		shown
	fi
	client end
	# Each thread, and the one that did the rounds, may have one on its way at either end; and a
	# client that is kept waiting says that it is there.
	same "$name: what the client did meanwhile" True \
		"$(json "$ended - $begun - 6 <= j['count'] <= $requests - $first + 6
			and j['errors'] == 0")"
}

# counts CLASS...: how many the profile has of each.
counts() {
	json "' '.join(str(sum(s['count'] for s in j['sites'] if s['class'] == '$of.' + c))
		for c in '$*'.split())"
}

# end_profile NAME: a JDK 8 may take its time to put a thousand classes back.
end_profile() {
	kill -INT "$TRACE_PID"
	poll 100 test -s "$W/trace.rc"
	await_trace "$1" && same "$1: Ctrl-C ends it" 0 "$rc"
	shown
}

# Every object, while the client does so many requests.
counted() {
	local name="$version: alloc $1" made set got deleted had n

	begin_aside alloc 'begun, which took' "$name" "$@" -d 0 -n 0 --json || return
	client did
	made=$creates set=$sets got=$gets deleted=$deletes had=$kept
	client "rounds 200"
	client "keep 500"
	end_profile "$name"
	n=$((creates - made))
	same "$name: of each create" "$n $n $n" \
		"$(counts server.DataNode txn.CreateTxn proto.CreateRequest)"
	same "$name: of each set" "$((sets - set)) $((sets - set))" \
		"$(counts txn.SetDataTxn proto.SetDataRequest)"
	same "$name: of each get, and delete" \
		"$((gets - got)) $((deletes - deleted)) $((deletes - deleted))" \
		"$(counts proto.GetDataRequest txn.DeleteTxn proto.DeleteRequest)"
	same "$name: where" "{'$of.server.DataTree.createNode'}" \
		"$(json "{s['stack'][0].partition('(')[0] for s in j['sites']
			if s['class'] == '$of.server.DataNode'}")"
	[ $# -eq 1 ] || return 0
	# Arrays of 1000 and 100 bytes; as few as that at a place are exact.
	same "$name: the data that came in" "$n True" \
		"$(json "(lambda data: '%d %s' % (sum(s['count'] for s in data),
			sum(s['bytes'] for s in data) in [
				($kept - $had) * 1016 + ($n - $kept + $had) * busy
				for busy in (112, 120)
			]))([s for s in j['sites']
				if s['class'] == 'byte[]' and '.readBuffer(' in s['stack'][0]
				and '.CreateRequest.deserialize(' in s['stack'][1]])")"
}

# A site's class and method.
top="(lambda s: ' '.join((s['class'], s['stack'][0].partition('(')[0].rpartition('.')[2])))"

# leaked FIRST OPTION...: what is made and stays, amid what goes, and FIRST of all what takes most.
leaked() {
	local first=$1 had made n nodes name="$version: alloc --live $2"

	shift
	begin_aside alloc 'begun, which took' "$name" --live --age 2 "$@" -d 0 -n 0 --json || return
	client did
	had=$kept made=$creates
	client "keep 500"
	client "rounds 200" # and the server remembers none of them as changes
	n=$((kept - had))
	works "$name: GC.run" jcmd "$JVM_PID" GC.run
	works "$name: GC.run again" jcmd "$JVM_PID" GC.run
	client "keep 50" # stay, too, but not for so long: the collection at the end does not count
	nodes=$((creates - made))
	end_profile "$name"
	if [ "$1" = --exact ]; then
		same "$name: what stays is the first row" "$first" "$(json "$top(j['sites'][0])")"
		same "$name: as many nodes as were made, and stay" "$nodes $n" \
			"$(json "' '.join(str(sum(s[k] for s in j['sites']
				if s['class'] == '$of.server.DataNode'))
				for k in ('count', 'live_count'))")"
	else
		# Some 110 of them are samples, and 20 KB are of the last rounds.  A buffer that has
		# grown, and is one sample, may be as large.
		same "$name: what stays is in the first rows, and as much" True "$(json "any(
			$top(site) == '$first' and 0.5 < site['live_bytes'] / ($n * 1016) < 1.6
			for site in j['sites'][:3])")"
	fi
}

profiled() {
	local data='byte[] readBuffer'

	case $version in
	own)
		counted --exact
		leaked "$data" --interval 4k
		;;
	8) # Classes by their names: of all, each takes this JDK seconds to begin and to end.
		counted --exact $of.server.DataNode $of.txn.{Create,SetData,Delete}Txn \
			$of.proto.{Create,SetData,GetData,Delete}Request
		leaked "$of.data.StatPersisted createStat" \
			--exact $of.data.StatPersisted $of.server.DataNode
		;;
	*)
		leaked "$data" --exact
		;;
	esac
}

# on_server VERSION: all of it that may differ from one JDK to the next, and on our own the rest.
on_server() {
	local before

	version=$1
	start_server "$version" && start_client || return
	n_own=4 # znodes that it has by itself, its root once
	client "keep 1000"
	# The server remembers its last 500 changes, and so would hold these, too.
	client "rounds 200"
	[ "$version" != own ] || recorded
	every_class before
	recorders=$(other_code)
	if [ "$version" = own ]; then
		client "begin 2"
		looked_at
		classes
		before=$requests
		client end
		check "the client went on" test "$requests" -gt "$before"
		left_nothing "$version, looked at"
	fi
	kept
	traced
	traced_on
	profiled
	as_they_were
	check "$version: it still serves" is_ok
	before=$requests
	client "rounds 20"
	same "$version: and does what it is asked for" $((before + 80)) "$requests"
	same "$version: as many znodes as were made" $((kept + 3 + n_own)) "$(znodes)"
	same "$version: its log is its own" "" "$(strange_log)"
	left_nothing "$version"
	stop "${client[0]}" "$server"
}

for one in own $(on 8 25); do
	on_server "$one"
done
