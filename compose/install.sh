#!/bin/sh
# Installs what `make drill` and `make test` need and lack. On Debian and its children by apt (as root or through
# sudo); elsewhere it names every missing program and its package, and changes nothing. Exit 69: something is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill
jars=${FLASHDRILL_ROCKETMQ:-$cache/rocketmq-5.3.3}
PATH=$PATH:/usr/sbin:/sbin:$HOME/.cargo/bin

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'install: %s\n' "$*"; }
# 134 jars come with 5.3.3; a broken download leaves fewer.
have_jars() { [ -e "$jars/complete" ] || [ "$(find "$jars" -name '*.jar' 2>/dev/null | wc -l)" -ge 130 ]; }

# program:Debian package, one a line.
missing=
need() { have "$1" || missing="$missing $1:$2"; }
need redis-server redis-server
have mysqld || need mariadbd mariadb-server
need java openjdk-17-jre-headless
need setpriv util-linux
need cc build-essential
have_jars || need mvn maven

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
can_apt() { have apt-get && { [ "$(id -u)" = 0 ] || have sudo; }; }

if ! have cargo; then
    say "cargo is missing: install Rust with rustup (https://rustup.rs), or your system's rustup package"
    exit 69
fi

if [ -n "$missing" ]; then
    if ! can_apt; then
        for pair in $missing; do say "missing program ${pair%%:*}; Debian calls its package ${pair##*:}"; done
        exit 69
    fi
    packages=
    for pair in $missing; do packages="$packages ${pair##*:}"; done
    say "apt-get install$packages (flashdrill starts its own copies on free ports and leaves the system's alone)"
    as_root apt-get update -qq
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

if ! have_jars; then
    say "fetching Apache RocketMQ 5.3.3 (about 83 MB) through Maven into $jars"
    mkdir -p "$jars"
    mvn -q -B -f "$here/rocketmq/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars"
    touch "$jars/complete"
fi
say "everything needed is here"
