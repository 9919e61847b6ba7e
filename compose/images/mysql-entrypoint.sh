#!/bin/sh
# As the official image, as far as a throw-away database needs it: makes the data folder, MYSQL_DATABASE, and
# MYSQL_USER with MYSQL_PASSWORD. MYSQL_ROOT_PASSWORD is root's; without it root has none.
set -e
case $1 in
    -*) set -- mysqld "$@" ;;
esac
data=/var/lib/mysql
if [ "$1" = mysqld ]; then
    shift
    [ -d "$data/mysql" ] || mysqld --no-defaults --initialize-insecure --datadir="$data" --user="$(id -un)"
    {
        echo "ALTER USER root@localhost IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';"
        [ -z "$MYSQL_DATABASE" ] || echo "CREATE DATABASE IF NOT EXISTS \`$MYSQL_DATABASE\`;"
        [ -z "$MYSQL_USER" ] || {
            echo "CREATE USER IF NOT EXISTS '$MYSQL_USER'@'%' IDENTIFIED BY '$MYSQL_PASSWORD';"
            [ -z "$MYSQL_DATABASE" ] || echo "GRANT ALL ON \`$MYSQL_DATABASE\`.* TO '$MYSQL_USER'@'%';"
        }
    } >/tmp/init.sql
    set -- mysqld "$@" --datadir="$data" --init-file=/tmp/init.sql --user="$(id -un)"
fi
exec "$@"
