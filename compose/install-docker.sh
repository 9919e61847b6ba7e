#!/bin/sh
# install-docker.sh [start|stop]: sees to it that a Docker engine answers: one that runs already, else Debian's, installed
# by apt (as root or through sudo) and started without a service manager and without any network of its own: servers in
# containers use the host's loopback addresses. `stop` ends the engine that `start` started, and no other.
# Exit 69: there is no engine, and why.
set -eu
state=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill/docker
PATH=$PATH:/usr/sbin:/sbin

say() { printf 'docker: %s\n' "$*"; }
give_up() { say "$*"; exit 69; }
answers() { docker version >/dev/null 2>&1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
# The process that `start` noted, if it still is an engine.
ours() { pid=$(cat "$state/pid" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; }

start() {
    if answers; then say "an engine answers"; return; fi
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || give_up "no engine answers, and starting one takes root"
    if ! command -v dockerd >/dev/null; then
        command -v apt-get >/dev/null || give_up "no dockerd: install Docker 20.10 or newer"
        say "apt-get install docker.io"
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io >/dev/null ||
            give_up "docker.io cannot be installed"
    fi
    # Debian's package may have started it.
    if answers; then say "an engine answers"; return; fi
    mkdir -p "$state"
    as_root sh -c "setsid dockerd --iptables=false --ip6tables=false --bridge=none >'$state/log' 2>&1 & echo \$! >'$state/pid'"
    for _ in $(seq 60); do
        if answers; then say "started an engine (pid $(cat "$state/pid"), log $state/log)"; return; fi
        ours || break
        sleep 1
    done
    tail -n 5 "$state/log"
    stop
    give_up "dockerd does not run here; the end of its log $state/log is above"
}

stop() {
    if ours; then
        as_root kill "$pid"
        for _ in $(seq 30); do ours || break; sleep 1; done
        say "stopped the engine (pid $pid)"
    fi
    rm -f "$state/pid"
}

case ${1:-start} in
    start) start ;;
    stop) stop ;;
    *) say "usage: install-docker.sh [start|stop]"; exit 64 ;;
esac
