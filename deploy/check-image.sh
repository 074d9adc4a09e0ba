#!/bin/sh
# Builds the image of Containerfile with buildah and runs it, without a registry and without a daemon:
# root, buildah and busybox-static of Debian are enough. The image that Containerfile builds in is
# replaced by one of this machine's Go. It fails unless the server answers, a credential that was
# made in the container is good, and the process runs as the user of the image without capabilities.
#
#   sh deploy/check-image.sh        # from the root of the repository
set -eu
work=$(mktemp -d)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
b() { command=$1; shift; buildah --root "$work/root" --runroot "$work/run" "$command" "$@"; }
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; b rm -a >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# What stands in for docker.io/library/golang: a shell, mkdir, certificates, and Go.
base=$(b from scratch)
for name in sh mkdir; do b copy -q "$base" "$(command -v busybox)" "/bin/$name" >/dev/null; done
b copy -q "$base" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
b copy -q "$base" "$(go env GOROOT)" /usr/local/go >/dev/null
b config --env PATH=/usr/local/go/bin:/bin --env HOME=/tmp --env GOPATH=/go --env GOCACHE=/cache "$base"
b commit -q "$base" docker.io/library/golang:1.26 >/dev/null

mkdir "$work/tmp" "$work/source"
git archive HEAD | tar x -C "$work/source"
b build -q --pull-never -v "$work/tmp:/tmp" -v "$(go env GOMODCACHE):/go/pkg/mod" -v "$(go env GOCACHE):/cache" \
	-t carrel -f "$work/source/deploy/Containerfile" "$work/source" >/dev/null

container=$(b from --pull-never localhost/carrel)
credential=$(b run "$container" -- /usr/local/bin/carrel credential create --actor me 2>/dev/null)
at=127.0.0.1:17717
b run "$container" -- /usr/local/bin/carrel serve --listen "$at" 2>"$work/log" &
server=$!
tries=0
until curl -fsS "http://$at/readyz" >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || { cat "$work/log"; exit 1; }
	sleep 0.2
done
curl -fsS -o /dev/null -H "Authorization: Bearer $credential" "http://$at/v1/sessions"
pid=$(sed -n 's/.*carrel stop \([0-9]*\).*/\1/p' "$work/log")
grep -q '^Uid:	65532	65532	65532	65532$' "/proc/$pid/status"
grep -q '^CapEff:	0000000000000000$' "/proc/$pid/status"
kill -TERM "$pid"
wait "$server"
server=
echo "the image runs"
