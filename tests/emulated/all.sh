# shellcheck shell=bash
# Runs the tests named by $tests, in the form $form; ends with the sum of their results.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. /tests/guest.sh
# Control groups of version 2: limits for the groups of a pod's containers, and the pod's own group.
echo "+memory +cpu" >/sys/fs/cgroup/cgroup.subtree_control
mkdir $pod
echo "+memory +cpu" >$pod/cgroup.subtree_control

# shellcheck disable=SC2154 # init exports it
for test in $tests; do
	# shellcheck disable=SC1090 # the scripts of this folder
	. "/tests/$test.sh"
done
echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
[ $n_failed -eq 0 ]
