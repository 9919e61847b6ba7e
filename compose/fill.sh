#!/bin/sh
# fill.sh FOLDER: writes the configuration of docker-compose.yml's servers, from the templates that flashdrill fills too.
# Ports of 127.0.0.1, direct and behind Toxiproxy: Redis 7000-7005 (service 7200-7205), MySQL 13306 (13307), name server
# 9876 (9877), broker 10911 (on 127.0.0.2; 127.0.0.1), Toxiproxy's API 8474.
set -eu
stack=$1
templates=$(dirname "$0")

# fill TEMPLATE FILE NAME=VALUE...
fill() {
    template=$templates/$1 file=$2
    shift 2
    script=
    for pair in "$@"; do script="$script;s|{${pair%%=*}}|${pair#*=}|g"; done
    sed "${script#;}" "$template" >"$file"
}
links=
link() { links="$links,{\"name\":\"$1\",\"listen\":\"127.0.0.1:$2\",\"upstream\":\"$3\"}"; }

for i in 0 1 2 3 4 5; do
    mkdir -p "$stack/redis-$i"
    fill redis.conf "$stack/redis-$i/redis.conf" port=$((7000 + i)) bus_port=$((17000 + i)) announce_port=$((7100 + i)) \
        announce_bus_port=$((17100 + i)) source_address=127.0.1.$((10 + i)) dir="$stack/redis-$i"
    link "redis-replication-$i" $((7100 + i)) 127.0.0.1:$((7000 + i))
    link "redis-bus-$i" $((17100 + i)) 127.0.0.1:$((17000 + i))
    link "service-0-redis-$i" $((7200 + i)) 127.0.0.1:$((7000 + i))
done

mkdir -p "$stack/mysql/tmp"
fill my.cnf "$stack/mysql/my.cnf" port=13306 server_id=1 read_only=OFF flush=1 dir="$stack/mysql"
cp "$templates/init.sql" "$stack/mysql/init.sql"
link service-0-mysql 13307 127.0.0.1:13306

mkdir -p "$stack/rocketmq-namesrv" "$stack/rocketmq-broker"
printf 'bindAddress=127.0.0.1\nlistenPort=9876\n' >"$stack/rocketmq-namesrv/namesrv.conf"
fill broker.conf "$stack/rocketmq-broker/broker.conf" port=10911 ha_port=10921 namesrv=127.0.0.1:9876 \
    dir="$stack/rocketmq-broker"
link service-0-namesrv 9877 127.0.0.1:9876
link rocketmq-broker 10911 127.0.0.2:10911

printf '[%s]\n' "${links#,}" >"$stack/links.json"
