"""A small shop with FastAPI, Redis and MySQL. SHOP_REPAIRED=1 starts the repaired one."""

import os
import sys
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from answers import accepted, refused
from naive import Naive, stock_key
from repaired import Repaired
from stores import Store, open_redis

TABLES = [
    "CREATE TABLE IF NOT EXISTS sales (sale VARCHAR(64) PRIMARY KEY, limit_per_user INT, open BOOL DEFAULT FALSE)",
    "CREATE TABLE IF NOT EXISTS stock (sale VARCHAR(64), sku VARCHAR(64), total INT, available INT,"
    " PRIMARY KEY (sale, sku))",
    "CREATE TABLE IF NOT EXISTS orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, sale VARCHAR(64), sku VARCHAR(64),"
    " user VARCHAR(64), quantity INT, request_id VARCHAR(64), state VARCHAR(16) DEFAULT 'created',"
    " INDEX (sale, sku, user))",
]


class Order(BaseModel):
    sale: str
    sku: str
    user: str
    quantity: int
    request_id: str


class Sale(BaseModel):
    limit_per_user: int


class Sku(BaseModel):
    stock: int


@asynccontextmanager
async def stores(app: FastAPI):
    store, redis = await Store.open(), open_redis()
    await redis.initialize()
    kind = Repaired if os.environ.get("SHOP_REPAIRED") else Naive
    app.state.store, app.state.redis, app.state.shop = store, redis, kind(store, redis)
    app.state.limits = {}
    yield
    store.pool.terminate()
    await redis.aclose()


app = FastAPI(lifespan=stores)


@app.get("/ready")
async def ready():
    return {}


@app.put("/sales/{sale}")
async def prepare(sale: str, body: Sale):
    async with app.state.store.cursor() as cursor:
        for table in TABLES:
            await cursor.execute(table)
        await cursor.execute(
            "INSERT INTO sales (sale, limit_per_user) VALUES (%s, %s)", (sale, body.limit_per_user)
        )


@app.put("/sales/{sale}/skus/{sku}")
async def prepare_sku(sale: str, sku: str, body: Sku):
    async with app.state.store.cursor() as cursor:
        await cursor.execute("INSERT INTO stock VALUES (%s, %s, %s, %s)", (sale, sku, body.stock, body.stock))
    await app.state.redis.set(stock_key(sale, sku), body.stock)


@app.post("/sales/{sale}/open")
async def open_sale(sale: str):
    async with app.state.store.cursor() as cursor:
        await cursor.execute("UPDATE sales SET open = TRUE WHERE sale = %s", (sale,))


async def limit_of(sale: str) -> int | None:
    """None: the sale is not open. What is open stays so."""
    limits = app.state.limits
    if sale not in limits:
        async with app.state.store.cursor() as cursor:
            await cursor.execute("SELECT limit_per_user FROM sales WHERE sale = %s AND open", (sale,))
            row = await cursor.fetchone()
        if row is None:
            return None
        limits[sale] = row["limit_per_user"]
    return limits[sale]


@app.post("/orders")
async def buy(order: Order):
    limit = await limit_of(order.sale)
    if limit is None:
        return refused(403, "not_started")
    return await app.state.shop.buy(order, limit)


async def order_of(order_id: int):
    async with app.state.store.cursor() as cursor:
        await cursor.execute("SELECT id, sale, sku, quantity, state FROM orders WHERE id = %s", (order_id,))
        return await cursor.fetchone()


@app.get("/orders/{order_id}")
async def status(order_id: int):
    order = await order_of(order_id)
    return accepted(order["id"], order["state"]) if order else refused(404, "no_such_order")


@app.post("/orders/{order_id}/pay")
async def pay(order_id: int):
    order = await order_of(order_id)
    return await app.state.shop.pay(order) if order else refused(404, "no_such_order")


@app.post("/orders/{order_id}/cancel")
async def cancel(order_id: int):
    order = await order_of(order_id)
    return await app.state.shop.cancel(order) if order else refused(404, "no_such_order")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
