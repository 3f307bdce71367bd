#!/usr/bin/env bash
# A real application: Debian's ZooKeeper, with a client that counts its requests. jtool's results
# must equal the client's counts.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"
# shellcheck source=apps/zookeeper/server.sh
. "$live_dir/apps/zookeeper/server.sh"

if [ ! -x "$bin/zkServer.sh" ] || ! getent passwd zookeeper >/dev/null; then
	skip "ZooKeeper" "zookeeper is not installed"
	exit 0
fi
of=org.apache.zookeeper
javac --release 8 -Xlint:-options -cp "$jar" -d "$W/made" "$live_dir"/apps/zookeeper/*.java || exit
fetch_jars

# shown: copies the output of a background trace or profile to the file that `json` reads.
shown() {
	cp "$W/trace.out" "$W/out"
}

# left_nothing NAME: no file of jtool remains in the server's root.
left_nothing() {
	check "$1: no file remains" \
		poll 30 nothing_left "${jdk_root[$version]:-}" "$JVM_PID" "${user%:*}" "${home#/}"
}

# every_class DIR: dumps all classes to $W/DIR.
every_class() {
	rm -rf "${W:?}/$1"
	jt dump "$JVM_PID" '*' -d "$1" --json
	check "$version: every class is dumped" dump_is_complete
}

# other_code: prints the classes of the last dump whose running code differs from their class file,
# because the flight recorder has rewritten them.
other_code() {
	json "' '.join(f['class'] for f in j['files'] if f['other_code'])"
}

# as_they_were: all classes are unchanged, except those that were loaded or unloaded meanwhile: each
# accessor that reflection generates has its own loader, which is softly reachable only.
as_they_were() {
	local changed unloaded="^Only in $W/before/.*reflect: Generated[A-Za-z]+Accessor[0-9]+\.class$"

	poll 10 no_agent || fail "$version: the agent has ended"
	every_class after
	changed=$(diff -r "$W/before" "$W/after" 2>&1 | grep -v "^Only in $W/after")
	grep -E "$unloaded" <<<"$changed" | sed 's/.*: /# unloaded meanwhile: /'
	same "$version: every class is restored" "" "$(grep -v -E "$unloaded" <<<"$changed")"
	same "$version: every class runs its original code" "$recorders" "$(other_code)"
}

# Commands that read counters, and attach operations.
looked_at() {
	local before

	prints "list: the server" "^ *$JVM_PID +zookeeper .*QuorumPeerMain" list
	prints "info: its flags" '^Flags: .*zookeeper.forceSync=no' info "$JVM_PID"
	prints "perf: its command" "^sun.rt.javaCommand=\".*QuorumPeerMain $home/zoo.cfg\"$" \
		perf "$JVM_PID" sun.rt.javaCommand
	prints "threads: a thread of the server" ' (RUNNABLE|WAITING|BLOCKED) +SyncThread:0 ' threads -n 0 "$JVM_PID"
	prints "threads -l: the thread of its port" "^\"ProcessThread\(sid:0 cport:$port\):\"" \
		threads -l "$JVM_PID"
	prints "jcmd: it works" 'OpenJDK' jcmd "$JVM_PID" VM.version
	prints "props: a property" '^no$' props "$JVM_PID" zookeeper.forceSync
	prints "flags: a flag is set" 'true -> false' flags "$JVM_PID" -HeapDumpOnOutOfMemoryError
	prints "flags: the flag is restored" 'false -> true' \
		flags "$JVM_PID" +HeapDumpOnOutOfMemoryError
	works "stat: it works" stat --json "$JVM_PID"
	before=$(json "int(j['samples'][0]['FGC'])")
	works "jcmd GC.run: it works" jcmd "$JVM_PID" GC.run
	works "stat -t gc: it works" stat -t gc "$JVM_PID" 100ms 3 --json
	same "stat: it counts the collection" "True 3" \
		"$(json "'%s %d' % (j['samples'][0]['FGC'] > $before, len(j['samples']))")"
	JT_AS=$user works "heaphisto: it works as the server's user" \
		heaphisto --by package --json "$JVM_PID"
	same "heaphisto: its packages" True "$(json "{'$of.server', '$of.data', 'java.lang'}
		< {c['class'] for c in j['classes']}")"
}

# A recording, for which the flight recorder rewrites classes of the JDK.
recorded() {
	works "jfr record: it works" jfr "$JVM_PID" record recording.jfr -d 1
	check "jfr record: the recording is the server's" \
		grep -q QuorumPeerMain <(jfr print --events jdk.JVMInformation "$W/recording.jfr")
}

# The server's classes, and a patch for one of them.
classes() {
	local patch=$W/made/${of//.//}/server/command/RuokCommand.class

	prints "classes: the server's" "^$of.server.DataTree +app .*/zookeeper.jar$" \
		classes "$JVM_PID" "$of.server.Data*"
	prints "class: a method" 'byte\[\] getData\(\)' class "$JVM_PID" $of.server.DataNode
	prints "class -b: bytecode" 'invokespecial .*DataNode' \
		class -b "$JVM_PID" $of.server.DataTree
	prints "dump --diff: the running code equals the jar" '^0 of [0-9]{2,} classes' \
		dump "$JVM_PID" "$of.server.*Processor*" "$of.server.Data*" --diff "$jar"
	works "dump: it works" dump "$JVM_PID" $of.server.DataTree -d "$W/running"
	check "dump: javap reads it" \
		grep -q createNode <(javap -p -c "$W/running/${of//.//}/server/DataTree.class")

	jt redefine --check "$JVM_PID" "$jar" --json # also lists classes that are not loaded
	same "redefine --check: the server's jar is unchanged" "0 ['not loaded', 'unchanged']" \
		"$rc $(json "sorted({c['result'] for c in j['classes']})")"
	prints "redefine --check: a patch is possible" \
		possible redefine --check "$JVM_PID" "$patch" --json
	same "redefine --check: it changes nothing" imok "$(four ruok)"
	jt redefine "$JVM_PID" "$patch"
	same "redefine: the patch runs" "0 patched" "$rc $(four ruok)"
	prints "patches: the patched class" "^$of.server.command.RuokCommand " patches "$JVM_PID"
	works "restore: it works" restore "$JVM_PID"
	same "restore: the original runs" imok "$(four ruok)"
}

