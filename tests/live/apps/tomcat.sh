#!/usr/bin/env bash
# A real application: Debian's Tomcat, under its own user.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"
# shellcheck source=apps/catalina.sh
. "$live_dir/apps/catalina.sh"

if ! command -v tomcat10-instance-create >/dev/null; then
	skip "Tomcat" "tomcat10-user is not installed"
	exit 0
fi

start_tomcat
prints "list: the main class" "^ *$JVM_PID .*Bootstrap" list
name=$(awk -v pid="$JVM_PID" '$1 == pid { print "found" }' "$W/out")
same "list: one row per JVM" found "$name"
prints "jcmd: it works as root" 'OpenJDK' jcmd "$JVM_PID" VM.version
works "heaphisto: it works as root" heaphisto --json "$JVM_PID"
same "heaphisto: Tomcat's classes" True "$(json "any(c['class'].startswith('org.apache.catalina.')
	for c in j['classes']) and j['total']['classes'] > 1000")"
export JT_AS=$user
prints "jcmd: it works as the JVM's user" 'OpenJDK' jcmd "$JVM_PID" VM.version
works "heaphisto: it works as the JVM's user" heaphisto --live -n 20 "$JVM_PID"
prints "heaphisto --by loader: it works" 'catalina|loader' heaphisto --by loader "$JVM_PID"
prints "heaphisto --by package: it works" \
	'org.apache.catalina' heaphisto --by package -n 200 "$JVM_PID"
unset JT_AS
check "heaphisto: Tomcat still serves" served
check "heaphisto: no file remains" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"
same "jcmd and heaphisto: no thread dump in Tomcat's log" \
	0 "$(cat "$JVM_OUT" "$JVM_ERR" | grep -c 'Full thread dump')"

# The first example of the README: find a memory leak.
visit() {
	curl -s --max-time 30 "http://localhost:$port/shop/carts"
}

visited() {
	[ -n "$(visit)" ]
}

if [ -d "$shop" ]; then
	check "the shop: it serves" poll "$PATIENCE" visited
	curl -s -o /dev/null "http://localhost:$port/shop/carts?[1-1000]"
	n=$(visit)
	for engine in agent hprof; do
		prints "$engine: retained --suspects: the carts" 'Carts' \
			retained "$JVM_PID" --suspects --engine $engine
		works "$engine: retained: it works" retained "$JVM_PID" --json --engine $engine
		same "$engine: retained: $n carts retain their pictures" True "$(json "all(
			c['instances'] == $n and c['retained'] > $n * 50_000
			for c in j['classes'] if c['class'] == 'Carts\$Cart')")"
		works "$engine: refpaths: it works" refpaths "$JVM_PID" 'Carts$Cart' \
			--json --engine $engine
		same "$engine: refpaths: one path reaches all carts" "[$n]" \
			"$(json "[p['count'] for p in j['paths']]")"
		same "$engine: refpaths: the path starts at the registry" \
			"static INSTANCE, field carts" "$(json "', '.join(
			s['via'] for s in j['paths'][0]['steps'][:2])")"
	done
	check "retained and refpaths: no file remains" \
		poll "$PATIENCE" nothing_left / "$JVM_PID" $user \
		"${W#/}/home"
else
	skip "the shop" "javac is not installed"
fi

# The second example: find, dump, patch and restore a servlet's class.
if [ ! -d "$W/home/tc/webapps/examples" ] || ! command -v javac >/dev/null; then
	skip "patching a servlet" "tomcat10-examples or javac is not installed"
	exit 0
fi

page() {
	curl -s --max-time 30 "http://localhost:$port/examples/servlets/servlet/HelloWorldExample"
}

says() {
	page | grep -q "$1"
}

source=/usr/share/tomcat10-examples/examples/WEB-INF/classes/HelloWorldExample.java
check "the servlet: it answers" poll "$PATIENCE" says '<h1>Hello World!</h1>'
before=$(page)
prints "classes: the servlet's class" \
	'^HelloWorldExample +org.apache.catalina.loader.ParallelWebappClassLoader' \
	classes "$JVM_PID" '*HelloWorld*'
prints "class: the servlet's method" 'doGet.*HttpServletRequest' class "$JVM_PID" HelloWorldExample
works "dump: it works" dump "$JVM_PID" HelloWorldExample -d "$W/running"
check "dump: javap reads it" javap -p -c "$W/running/HelloWorldExample.class"
mkdir "$W/patched"
sed 's/"<h1>" + title/"<h1>Patched: " + title/' "$source" >"$W/patched/HelloWorldExample.java"
check "javac: it compiles the patch" javac -nowarn -cp /usr/share/tomcat10/lib/servlet-api.jar \
	-d "$W/patched" "$W/patched/HelloWorldExample.java"
works "redefine --check: it works" redefine --check "$JVM_PID" "$W/patched/HelloWorldExample.class"
check "redefine --check: it changes nothing" says '<h1>Hello World!</h1>'
jt redefine "$JVM_PID" "$W/patched/HelloWorldExample.class"
same "redefine: it works" 0 "$rc"
check "redefine: the message names the cost" grep -q 'discards all compiled code' "$W/err"
check "redefine: the page is patched" says '<h1>Patched: Hello World!</h1>'
prints "patches: the servlet" \
	"^HelloWorldExample .*$(sha256sum "$W/patched/HelloWorldExample.class" | cut -c -12)" \
	patches "$JVM_PID"
