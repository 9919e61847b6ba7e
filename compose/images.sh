#!/bin/sh
# Builds images that stand in for the official ones where no registry is reachable: the same programs at the same
# paths, entry points, ports and environment variables. Redis and Java from Debian 12, MySQL from Debian sid, RocketMQ
# from the jars of the cache, Toxiproxy from its Go module. Does nothing for an image that its recipe made already.
# Needs a Docker engine, mmdebstrap (installed on Debian) and Go. Exit 69: something is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill
jars=${FLASHDRILL_ROCKETMQ:-$cache/rocketmq-5.3.3}
PATH=$PATH:/usr/sbin:/usr/local/go/bin:$cache/tools/bin

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'images: %s\n' "$*"; }
give_up() { say "$*"; exit 69; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

recipe=$(cat "$0" "$here"/images/* | sha256sum | cut -c1-16)
made() { [ "$(docker image inspect -f '{{index .Config.Labels "org.flashdrill.recipe"}}' "$1" 2>/dev/null)" = "$recipe" ]; }

# import NAME FLAG...: an image of $work/root.tar.
import() {
    name=$1
    shift
    old=$(docker image inspect -f '{{.Id}}' "$name" 2>/dev/null) || old=
    docker import --change "LABEL org.flashdrill.recipe=$recipe" "$@" "$work/root.tar" "$name" >/dev/null
    [ -z "$old" ] || docker rmi "$old" >/dev/null 2>&1 || say "the image before is still in use"
    say "$name is built"
}

# debian SUITE PACKAGES FLAG...: the packages and what they need, unpacked into $work/root.tar.
debian() {
    suite=$1 packages=$2
    shift 2
    # A mirror may be a snapshot of some age, so its date is not checked.
    mmdebstrap --quiet --variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --aptopt='Acquire::Check-Valid-Until "false"' --include="$packages,dash,coreutils,sed" \
        --extract-hook='mkdir -p "$1/tmp" && chmod 1777 "$1/tmp"' "$@" "$suite" "$work/root.tar" >"$work/log" 2>&1 ||
        { cat "$work/log"; give_up "mmdebstrap failed"; }
}

# entry NAME FOLDER: a hook that copies the image's entry point.
entry() { printf 'install -D -m 755 "%s/images/%s-entrypoint.sh" "$1%s/docker-entrypoint.sh"' "$here" "$1" "$2"; }

redis() {
    debian bookworm redis-server --extract-hook="$(entry redis /usr/local/bin)"
    import "$1" -c 'ENTRYPOINT ["docker-entrypoint.sh"]' -c 'CMD ["redis-server"]' -c 'WORKDIR /data' -c 'EXPOSE 6379'
}

mysql() {
    debian sid mysql-server-core --extract-hook="$(entry mysql /usr/local/bin)" \
        --extract-hook='mkdir -p "$1/var/lib/mysql" "$1/var/lib/mysql-files" "$1/var/run/mysqld"'
    import "$1" -c 'ENTRYPOINT ["docker-entrypoint.sh"]' -c 'CMD ["mysqld"]' -c 'EXPOSE 3306'
}

rocketmq() {
    [ -d "$jars" ] || give_up "no RocketMQ jars in $jars: run 'make deps' first"
    home=/home/rocketmq/rocketmq-5.3.3
    debian bookworm openjdk-17-jre-headless --extract-hook="$(entry rocketmq $home/bin)" \
        --extract-hook='cd "$1/usr" && ln -s ../lib/jvm/java-17-openjdk-*/bin/java bin/java' \
        --extract-hook="mkdir -p \"\$1$home/lib\" && cp '$jars'/*.jar \"\$1$home/lib\""
    import "$1" -c "ENV ROCKETMQ_HOME=$home" -c "WORKDIR $home/bin" -c 'ENTRYPOINT ["./docker-entrypoint.sh"]' \
        -c 'EXPOSE 9876 10909 10911'
}

toxiproxy() {
    have go || give_up "Toxiproxy is built from its Go module: install Go (https://go.dev/dl)"
    # Without cgo it needs no library: the image holds the program alone, as the official one does.
    GOBIN=$work CGO_ENABLED=0 go install -ldflags '-s -w -X github.com/Shopify/toxiproxy/v2.Version=2.12.0' \
        github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0
    mv "$work/server" "$work/toxiproxy"
    tar -C "$work" -cf "$work/root.tar" toxiproxy
    import "$1" -c 'ENTRYPOINT ["/toxiproxy"]' -c 'CMD ["-host=0.0.0.0"]' -c 'EXPOSE 8474'
}

have docker || give_up "no docker: compose/install-docker.sh installs it on Debian"
docker version >/dev/null 2>&1 || give_up "no Docker engine answers: compose/install-docker.sh starts one"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for image in redis mysql rocketmq toxiproxy; do
    name=flashdrill/$image:local
    if made "$name"; then continue; fi
    if [ "$image" != toxiproxy ] && ! have mmdebstrap; then
        have apt-get || give_up "no mmdebstrap: it makes the images from Debian's packages"
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null
    fi
    "$image" "$name"
done
say "the local images are here: flashdrill/{redis,mysql,rocketmq,toxiproxy}:local"
