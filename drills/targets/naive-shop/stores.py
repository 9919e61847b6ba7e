"""The shop's MySQL and Redis Cluster, by the addresses in the environment."""

import os
from contextlib import asynccontextmanager
from urllib.parse import urlparse

import aiomysql
from redis.asyncio.cluster import ClusterNode, RedisCluster

CONNECTIONS = 16


def address(text: str) -> tuple[str, int]:
    host, port = text.rsplit(":", 1)
    return host, int(port)


def open_redis() -> RedisCluster:
    """Nodes announce addresses that the shop must not use: SHOP_REDIS_MAP says what to use instead."""
    pairs = (pair.split("=") for pair in os.environ["SHOP_REDIS_MAP"].split(","))
    ways = {address(announced): address(way) for announced, way in pairs}
    seeds = [ClusterNode(*address(seed)) for seed in os.environ["SHOP_REDIS"].split(",")]
    return RedisCluster(
        startup_nodes=seeds,
        address_remap=lambda announced: ways.get(announced, announced),
        socket_timeout=2,
    )


class Store:
    """Orders and stock in MySQL."""

    def __init__(self, pool: aiomysql.Pool):
        self.pool = pool

    @classmethod
    async def open(cls) -> "Store":
        url = urlparse(os.environ["SHOP_MYSQL"])
        pool = await aiomysql.create_pool(
            host=url.hostname,
            port=url.port,
            user=url.username,
            password=url.password,
            db=url.path.lstrip("/"),
            autocommit=True,
            connect_timeout=2,
            maxsize=CONNECTIONS,
            cursorclass=aiomysql.DictCursor,
        )
        return cls(pool)

    @asynccontextmanager
    async def cursor(self):
        """Each statement is a transaction of its own."""
        async with self.pool.acquire() as connection, connection.cursor() as cursor:
            yield cursor

    @asynccontextmanager
    async def transaction(self):
        """Everything or nothing."""
        async with self.pool.acquire() as connection, connection.cursor() as cursor:
            await connection.begin()
            try:
                yield cursor
            except BaseException:
                await connection.rollback()
                raise
            await connection.commit()
