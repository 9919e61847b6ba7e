"""The same shop, repaired: one transaction decides, under the lock of the SKU's stock row."""

from answers import accepted, refused
from naive import Naive, stock_key


class Repaired(Naive):
    async def buy(self, order, limit):
        async with self.store.transaction() as cursor:
            await cursor.execute(
                "SELECT available FROM stock WHERE sale = %s AND sku = %s FOR UPDATE", (order.sale, order.sku)
            )
            available = (await cursor.fetchone())["available"]
            await cursor.execute(
                "SELECT id, state, request_id, quantity FROM orders WHERE sale = %s AND sku = %s AND user = %s",
                (order.sale, order.sku, order.user),
            )
            mine = await cursor.fetchall()
            for one in mine:
                if one["request_id"] == order.request_id:
                    return accepted(one["id"], one["state"])
            live = sum(one["quantity"] for one in mine if one["state"] in ("created", "paid"))
            if live + order.quantity > limit:
                return refused(403, "limit_reached")
            if available < order.quantity:
                return refused(409, "sold_out")
            await cursor.execute(
                "INSERT INTO orders (sale, sku, user, quantity, request_id) VALUES (%s, %s, %s, %s, %s)",
                (order.sale, order.sku, order.user, order.quantity, order.request_id),
            )
            order_id = cursor.lastrowid
            await move_stock(cursor, order.sale, order.sku, -order.quantity)
        await self.redis.decrby(stock_key(order.sale, order.sku), order.quantity)
        return accepted(order_id, "created")

    async def pay(self, order):
        async with self.store.transaction() as cursor:
            if not await leave_created(cursor, order, "paid"):
                return refused(409, "not_created")
        return accepted(order["id"], "paid")

    async def cancel(self, order):
        async with self.store.transaction() as cursor:
            if not await leave_created(cursor, order, "cancelled"):
                return refused(409, "not_created")
            await move_stock(cursor, order["sale"], order["sku"], order["quantity"])
        await self.redis.incrby(stock_key(order["sale"], order["sku"]), order["quantity"])
        return accepted(order["id"], "cancelled")


async def leave_created(cursor, order, state: str) -> bool:
    """The check is part of the write: of two at once, one finds nothing to change."""
    changed = await cursor.execute(
        "UPDATE orders SET state = %s WHERE id = %s AND state = 'created'", (state, order["id"])
    )
    return changed == 1


async def move_stock(cursor, sale: str, sku: str, units: int):
    await cursor.execute(
        "UPDATE stock SET available = available + %s WHERE sale = %s AND sku = %s", (units, sale, sku)
    )
