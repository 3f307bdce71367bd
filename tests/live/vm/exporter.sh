#!/usr/bin/env bash
# exporter: its document, JVMs that start and exit, hostile clients, systemd's sockets, names of
# pods, and a Prometheus that scrapes it and evaluates the rules in packaging/prometheus.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# serve [COMMAND...]: starts the exporter through COMMAND. Sets EXPORTER and `url`.
serve() {
	spawn "$@" "$W/jtool" exporter --listen 127.0.0.1:0
	EXPORTER=$JVM_PID
	exporter_err=$JVM_ERR
	poll 20 grep -q serving "$exporter_err" || fail "the exporter starts" "$(cat "$exporter_err")"
	url=$(sed -n 's/.*serving \(http.*\)/\1/p' "$exporter_err")
	port=${url%/metrics}
	port=${port##*:}
}

# fetch [ARGUMENT...]: gets the document. Sets `rc`; the document is in $W/out, the header of the
# response in $W/head.
fetch() {
	rc=0
	curl -s -S -m 20 -D "$W/head" -o "$W/out" "$@" "$url" 2>"$W/err" || rc=$?
}

# refetch: gets a new document: the exporter serves each one for HTTP_FRESH_MS.
refetch() {
	sleep 1.05 # longer than HTTP_FRESH_MS
	fetch
}

# status METHOD PATH: prints the status code.
status() {
	curl -s -m 20 -o "$W/body" -w '%{http_code}' -X "$1" "${url%/metrics}$2"
}

# series NAME LABEL=VALUE: how many series of the document have it.
series() {
	grep -c -E "^$1\{.*$2" "$W/out"
}

open_files() {
	find "/proc/$EXPORTER/fd" -mindepth 1 | wc -l
}

has_files() {
	[ "$(open_files)" -eq "$1" ]
}

# is_idle: the only socket of the exporter is the one on which it listens.
is_idle() {
	[ "$(find "/proc/$EXPORTER/fd" -lname 'socket:*' | wc -l)" -le 1 ]
}

has_tool() {
	command -v "$1" >/dev/null && return
	skip "$1" "it is not installed"
	return 1
}

# verify_units: the units are valid, with a program that exists.
verify_units() {
	cp "$top_srcdir"/packaging/systemd/jtool-exporter.{service,socket} "$W"
	sed -i "s|/usr/bin/jtool|$W/jtool|" "$W/jtool-exporter.service"
	systemd-analyze verify --man=no "$W/jtool-exporter.service" 2>&1 |
		grep -F jtool-exporter >"$W/verify" # it also reports units of the machine
	cat "$W/verify"
	[ ! -s "$W/verify" ]
}

version=$(newest_of 8 17 25)
start_jvm "${version:-own}" serial Idle || exit
first=$JVM_PID first_files=("$JVM_IN" "$JVM_OUT" "$JVM_ERR")
serve

# The document. The exporter retains it in an open file, which `files` includes.
fetch
poll 10 is_idle
files=$(open_files)
same "GET /metrics: it works" 0 "$rc"
check "GET /metrics: its type" grep -q -i '^content-type: text/plain; version=0.0.4' "$W/head"
check "GET /metrics: promtool accepts it" promtool check metrics <"$W/out"
same "GET /metrics: the JVM is in it" 1 "$(series jvm_info "pid=\"$first\"")"
check "GET /metrics: the families of stat all --openmetrics, and the exporter's" diff \
	<("$W/jtool" stat all --openmetrics | sed -n 's/^# TYPE //p' | sort) \
	<(sed -n 's/^# TYPE //p' "$W/out" | grep -v '^jtool_' | sort)
same "GET /metrics: the exporter's own families" 3 "$(grep -c '^jtool_' "$W/out")"
fetch -H 'Accept: application/openmetrics-text;version=1.0.0'
check "GET /metrics as OpenMetrics: its type" \
	grep -q -i '^content-type: application/openmetrics-text; version=1.0.0' "$W/head"
