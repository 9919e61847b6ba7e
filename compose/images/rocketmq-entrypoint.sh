#!/bin/sh
# As the official image: `nameserver` and `broker` with their options, anything else is a command.
set -e
case ${NODE_ROLE:-$1} in
    nameserver) class=namesrv.NamesrvStartup ;;
    broker) class=broker.BrokerStartup ;;
    *) exec "$@" ;;
esac
[ "$#" = 0 ] || shift
# RocketMQ 5.3 reaches into these packages, which Java 17 keeps closed.
exec java --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED -XX:+UseSerialGC \
    -Xms"${MIN_HEAP_SIZE:-128m}" -Xmx"${MAX_HEAP_SIZE:-512m}" -cp "$ROCKETMQ_HOME/lib/*" \
    "org.apache.rocketmq.$class" "$@"
