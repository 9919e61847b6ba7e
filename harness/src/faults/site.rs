//! Where faults are injected, and what their steps may ask it.

use super::error::FaultError;
use crate::drill::plan::Sku;
use crate::environment::Stack;
use crate::target::Target;
use crate::target::template::{Variables, fill};

/// The stack, the target, and the sale that goes on there.
#[derive(Debug, Clone, Copy)]
pub struct Site<'s> {
    pub stack: &'s Stack,
    pub target: &'s Target,
    /// What the target's commands may name: the stack's and the run's variables.
    pub variables: &'s Variables,
    /// What is on sale; faults name SKUs by number, from 1.
    pub skus: &'s [Sku],
}

impl<'s> Site<'s> {
    /// # Errors
    /// There is no SKU of that number.
    pub(super) fn sku(self, number: u32) -> Result<&'s str, FaultError> {
        self.skus
            .get(number as usize - 1)
            .map(|sku| sku.id.as_str())
            .ok_or(FaultError::NoSku {
                number,
                skus: self.skus.len(),
            })
    }

    /// Fills a template of the target file; `field` is its name there, `extra` are variables beside the stack's and
    /// the run's.
    ///
    /// # Errors
    /// It names a variable that is not known.
    pub(super) fn fill(
        self,
        field: &'static str,
        template: &str,
        extra: &[(&str, String)],
    ) -> Result<String, FaultError> {
        let mut variables = self.variables.clone();
        let extra = extra.iter().cloned();
        variables.extend(extra.map(|(name, value)| (name.to_owned(), value)));
        fill(template, &variables).map_err(|source| FaultError::Template {
            command: field,
            source,
        })
    }
}
