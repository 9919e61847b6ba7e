//! Where faults are injected, and what their steps may ask it.

use super::error::FaultError;
use crate::drill::plan::Sku;
use crate::environment::Stack;
use crate::target::Target;
use crate::target::template::Variables;

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
}
