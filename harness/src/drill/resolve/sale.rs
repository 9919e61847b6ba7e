//! What is on sale: the SKUs get their names.

use crate::drill::file::SaleSection;
use crate::drill::plan::{Sale, Sku};

pub fn sale(section: &SaleSection, run: &str) -> Sale {
    let sku = |number| Sku {
        id: sku_id(number),
        stock: section.units_per_sku.get(),
    };
    Sale {
        id: run.to_owned(),
        skus: (1..=section.skus.get()).map(sku).collect(),
        limit_per_user: section.limit_per_user.get(),
    }
}

pub fn sku_id(number: u32) -> String {
    format!("sku-{number:02}")
}