same "GET /metrics as OpenMetrics: Prometheus' parser accepts it" True "$(/usr/bin/python3 \
	"$live_dir/vm/metrics.py" "$W/out" "value('jtool_jvms') >= 1")"
same "GET /: a hint" "200 1" "$(status GET /) $(grep -c /metrics "$W/body")"
same "other paths: 404" 404 "$(status GET /metrics/x)"
same "POST: 405" 405 "$(status POST /metrics)"
same "HEAD: the length without the document" "0 1" \
	"$(fetch -I && echo "$rc $(grep -c -i '^content-length: [1-9]' "$W/head")")"

# JVMs start and exit.
start_jvm own serial Idle -XX:-UsePerfData || exit
hidden=$JVM_PID
start_jvm own parallel Idle || exit
refetch
same "a JVM starts: it is in the next document" 1 "$(series jvm_info "pid=\"$JVM_PID\"")"
same "a JVM without counters: no series" 0 "$(series jvm_info "pid=\"$hidden\"")"
check "a JVM without counters: it is counted" grep -q '^jtool_jvms_skipped [1-9]' "$W/out"
stop "$JVM_PID"
refetch
same "a JVM exits: it is not in the next document" 0 "$(series jvm_info "pid=\"$JVM_PID\"")"
bad=0
for ((i = 0; i < 10; i++)); do
	launch_jvm own serial Idle
	poll 20 test -e "/tmp/hsperfdata_root/$JVM_PID" || true
	(kill -9 "$JVM_PID") & # while the next document is made
	refetch
	[ "$rc" -eq 0 ] && promtool check metrics <"$W/out" >/dev/null 2>&1 || bad=$((bad + 1))
	wait $!
	stop "$JVM_PID"
done
same "JVMs that are killed while they are read: each document is complete" 0 "$bad"
stop "$hidden"
JVM_PID=$first JVM_IN=${first_files[0]} JVM_OUT=${first_files[1]} JVM_ERR=${first_files[2]}
unharmed "a JVM that was read many times"

suspend "$first"
refetch
same "a stopped JVM: it is in the document" "0 1" "$rc $(series jvm_info "pid=\"$first\"")"
kill -CONT "$first"

# Hostile clients.
before=$(rss_kb "$EXPORTER")
for kind in silent slow deaf garbage; do
	coproc CLIENTS { exec python3 "$live_dir/vm/clients.py" 127.0.0.1 "$port" $kind 1000 2>&1; }
	track "$CLIENTS_PID"
	pid=$CLIENTS_PID
	read -r -t 60 line <&"${CLIENTS[0]}"
	same "1000 $kind clients connect" ready "$line"
	begin=$(now_ms)
	refetch
	took=$(($(now_ms) - begin - 1050))
	same "beside 1000 $kind clients: a scrape works ($took ms)" 0 "$rc"
	check "beside 1000 $kind clients: it takes less than 10 s, which Prometheus waits" \
		[ "$took" -lt 10000 ]
	check "beside 1000 $kind clients: at most 64 connections" [ "$(open_files)" -le $((files + 68)) ]
	{ stop "$pid" && wait "$pid"; } 2>/dev/null # without the shell's report
	check "after 1000 $kind clients: no descriptor is left" poll 30 has_files "$files"
done
for ((i = 0; i < 300; i++)); do
	curl -s -m 20 -o /dev/null "$url" || fail "request $i works"
done
check "after 300 more requests: no descriptor is left" poll 30 has_files "$files"
after=$(rss_kb "$EXPORTER")
check "after all clients: the memory is as before: $before KB, $after KB" \
	[ $((after - before)) -lt 1024 ]
no_child() {
	local pid

	for pid in $(pgrep -P "$EXPORTER"); do
		killed_but_blocked "$pid" || return 1
	done
}
check "no process is left" poll 10 no_child
check "nothing was reported" [ "$(wc -l <"$exporter_err")" -eq 1 ]

