#!/usr/bin/env bash
# trace does not prevent unloading: an application that drops class loaders during a trace frees
# them at once, both those whose classes are traced and others.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

# unloads NAME METHODS PATTERN...: the loaders are collected while this many methods are traced.
unloads() {
	local name=$1 methods=$2

	shift 2
	start_jvm "$version" "$gc" TraceUnload || return
	begin_trace "$name" "$@" --budget 0 || return
	check "$name: $methods methods are hooked" \
		grep -q "instrumented $methods method" "$W/trace.err"
	same "$name: the loaders are collected" "alive 0" "$(ask drop '^alive ' "$PATIENCE")"
	same "$name: the application works" "worked 1" "$(ask work '^worked ' "$PATIENCE")"
	end_trace "$name"
	check "$name: calls are reported" grep -q 'TraceUnload.work' "$W/trace.out"
	unharmed "$name" 'alive 0|worked 1'
	stop "$JVM_PID"
}

for version in "${jdks[@]}"; do
	for gc in g1 serial; do
		unloads "$version $gc: other classes" 1 'TraceUnload.work'
		unloads "$version $gc: traced classes" 21 'TraceUnload.work' 'Dropped.<init>'
	done
done