works "dump --diff: it works" dump "$JVM_PID" HelloWorldExample \
	--diff /usr/share/tomcat10-examples/examples/WEB-INF/classes
check "dump --diff: it reports the patched method" grep -q 'doGet' "$W/out"
works "restore: it works" restore "$JVM_PID"
same "restore: the original page" "$before" "$(page)"
works "restore: dump works" dump "$JVM_PID" HelloWorldExample -d "$W/restored"
check "restore: the original class" cmp "$W/running/HelloWorldExample.class" \
	"$W/restored/HelloWorldExample.class"
works "patches: it works after restore" patches --json "$JVM_PID"
same "patches: none after restore" "[]" "$(json "j['patches']")"
check "patching: no file remains" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"

# The third example: trace the servlet's calls.
if begin_trace "trace the servlet" HelloWorldExample.doGet --stack --json; then
	page >/dev/null
	page >/dev/null
	end_trace "trace the servlet"
	same "trace the servlet: a line per call" 2 "$(wc -l <"$W/trace.out")"
	head -n 1 "$W/trace.out" >"$W/out"
	same "trace the servlet: method, arguments and result" \
		"HelloWorldExample.doGet void 2 True None" \
		"$(json "' '.join(str(x) for x in (j['method'], j['returned'], len(j['args']),
			all('Facade@' in a for a in j['args']), j['exception']))")"
	same "trace the servlet: the stack" \
		"HelloWorldExample.doGet jakarta.servlet.http.HttpServlet.service True" \
		"$(json "' '.join(f.split('(')[0] for f in j['stack'][:2]) + ' ' + str(
			any('org.apache.catalina.core.StandardWrapperValve.invoke' in f for f in j['stack']))")"
fi
if begin_trace "trace --min" HelloWorldExample.doGet --min 10s --json; then
	page >/dev/null
	end_trace "trace --min"
	same "trace --min: shorter calls are omitted" 0 "$(wc -l <"$W/trace.out")"
fi
if begin_trace "trace Tomcat" 'org.apache.catalina.c*.*' --summary --max-methods 10000 --budget 0; then
	check "trace Tomcat: the servlet answers" page
	curl -s -o /dev/null "http://localhost:$port/shop/carts?[1-200]"
	check "trace Tomcat: the servlet answers after requests" says '<h1>Hello World!</h1>'
	end_trace "trace Tomcat"
	check "trace Tomcat: the summary counts the requests" \
		grep -q -E '^org.apache.catalina.core.StandardWrapperValve.invoke +20[0-9] ' \
		"$W/trace.out"
fi
same "trace: the original page" "$before" "$(page)"
works "trace: dump works afterwards" dump "$JVM_PID" HelloWorldExample -d "$W/untraced"
check "trace: the original class" cmp "$W/running/HelloWorldExample.class" \
	"$W/untraced/HelloWorldExample.class"
check "trace: no file remains" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"

# The fourth example: find the allocation site of leaked objects. 100 leaking visits per second run
# beside 500 requests per second that leak nothing.
passing_by() {
	curl -s -o /dev/null --rate 500/s \
		"http://localhost:$port/examples/servlets/servlet/HelloWorldExample?[1-1000000]" &
	passer=$!
	track $passer
	disown -a
}

# visited_by N: N leaking visits; then collections, so that the remaining objects are old.
visited_by() {
	local i

	curl -s -o /dev/null --rate 100/s "http://localhost:$port/shop/visits?[1-$1]"
	for ((i = 0; i < 3; i++)); do
		jt jcmd "$JVM_PID" GC.run
	done
}

passing_by
# 2500 objects of 250 bytes are 600 KB: about 40 samples with the interval of 16 KB, which jtool
# chooses for 10 MB/s.
for how in sampled exact; do
	options=(-d 0 --live --age 3 --json)
	[ $how = sampled ] || options+=(--exact)
	begin_background alloc 'begun, which took' "alloc --live, $how" "${options[@]}" || continue
	visited_by "$([ $how = sampled ] && echo 2500 || echo 500)"
	end_trace "alloc --live, $how"
	cp "$W/trace.out" "$W/out"
	same "alloc --live, $how: the leak is the first row" 'Visits$Visit Visits.doGet' \
		"$(json "' '.join((j['sites'][0]['class'], j['sites'][0]['stack'][0].partition('(')[0]))")"
done
stop $passer
check "alloc --live: the servlet answers" says '<h1>Hello World!</h1>'
works "alloc --live: dump works afterwards" dump "$JVM_PID" HelloWorldExample -d "$W/unprofiled"
check "alloc --live: the original class" cmp "$W/running/HelloWorldExample.class" \
	"$W/unprofiled/HelloWorldExample.class"
check "alloc --live: no file remains" poll "$PATIENCE" nothing_left / "$JVM_PID" $user "${W#/}/home"
