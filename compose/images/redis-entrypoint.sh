#!/bin/sh
# As the official image: options and configuration files are for redis-server, anything else is a command.
set -e
case $1 in
    -* | *.conf) set -- redis-server "$@" ;;
esac
exec "$@"
