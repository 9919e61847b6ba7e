"""How it is usually written: read, check, write. Every step is right, and together they oversell."""

from answers import accepted, refused


class Naive:
    def __init__(self, store, redis):
        self.store, self.redis = store, redis

    async def buy(self, order, limit):
        key = stock_key(order.sale, order.sku)
        left = int(await self.redis.get(key) or 0)
        if left < order.quantity:
            return refused(409, "sold_out")
        async with self.store.cursor() as cursor:
            await cursor.execute(
                "SELECT COALESCE(SUM(quantity), 0) AS mine FROM orders"
                " WHERE sale = %s AND sku = %s AND user = %s AND state IN ('created', 'paid')",
                (order.sale, order.sku, order.user),
            )
            if (await cursor.fetchone())["mine"] + order.quantity > limit:
                return refused(403, "limit_reached")
            # What others bought since `left` was read is forgotten here.
            await self.redis.set(key, left - order.quantity)
            # Nobody asks whether this request has an order already.
            await cursor.execute(
                "INSERT INTO orders (sale, sku, user, quantity, request_id) VALUES (%s, %s, %s, %s, %s)",
                (order.sale, order.sku, order.user, order.quantity, order.request_id),
            )
            order_id = cursor.lastrowid
            await cursor.execute(
                "UPDATE stock SET available = available - %s WHERE sale = %s AND sku = %s",
                (order.quantity, order.sale, order.sku),
            )
        return accepted(order_id, "created")

    async def pay(self, order):
        if order["state"] != "created":
            return refused(409, order["state"])
        async with self.store.cursor() as cursor:
            await cursor.execute("UPDATE orders SET state = 'paid' WHERE id = %s", (order["id"],))
        return accepted(order["id"], "paid")

    async def cancel(self, order):
        if order["state"] != "created":
            return refused(409, order["state"])
        key = stock_key(order["sale"], order["sku"])
        async with self.store.cursor() as cursor:
            await cursor.execute("UPDATE orders SET state = 'cancelled' WHERE id = %s", (order["id"],))
            await cursor.execute(
                "UPDATE stock SET available = available + %s WHERE sale = %s AND sku = %s",
                (order["quantity"], order["sale"], order["sku"]),
            )
        await self.redis.set(key, int(await self.redis.get(key) or 0) + order["quantity"])
        return accepted(order["id"], "cancelled")


def stock_key(sale: str, sku: str) -> str:
    return f"shop:{sale}:{sku}"