# The objects that retain the client's znodes.
kept() {
	local nodes data=$((kept * 1000)) file source name

	# The root has two names but is one object.
	nodes=$(($(znodes) - 1))
	same "$version: the server has the client's znodes" $((kept + 2 + n_own)) "$nodes"
	works "$version: heaphisto --live: it works" heaphisto --live "$JVM_PID" \
		--filter $of.server.DataNode --json
	same "$version: heaphisto: as many as znodes" "$nodes" \
		"$(json "sum(c['instances'] for c in j['classes'])")"
	file=$W/dump.hprof
	works "$version: heapdump: it works" heapdump "$JVM_PID" "$file" --force
	for source in "$JVM_PID" "$file"; do
		name="$version, $([ "$source" = "$file" ] && echo a dump || echo its heap)"
		works "$name: refpaths: it works" refpaths "$source" $of.server.DataNode --json
		# All but three, for which the tree has fields; two of them are the names of the
		# root.
		same "$name: refpaths: the tree's table reaches each node" \
			"$nodes $nodes $((nodes - 3)) $of.server.DataTree field nodes" \
			"$(json "(lambda path: ' '.join(str(x) for x in (
				j['instances'], j['reached'], path['count'],
				*next((s['class'], s['via']) for s in path['steps']
					if s['class'].endswith('DataTree')))))(j['paths'][0])")"
		works "$name: retained: it works" retained "$source" --json
		same "$name: retained: the tree retains their data" True "$(json "any(
			c['class'] == '$of.server.DataTree' and c['instances'] == 1
			and c['retained'] > $data for c in j['classes'])")"
	done
}

# calls METHOD: the number of its calls in the trace.
calls() {
	grep -c "\"method\":\"$of.$1[\"(]" "$W/trace.out"
}

# all_ended N: the trace has the end of at least N requests.
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
	python3 "$live_dir/apps/zookeeper/calls.py" "$W/trace.out" \
		$((requests - before)) 200 "$last" 50 >"$W/out" 2>&1
	same "$name: each request and its effect" "as the client knows" "$(cat "$W/out")"

	begin_trace "$name --stack" $of.server.DataTree.createNode --stack --json -c 1 || return
	client "rounds 1"
	await_trace "$name --stack" || return
	shown
	same "$name --stack: the stack" \
		"['DataTree.createNode', 'Final.processRequest', 'Sync.run']" \
		"$(json "[f.split('(')[0].rpartition('server.')[2].replace('RequestProcessor', '')
			for f in j['stack']
			if any(m in f for m in ('.createNode', '.processRequest(', '.run('))]")"
}

# A trace while the client runs: the counts lie between the client's counts around it.
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
	# Each thread, and the one that did the rounds, may have a request in flight when the trace
	# begins and ends; and a waiting client sends pings.
	same "$name: the client's requests" True \
		"$(json "$ended - $begun - 6 <= j['count'] <= $requests - $first + 6
			and j['errors'] == 0")"
}

# counts CLASS...: the number of allocations of each class in the profile.
counts() {
	json "' '.join(str(sum(s['count'] for s in j['sites'] if s['class'] == '$of.' + c))
		for c in '$*'.split())"
}

# end_profile NAME: like end_trace, but JDK 8 may take long to restore a thousand classes.
end_profile() {
	kill -INT "$TRACE_PID"
	poll 100 test -s "$W/trace.rc"
	await_trace "$1" && same "$1: Ctrl-C ends it" 0 "$rc"
	shown
}

