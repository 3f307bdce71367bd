#!/usr/bin/env bash
# A real application: Debian's Tomcat, as a user of its own.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"
# shellcheck source=catalina.sh
. "$live_dir/catalina.sh"

if ! command -v tomcat10-instance-create >/dev/null; then
	skip "Tomcat" "tomcat10-user is not installed"
	exit 0
fi

start_tomcat
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
check "nothing left" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"
same "no thread dump in its log" 0 "$(cat "$JVM_OUT" "$JVM_ERR" | grep -c 'Full thread dump')"

# The first walk-through of the README: who holds all that memory?
visit() {
	curl -s --max-time 30 "http://localhost:$port/shop/carts"
}

visited() {
	[ -n "$(visit)" ]
}

if [ -d "$shop" ]; then
	check "the shop is open" poll "$PATIENCE" visited
	curl -s -o /dev/null "http://localhost:$port/shop/carts?[1-1000]"
	n=$(visit)
	for engine in agent hprof; do
		prints "$engine: retained --suspects" 'Carts' \
			retained "$JVM_PID" --suspects --engine $engine
		works "$engine: retained" retained "$JVM_PID" --json --engine $engine
		same "$engine: $n carts retain their pictures" True "$(json "all(
			c['instances'] == $n and c['retained'] > $n * 50_000
			for c in j['classes'] if c['class'] == 'Carts\$Cart')")"
		works "$engine: refpaths" refpaths "$JVM_PID" 'Carts$Cart' --json --engine $engine
		same "$engine: one path holds them all" "[$n]" \
			"$(json "[p['count'] for p in j['paths']]")"
		same "$engine: the registry's" "static INSTANCE, field carts" "$(json "', '.join(
			s['via'] for s in j['paths'][0]['steps'][:2])")"
	done
	check "nothing left after the walks" poll "$PATIENCE" nothing_left / "$JVM_PID" $user \
		"${W#/}/home"
else
	skip "a leak found" "javac is not installed"
fi

# The second: a servlet's class found, dumped, patched, put back.
if [ ! -d "$W/home/tc/webapps/examples" ] || ! command -v javac >/dev/null; then
	skip "a servlet patched" "tomcat10-examples or javac is not installed"
	exit 0
fi

page() {
	curl -s --max-time 30 "http://localhost:$port/examples/servlets/servlet/HelloWorldExample"
}

says() {
	page | grep -q "$1"
}

source=/usr/share/tomcat10-examples/examples/WEB-INF/classes/HelloWorldExample.java
check "the servlet answers" poll "$PATIENCE" says '<h1>Hello World!</h1>'
before=$(page)
prints "classes: the servlet's" \
	'^HelloWorldExample +org.apache.catalina.loader.ParallelWebappClassLoader' \
	classes "$JVM_PID" '*HelloWorld*'
prints "class: its method" 'doGet.*HttpServletRequest' class "$JVM_PID" HelloWorldExample
works "dump: what runs" dump "$JVM_PID" HelloWorldExample -d "$W/running"
check "dump: javap reads it" javap -p -c "$W/running/HelloWorldExample.class"
mkdir "$W/patched"
sed 's/"<h1>" + title/"<h1>Patched: " + title/' "$source" >"$W/patched/HelloWorldExample.java"
check "javac makes the patch" javac -nowarn -cp /usr/share/tomcat10/lib/servlet-api.jar \
	-d "$W/patched" "$W/patched/HelloWorldExample.java"
works "redefine --check" redefine --check "$JVM_PID" "$W/patched/HelloWorldExample.class"
check "nothing changed by that" says '<h1>Hello World!</h1>'
jt redefine "$JVM_PID" "$W/patched/HelloWorldExample.class"
same "redefine" 0 "$rc"
check "what it costs is said" grep -q 'compiles everything anew' "$W/err"
check "the page is patched" says '<h1>Patched: Hello World!</h1>'
prints "patches" "^HelloWorldExample .*$(sha256sum "$W/patched/HelloWorldExample.class" | cut -c -12)" \
	patches "$JVM_PID"
works "dump --diff" dump "$JVM_PID" HelloWorldExample \
	--diff /usr/share/tomcat10-examples/examples/WEB-INF/classes
