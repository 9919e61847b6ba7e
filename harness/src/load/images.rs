//! The requests of a run: one image per call and SKU.

use super::LoadError;
use super::population::request_prefix;
use super::request::{Gaps, RequestImage};
use super::spec::LoadSpec;
use crate::history::operation::OperationKind;
use crate::target::RequestTemplate;
use crate::target::template::Variables;

use super::population::Purchase;

/// Writes any request of the run.
#[derive(Debug)]
pub struct Images {
    request_prefix: u32,
    by_sku: Vec<Calls>,
}

#[derive(Debug)]
struct Calls {
    buy: RequestImage,
    status: RequestImage,
    pay: RequestImage,
    cancel: RequestImage,
}

impl Images {
    /// `variables` are those of the stack and the run; `{sale}`, `{sku}` and `{quantity}` are added.
    ///
    /// # Errors
    /// A template names a variable that nobody defines.
    pub fn new(spec: &LoadSpec, variables: &Variables, authority: &str) -> Result<Self, LoadError> {
        let mut variables = variables.clone();
        variables.insert("sale".into(), spec.sale.clone());
        variables.insert("quantity".into(), spec.population.quantity.to_string());
        let mut by_sku = Vec::with_capacity(spec.skus.len());
        for sku in &spec.skus {
            variables.insert("sku".into(), sku.clone());
            by_sku.push(Calls::new(spec, &variables, authority)?);
        }
        Ok(Self {
            request_prefix: request_prefix(spec.seed),
            by_sku,
        })
    }

    /// Appends the bytes of one request.
    pub fn write(
        &self,
        kind: OperationKind,
        purchase: &Purchase,
        order_id: &str,
        out: &mut Vec<u8>,
    ) {
        let calls = &self.by_sku[purchase.sku as usize];
        let image = match kind {
            OperationKind::Buy => &calls.buy,
            OperationKind::Status => &calls.status,
            OperationKind::Pay => &calls.pay,
            OperationKind::Cancel => &calls.cancel,
        };
        let gaps = Gaps {
            user: purchase.user,
            request_prefix: self.request_prefix,
            key: purchase.key,
            order_id,
            address: purchase.address,
        };
        image.write(&gaps, out);
    }
}

impl Calls {
    fn new(spec: &LoadSpec, variables: &Variables, authority: &str) -> Result<Self, LoadError> {
        let image = |request, template: &RequestTemplate| {
            RequestImage::new(template, variables, authority)
                .map_err(|source| LoadError::Template { request, source })
        };
        let requests = &spec.target.requests;
        Ok(Self {
            buy: image("buy", &requests.buy)?,
            status: image("status", &requests.status)?,
            pay: image("pay", &requests.pay)?,
            cancel: image("cancel", &requests.cancel)?,
        })
    }
}
