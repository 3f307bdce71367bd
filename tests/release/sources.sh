#!/usr/bin/env bash
# A release has the last commit, whatever the working tree has.  A release that fails leaves no
# directory.  The commit of this test has programs that need no compiler, a script for the SBOM that
# writes down what it sees, and a Debian package that cannot be built.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh
. "$(dirname "$0")/../live/lib.sh"

clone=$W/clone
version=$(git -C "$top_srcdir" show HEAD:configure.ac | sed -nE 's/^AC_INIT\(\[jtool\], \[([^]]+)\].*/\1/p')

# sbom TEXT: prints a script that appends TEXT, its version and the changelog's to $W/seen.
sbom() {
	cat <<-EOF
		#!/bin/sh
		echo "$1 \$1" >>"$W/seen"
		head -n 1 "\$(dirname "\$0")/../../debian/changelog" >>"$W/seen"
	EOF
}

git clone -q --no-hardlinks "$top_srcdir" "$clone"
cat >"$clone/scripts/static" <<EOF
#!/bin/sh
mkdir "\$3" && cp "$JTOOL" "\$3/jtool"
EOF
sbom "the commit" >"$clone/packaging/release/sbom"
printf '#!/usr/bin/make -f\n%%:\n\t@echo "cannot be built"; false\n' >"$clone/debian/rules"
git -C "$clone" -c user.name=test -c user.email=test@example.org commit -q -a -m test
sbom "the working tree" >"$clone/packaging/release/sbom"
sed -i "s/\[$version\]/[9.9.9]/" "$clone/configure.ac"
sed -i "1s/.*/jtool 9.9.9/" "$clone/NEWS"

rc=0
"$clone/scripts/release" "$W/release" >"$W/out" 2>&1 || rc=$?
same "the script fails" 1 $rc
check "the script fails: its error is that of the package" grep -q -x 'cannot be built' "$W/out"
seen="the commit $version"$'\n'"jtool ($version-1) unstable; urgency=medium"
same "versions are those of the commit" "$seen"$'\n'"$seen" "$(cat "$W/seen")"
check "the directory is removed" test ! -e "$W/release"