check "dump --diff: the patched method alone" grep -q 'doGet' "$W/out"
works "restore" restore "$JVM_PID"
same "the page is as it was" "$before" "$(page)"
works "dump again" dump "$JVM_PID" HelloWorldExample -d "$W/restored"
check "the class is as it was" cmp "$W/running/HelloWorldExample.class" \
	"$W/restored/HelloWorldExample.class"
works "patches" patches --json "$JVM_PID"
same "patches: none" "[]" "$(json "j['patches']")"
check "nothing left after patching" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"

# The third: its calls.
if begin_trace "trace the servlet" HelloWorldExample.doGet --stack --json; then
	page >/dev/null
	page >/dev/null
	end_trace "trace the servlet"
	same "each call is told of" 2 "$(wc -l <"$W/trace.out")"
	head -n 1 "$W/trace.out" >"$W/out"
	same "of whom, with what" "HelloWorldExample.doGet void 2 True None" \
		"$(json "' '.join(str(x) for x in (j['method'], j['returned'], len(j['args']),
			all('Facade@' in a for a in j['args']), j['exception']))")"
	same "from where" "HelloWorldExample.doGet jakarta.servlet.http.HttpServlet.service True" \
		"$(json "' '.join(f.split('(')[0] for f in j['stack'][:2]) + ' ' + str(
			any('org.apache.catalina.core.StandardWrapperValve.invoke' in f for f in j['stack']))")"
fi
if begin_trace "trace --min" HelloWorldExample.doGet --min 10s --json; then
	page >/dev/null
	end_trace "trace --min"
	same "shorter calls are not told of" 0 "$(wc -l <"$W/trace.out")"
fi
if begin_trace "trace Tomcat" 'org.apache.catalina.c*.*' --summary --max-methods 10000 --budget 0; then
	check "it serves" page
	curl -s -o /dev/null "http://localhost:$port/shop/carts?[1-200]"
	check "and serves" says '<h1>Hello World!</h1>'
	end_trace "trace Tomcat"
	check "what it does is told" grep -q -E '^org.apache.catalina.core.StandardWrapperValve.invoke +20[0-9] ' \
		"$W/trace.out"
fi
same "the page is as it was, traced or not" "$before" "$(page)"
works "dump after it" dump "$JVM_PID" HelloWorldExample -d "$W/untraced"
check "the class is as it was, too" cmp "$W/running/HelloWorldExample.class" \
	"$W/untraced/HelloWorldExample.class"
check "nothing left after tracing" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"

# The fourth: who keeps what it makes?  A hundred visits a second, amid others that leave nothing.
passing_by() {
	curl -s -o /dev/null --rate 500/s \
		"http://localhost:$port/examples/servlets/servlet/HelloWorldExample?[1-1000000]" &
	passer=$!
	mind $passer
	disown -a
}

# visited_by N: and what is left of them is old: each collection counts.
visited_by() {
	local i

	curl -s -o /dev/null --rate 100/s "http://localhost:$port/shop/visits?[1-$1]"
	for ((i = 0; i < 3; i++)); do
		jt jcmd "$JVM_PID" GC.run
	done
}

passing_by
# 2500 of 250 bytes are 600 KB: with an interval of 16k, for 10 MB a second, some 40 samples.
for how in sampled exact; do
	options=(-d 0 --live --age 3 --json)
	[ $how = sampled ] || options+=(--exact)
	begin_aside alloc 'begun, which took' "alloc --live, $how" "${options[@]}" || continue
	visited_by "$([ $how = sampled ] && echo 2500 || echo 500)"
	end_trace "alloc --live, $how"
	cp "$W/trace.out" "$W/out"
	same "alloc --live, $how: the leak is the first row" 'Visits$Visit Visits.doGet' \
		"$(json "' '.join((j['sites'][0]['class'], j['sites'][0]['stack'][0].partition('(')[0]))")"
done
stop $passer
check "it still serves" says '<h1>Hello World!</h1>'
works "dump after profiles" dump "$JVM_PID" HelloWorldExample -d "$W/unprofiled"
check "the class is as it was after profiles" cmp "$W/running/HelloWorldExample.class" \
	"$W/unprofiled/HelloWorldExample.class"
check "nothing left after profiles" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"