# A child that hangs is given up, and the client gets the reason.
spawn "$W/jtool" exporter --listen 127.0.0.1:0 --timeout 1ms
poll 20 grep -q serving "$JVM_ERR"
code=$(curl -s -m 20 -o "$W/body" -w '%{http_code}' "$(sed -n 's/.*serving //p' "$JVM_ERR")")
same "a document takes too long: 503" 503 "$code"
check "a document takes too long: the reason is sent and reported" \
	grep -q 'not read in time' "$W/body" "$JVM_ERR"
kill "$JVM_PID"
check "SIGTERM ends it" poll 20 gone "$JVM_PID"

# systemd's sockets: the service of packaging/systemd has no network of its own.
/usr/bin/python3 - "$W/jtool" "$W/passed.err" <<'PY' >"$W/passed" &
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
fd = os.dup(s.fileno())
os.dup2(fd, 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.dup2(os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY), 2)
os.execvp("unshare", ["unshare", "--net", sys.argv[1], "exporter"])
PY
passed=$!
track $passed
check "systemd's sockets: they are taken" poll 20 grep -q 'sockets of systemd' "$W/passed.err"
same "systemd's sockets: a service without network serves" 200 "$(curl -s -m 20 -o /dev/null \
	-w '%{http_code}' "http://127.0.0.1:$(cat "$W/passed")/metrics")"
kill $passed
wait $passed
same "systemd's sockets: SIGTERM ends it with 0" 0 $?

# The rights of the service: a user of its own with two capabilities, in mount and network namespaces
# of its own.
JVM_AS=1:1 start_jvm own serial Idle || exit
other=$JVM_PID
kill "$EXPORTER"
caps=+sys_ptrace,+dac_read_search
serve unshare -m setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
	--inh-caps=-all,$caps --ambient-caps=-all,$caps --bounding-set=-all,$caps
fetch
same "the rights of the service: JVMs of other users are read" "1 1" \
	"$(series jvm_info "pid=\"$first\"") $(series jvm_info "pid=\"$other\"")"
same "the rights of the service: their memory, too" 1 \
	"$(series jvm_process_resident_bytes "pid=\"$other\"")"
kill "$EXPORTER"
serve setpriv --reuid=65534 --regid=65534 --clear-groups
fetch
same "no rights: no JVM of other users is read" 0 "$(series jvm_info "")"
check "no rights: they are counted" grep -q -E '^jtool_jvms_skipped ([2-9]|[1-9][0-9]+)$' "$W/out"
kill "$EXPORTER"
stop "$other"
if has_tool systemd-analyze; then
	check "systemd-analyze security: less than 2.0" systemd-analyze security --offline=true \
		--threshold=19 "$top_srcdir/packaging/systemd/jtool-exporter.service"
	check "systemd-analyze verify" verify_units
fi

# Debian has no validator of Kubernetes manifests: manifest.py knows the fields that we use.
manifest=$top_srcdir/packaging/k8s/daemonset.yaml
check "the DaemonSet: fields, types and references" python3 "$live_dir/vm/manifest.py" "$manifest"
sed 's/hostPID/hostPid/' "$manifest" >"$W/misspelled.yaml"
same "the DaemonSet: a misspelled field is found" 1 \
	"$(python3 "$live_dir/vm/manifest.py" "$W/misspelled.yaml" | grep -c 'unknown field hostPid')"
serve

