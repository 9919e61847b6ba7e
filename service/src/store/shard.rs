//! Which of the stock's tables has a SKU (DB-2): the one function that says so.

use sqlx::MySqlPool;

use super::StoreError;

/// Tables that the schema has, `stock_00` to `stock_99`.
pub const SHARDS_MAX: u16 = 100;

/// How many of the tables are in use. It is part of the data: another number would look for SKUs where they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shards(u16);

impl Shards {
    /// All of them.
    pub const ALL: Self = Self(SHARDS_MAX);

    /// # Panics
    /// None are asked for, or more than [`SHARDS_MAX`].
    #[must_use]
    pub fn of(count: u16) -> Self {
        assert!((1..=SHARDS_MAX).contains(&count), "{count} shards");
        Self(count)
    }

    /// The table of a SKU: CRC-32 (as MySQL's `CRC32()`) of `sale/sku`, modulo the number of tables. A target file's
    /// `stock_lock` says the same in SQL.
    #[must_use]
    pub fn table(self, sale: &str, sku: &str) -> String {
        let mut hash = crc32fast::Hasher::new();
        for part in [sale, "/", sku] {
            hash.update(part.as_bytes());
        }
        format!("stock_{:02}", hash.finalize() % u32::from(self.0))
    }

    /// Makes sure that this database is begun with this number, if it is not begun yet.
    ///
    /// # Errors
    /// It was begun with another number.
    pub(super) async fn agree(self, pool: &MySqlPool) -> Result<(), StoreError> {
        let Self(asked) = self;
        let wrap = |source| StoreError::sql("read the stock's layout", source);
        sqlx::query("INSERT IGNORE INTO stock_layout (id, shards) VALUES (1, ?)")
            .bind(asked)
            .execute(pool)
            .await
            .map_err(wrap)?;
        let stored: u16 = sqlx::query_scalar("SELECT shards FROM stock_layout WHERE id = 1")
            .fetch_one(pool)
            .await
            .map_err(wrap)?;
        if stored == asked {
            return Ok(());
        }
        Err(StoreError::OtherShards { asked, stored })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_sku_is_where_it_was_first_put() {
        let hundred = Shards::ALL;
        // As MySQL says: SELECT CRC32('sale/sku') % 100.
        for (sale, sku, table) in [
            ("sale", "sku", "stock_85"),
            ("sale", "sku-01", "stock_21"),
            ("größe", "größe", "stock_67"),
        ] {
            assert_eq!(hundred.table(sale, sku), table, "{sale}/{sku}");
        }
        assert_eq!(Shards::of(1).table("sale", "sku"), "stock_00");
    }

    #[test]
    fn every_table_gets_its_share() {
        for count in [2, 7, 100] {
            let mut skus: BTreeMap<String, u32> = BTreeMap::new();
            for n in 0..u32::from(count) * 200 {
                *skus
                    .entry(Shards::of(count).table("sale", &format!("sku-{n}")))
                    .or_default() += 1;
            }
            assert_eq!(skus.len(), usize::from(count));
            assert!(
                skus.values().all(|many| (120..280).contains(many)),
                "{skus:?}"
            );
        }
    }
}
