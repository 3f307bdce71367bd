#!/usr/bin/env bash
# A second release has the same bytes: another folder, a later time, another user with another home,
# umask, language and time zone.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh
. "$(dirname "$0")/../live/lib.sh"

place=$RELEASE_WORK/second/a-folder-with-a-longer-name
mkdir -p "$place" "$RELEASE_WORK/second"/{home,tmp}
git clone -q --no-hardlinks "$top_srcdir" "$place/sources"
chown -R nobody "$RELEASE_WORK/second"
umask 077
check "a second release is made" env -C "$place/sources" -i "PATH=$PATH" \
	"HOME=$RELEASE_WORK/second/home" "TMPDIR=$RELEASE_WORK/second/tmp" USER=nobody \
	LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 LANGUAGE=de TZ=Asia/Kolkata \
	setpriv --reuid=nobody --regid=nogroup --clear-groups \
	scripts/release "$RELEASE_WORK/second/release"
umask 022
same "both have the same files" "$(ls "$RELEASE")" "$(ls "$RELEASE_WORK/second/release")"
for file in "$RELEASE"/*; do
	check "the same bytes: ${file##*/}" cmp "$file" "$RELEASE_WORK/second/release/${file##*/}"
done
