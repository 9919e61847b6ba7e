//! The SKUs this node knows. Unknown ones are refused without asking any store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::sku::{Gate, Rules, Sku};

type Sales = HashMap<String, HashMap<String, Arc<Sku>>>;

/// Sale -> SKU name -> SKU. Reading takes no lock; adding copies the map.
#[derive(Debug, Default)]
pub struct Catalogue {
    sales: ArcSwap<Sales>,
    editing: Mutex<()>,
}

impl Catalogue {
    #[must_use]
    pub fn find(&self, sale: &str, sku: &str) -> Option<Arc<Sku>> {
        self.sales.load().get(sale)?.get(sku).cloned()
    }

    #[must_use]
    pub fn of_sale(&self, sale: &str) -> Vec<Arc<Sku>> {
        self.sales
            .load()
            .get(sale)
            .map(|skus| skus.values().cloned().collect())
            .unwrap_or_default()
    }

    /// All SKUs of this name, whatever the sale.
    #[must_use]
    pub fn named(&self, sku: &str) -> Vec<Arc<Sku>> {
        self.sales
            .load()
            .values()
            .filter_map(|skus| skus.get(sku).cloned())
            .collect()
    }

    /// All SKUs whose keys are in this hash slot.
    #[must_use]
    pub fn of_slot(&self, slot: u16) -> Vec<Arc<Sku>> {
        let mut skus = self.all();
        skus.retain(|sku| sku.keys.slot == slot);
        skus
    }

    #[must_use]
    pub fn all(&self) -> Vec<Arc<Sku>> {
        self.sales
            .load()
            .values()
            .flat_map(|skus| skus.values().cloned())
            .collect()
    }

    /// The SKU as it is known, or as given if it is new.
    pub fn get_or_add(&self, sale: &str, sku: &str, rules: Rules, gate: Gate) -> Arc<Sku> {
        let _editing = self.editing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.find(sale, sku) {
            return known;
        }
        let new = Arc::new(Sku::new(sale, sku, rules, gate));
        let mut sales = Sales::clone(&self.sales.load());
        sales
            .entry(sale.to_owned())
            .or_default()
            .insert(sku.to_owned(), Arc::clone(&new));
        self.sales.store(Arc::new(sales));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sku_is_added_once_and_found_by_sale_and_name() {
        let catalogue = Catalogue::default();
        let first = catalogue.get_or_add("s1", "a", Rules::default(), Gate::Prepared);
        let again = catalogue.get_or_add("s1", "a", Rules::default(), Gate::Open);
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(again.gate(), Gate::Prepared);
        catalogue.get_or_add("s2", "a", Rules::default(), Gate::Prepared);
        assert!(catalogue.find("s1", "b").is_none());
        assert!(catalogue.find("s3", "a").is_none());
        assert_eq!(
            (
                catalogue.of_sale("s1").len(),
                catalogue.named("a").len(),
                catalogue.all().len()
            ),
            (1, 2, 2)
        );
    }
}