# Names of pods: a JVM in a control group with a pod's name, and a directory like the kubelet's.
id=$(printf '%064d' 7)
uid=6c2d1f3e-0b5a-4f7d-9e8c-1a2b3c4d5e6f
group=$(findmnt -n -o TARGET -t cgroup -O memory 2>/dev/null | head -n 1)
[ -n "$group" ] || group=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
pod=$group/jtool-exporter-$$/pod$uid/$id
if mkdir -p "$pod" 2>/dev/null && echo "$first" >"$pod/cgroup.procs" 2>/dev/null; then
	kill "$EXPORTER"
	# shellcheck disable=SC2016 # expanded by the inner shell
	serve unshare -m sh -c 'mkdir -p /var/log/containers && mount -t tmpfs none /var/log/containers &&
		ln -s /nowhere "/var/log/containers/shop-7d4b9_prod_app-'"$id"'.log" && exec "$0" "$@"'
	fetch
	same "a pod: its names and uid" 1 "$(grep -c -E "^jvm_info\{pid=\"$first\",.*container=\"$id\",\
namespace=\"prod\",pod=\"shop-7d4b9\",container_name=\"app\",.*pod_uid=\"$uid\"\}" "$W/out")"
	check "a pod: promtool accepts the document" promtool check metrics <"$W/out"
	echo "$first" >"$group/cgroup.procs"
	poll 20 rmdir "$pod"
	rmdir "$group/jtool-exporter-$$/pod$uid" "$group/jtool-exporter-$$"
else
	skip "a pod: its names and uid" "no control group can be created"
fi

# Prometheus scrapes it, and the rules are valid and do what they say.
rules=$top_srcdir/packaging/prometheus
check "promtool check rules" promtool check rules "$rules/jtool.rules.yml"
check "promtool test rules" promtool test rules "$rules/jtool.rules.test.yml"
prometheus_port=$((20000 + $$ % 20000))
cat >"$W/prometheus.yml" <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ "$rules/jtool.rules.yml" ]
scrape_configs:
  - job_name: jtool
    honor_labels: true
    static_configs: [ { targets: [ "127.0.0.1:$port" ] } ]
END
check "promtool check config" promtool check config "$W/prometheus.yml"
spawn prometheus --config.file="$W/prometheus.yml" --storage.tsdb.path="$W/data" \
	--web.listen-address="127.0.0.1:$prometheus_port"

# query EXPRESSION: prints its series.
query() {
	promtool query instant "http://127.0.0.1:$prometheus_port" "$1"
}

has_series() {
	query "$1" | grep -q -e "$2"
}

check "Prometheus scrapes the exporter" poll 60 has_series 'up{job="jtool"} == 1' '=> 1'
check "Prometheus has the JVM" has_series "jvm_info{pid=\"$first\"}" '=> 1'
while read -r metric; do
	[ "$metric" != jvm_memory_limit_bytes ] || continue # only in a control group with a limit
	check "the rules' and the dashboard's $metric exists" has_series "$metric" '=>'
done < <(grep -ohE '\b(jvm|jtool)_[a-z_]+' "$rules/jtool.rules.yml" \
	"$top_srcdir/packaging/grafana/jtool.json" | sort -u)
check "the dashboard is JSON whose panels have queries" /usr/bin/python3 -c '
import json, sys
board = json.load(open(sys.argv[1]))
panels = [p for p in board["panels"] if p["type"] != "row"]
assert len(panels) >= 8 and all(t["expr"] for p in panels for t in p["targets"])
assert len({p["id"] for p in panels}) == len(panels)' "$top_srcdir/packaging/grafana/jtool.json"

# fill EXPRESSION: the dashboard's expression with values for its variables.
fill() {
	# shellcheck disable=SC2016 # Grafana's variables
	sed -e 's/\$__rate_interval/10s/g; s/\$__range/1m/g; s/\$[a-z_]*/.*/g' <<<"$1"
}

while IFS= read -r expr; do
	check "the dashboard's query works: $expr" query "$(fill "$expr")"
done < <(/usr/bin/python3 -c '
import json, sys
for p in json.load(open(sys.argv[1]))["panels"]:
	for t in p.get("targets", []):
		print(t["expr"])' "$top_srcdir/packaging/grafana/jtool.json")