# Counts every allocation while the client makes a known number of requests.
counted() {
	local name="$version: alloc $1" made set got deleted had n

	begin_background alloc 'begun, which took' "$name" "$@" -d 0 -n 0 --json || return
	client did
	made=$creates set=$sets got=$gets deleted=$deletes had=$kept
	client "rounds 200"
	client "keep 500"
	end_profile "$name"
	n=$((creates - made))
	same "$name: objects of each create" "$n $n $n" \
		"$(counts server.DataNode txn.CreateTxn proto.CreateRequest)"
	same "$name: objects of each set" "$((sets - set)) $((sets - set))" \
		"$(counts txn.SetDataTxn proto.SetDataRequest)"
	same "$name: objects of each get and delete" \
		"$((gets - got)) $((deletes - deleted)) $((deletes - deleted))" \
		"$(counts proto.GetDataRequest txn.DeleteTxn proto.DeleteRequest)"
	same "$name: the allocation site of nodes" "{'$of.server.DataTree.createNode'}" \
		"$(json "{s['stack'][0].partition('(')[0] for s in j['sites']
			if s['class'] == '$of.server.DataNode'}")"
	[ $# -eq 1 ] || return 0
	# Arrays of 1000 and 100 bytes; at a site with so few, the count is exact.
	same "$name: the data of the requests" "$n True" \
		"$(json "(lambda data: '%d %s' % (sum(s['count'] for s in data),
			sum(s['bytes'] for s in data) in [
				($kept - $had) * 1016 + ($n - $kept + $had) * busy
				for busy in (112, 120)
			]))([s for s in j['sites']
				if s['class'] == 'byte[]' and '.readBuffer(' in s['stack'][0]
				and '.CreateRequest.deserialize(' in s['stack'][1]])")"
}

# The class and method of an allocation site.
top="(lambda s: ' '.join((s['class'], s['stack'][0].partition('(')[0].rpartition('.')[2])))"

# allocated: the bytes that the request thread has allocated.
allocated() {
	jt threads -e "$JVM_PID"
	sed -n 's/^"ProcessThread.* allocated=\([0-9]*\)\(B\|\([KMG]\)\) .*/\1\3/p' "$W/out" |
		numfmt --from=iec
}

# past_first_sample NAME: waits until the request thread has been sampled. HotSpot draws the
# distance to a thread's first sample when the thread starts, from an exponential distribution with
# a mean of 512 KB, whatever the interval is later. A distance of over 14 means has a probability of
# e^-14 = 8e-7. One more megabyte covers the rest of the TLAB, which is not sampled either.
past_first_sample() {
	local i until=$(($(allocated) + (8 << 20)))

	for ((i = 0; i < 50; i++)); do
		[ "$(allocated)" -ge $until ] && return
		client "rounds 200"
	done
	fail "$1: requests allocate"
	return 1
}

# leaked FIRST OPTION...: an allocation profile finds the leaked objects among the others; FIRST is
# the site with most bytes.
leaked() {
	local first=$1 had made n nodes name="$version: alloc --live $2"

	shift
	begin_background alloc 'begun, which took' "$name" --live --age 2 "$@" -d 0 -n 0 --json || return
	[ "$1" = --exact ] || past_first_sample "$name" || return
	client did
	had=$kept made=$creates
	client "keep 500"
	client "rounds 200" # pushes them out of the server's list of changes
	n=$((kept - had))
	works "$name: jcmd GC.run works" jcmd "$JVM_PID" GC.run
	works "$name: jcmd GC.run works again" jcmd "$JVM_PID" GC.run
	client "keep 50" # retained, but too young: the collection at the end does not count
	nodes=$((creates - made))
	end_profile "$name"
	if [ "$1" = --exact ]; then
		same "$name: the leak is the first row" "$first" "$(json "$top(j['sites'][0])")"
		same "$name: the numbers of allocated and of live nodes" "$nodes $n" \
			"$(json "' '.join(str(sum(s[k] for s in j['sites']
				if s['class'] == '$of.server.DataNode'))
				for k in ('count', 'live_count'))")"
	else
		# Each object of 1016 bytes is sampled with p = 1 - exp(-1016 / 4096) = 0.22, and a
		# sample then counts 1/p: the sum has a standard deviation of sqrt((1 - p) / 500p) =
		# 8.4 %. The last rounds add 4 %, and the last 50 at most 10 %: both limits are over
		# 5 deviations away. One sample of a large buffer may have as many bytes.
		same "$name: the leak is in the first rows, with its size" True "$(json "any(
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
	8) # By class name: with all classes, this JDK takes seconds to start and to end.
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

# on_server VERSION: tests what may differ between JDKs; on the machine's own JVM everything.
on_server() {
	local before

	version=$1
	start_server "$version" && start_client || return
	n_own=4 # the server's own znodes, its root once
	client "keep 1000"
	# Push the znodes out of the server's list of its last 500 changes, which would retain them.
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
		check "attach operations: the client continues" test "$requests" -gt "$before"
		left_nothing "$version, attach operations"
	fi
	kept
	traced
	traced_on
	profiled
	as_they_were
	check "$version: the server still serves" is_ok
	before=$requests
	client "rounds 20"
	same "$version: the server serves further requests" $((before + 80)) "$requests"
	same "$version: the server has all znodes" $((kept + 3 + n_own)) "$(znodes)"
	same "$version: the server's log has no unexpected line" "" "$(unexpected_log)"
	left_nothing "$version"
	stop "${client[0]}" "$server"
}

for one in own $(jdks_of 8 25); do
	on_server "$one"
done
