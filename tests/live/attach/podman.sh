# shellcheck shell=bash
# Containers of Podman for the live tests; sourced after lib.sh.  The caller sets $D, a directory with
# a short path, because Podman creates sockets in it.

user=jtool-pods # of rootless containers
user_id=54321
first_subid=300000 # the id on the host of uid 1 in a rootless container

cat >"$D/containers.conf" <<'CONF'
[containers]
# Below the limits of small machines.
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
CONF

# The image of all containers: empty but for configuration. The programs and JDKs are a volume.
rootfs=$D/rootfs
mkdir -p "$rootfs"/{dev,etc,proc,run,srv,sys,tmp,usr,var/tmp}
chmod 1777 "$rootfs/tmp" "$rootfs/var/tmp"
for dir in bin sbin lib lib64; do
	ln -s "usr/$dir" "$rootfs/$dir"
done
# shellcheck disable=SC2154 # set by lib.sh
cp -r "$matrix"/etc/{passwd,group,java-*-openjdk} "$rootfs/etc"
tar -C "$rootfs" --numeric-owner --owner=0 --group=0 -cf "$D/image.tar" .

# engine_of rootful|rootless: sets the command `engine`, and in_cgroup, options for it, if $cgroup is
# set. Without root there is no control group to choose.
engine_of() {
	in_cgroup=()
	case $1 in
	rootful)
		# shellcheck disable=SC2034 # used by the scripts that source this
		in_cgroup=(${cgroup:+"--cgroup-parent=$cgroup"})
		engine=(env "HOME=$D/root" "CONTAINERS_CONF=$D/containers.conf"
		podman --root "$D/root/st" --runroot "$D/root/run" --tmpdir "$D/root/tmp")
		;;
	rootless) engine=(setpriv "--reuid=$user_id" "--regid=$user_id" --init-groups
		env -i -C / "PATH=$PATH" "HOME=$D/user" "XDG_RUNTIME_DIR=$D/user/run"
		"CONTAINERS_CONF=$D/containers.conf" podman) ;;
	esac
}

pod() {
	"${engine[@]}" "$@"
}

# etc FILE LINE: adds a line to a copy of the file, which takes its place in this namespace.
etc() {
	local copy=$D/etc/${1##*/}

	mkdir -p "$D/etc"
	cp "$1" "$copy" 2>/dev/null || : >"$copy"
	echo "$2" >>"$copy"
	[ -e "$1" ] || return
	mount --bind "$copy" "$1" && mounts+=("$1")
}

# A user with 65,536 further ids, and ids for --userns=auto.
add_user() {
	etc /etc/passwd "$user:x:$user_id:$user_id::$D/user:/bin/sh"
	etc /etc/group "$user:x:$user_id:"
	etc /etc/subuid "$user:$first_subid:65536
containers:400000:1000000"
	etc /etc/subgid "$user:$first_subid:65536
containers:400000:1000000"
	mkdir -p "$D/root" "$D/user/run"
	chown -R "$user_id:$user_id" "$D/user"
}
