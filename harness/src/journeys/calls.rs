//! What a buyer sends: the target's templates, filled.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use goose::goose::GooseMethod;

use super::JourneyError;
use super::step::Step;
use crate::drill::plan::Plan;
use crate::load::population::{Purchase, request_id, user_id};
use crate::target::template::{Variables, fill};
use crate::target::{RequestTemplate, Requests};

/// The requests of a run, to be filled for each purchase.
#[derive(Debug)]
pub struct Calls {
    requests: Requests,
    /// Of the stack and the run.
    variables: Variables,
    skus: Vec<String>,
    seed: u64,
}

/// One request as it goes out.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: GooseMethod,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// What a journey has learnt so far.
#[derive(Debug, Clone, Default)]
pub struct Learnt {
    pub challenge: String,
    pub order_id: String,
}

impl Calls {
    /// # Errors
    /// A template names a variable that its step does not have, or a method that Goose cannot send.
    pub fn new(plan: &Plan, variables: &Variables) -> Result<Self, JourneyError> {
        let mut variables = variables.clone();
        variables.insert("sale".into(), plan.sale.id.clone());
        let calls = Self {
            requests: plan.target.requests.clone(),
            variables,
            skus: plan.sale.skus.iter().map(|sku| sku.id.clone()).collect(),
            seed: plan.seed,
        };
        calls.try_all()?;
        Ok(calls)
    }

    /// Fills every template once, so that a mistake shows before the first buyer comes.
    fn try_all(&self) -> Result<(), JourneyError> {
        let anybody = Purchase {
            key: 0,
            user: 0,
            address: Ipv4Addr::UNSPECIFIED,
            sku: 0,
            quantity: 1,
            duplicate: false,
        };
        let steps = Step::ALL.into_iter();
        for step in steps.filter(|step| self.template(*step).is_some()) {
            self.call(step, &anybody, &Learnt::default())?;
        }
        Ok(())
    }

    /// Buyers are asked to prove something before they buy.
    pub fn has_challenge(&self) -> bool {
        self.requests.challenge.is_some()
    }

    fn template(&self, step: Step) -> Option<&RequestTemplate> {
        let template = match step {
            Step::Challenge => self.requests.challenge.as_ref()?,
            Step::Buy => &self.requests.buy,
            Step::Poll => &self.requests.status,
            Step::Pay => &self.requests.pay,
            Step::Cancel => &self.requests.cancel,
        };
        (!template.is_absent()).then_some(template)
    }

    /// The request of a step.
    ///
    /// # Errors
    /// As of [`Calls::new`]; none after that succeeded.
    pub fn call(
        &self,
        step: Step,
        purchase: &Purchase,
        learnt: &Learnt,
    ) -> Result<Call, JourneyError> {
        let request = step.name();
        let none = RequestTemplate::default();
        let template = self.template(step).unwrap_or(&none);
        let variables = self.variables_of(step, purchase, learnt);
        let filled = |text: &str| {
            fill(text, &variables).map_err(|source| JourneyError::Template { request, source })
        };
        let headers = template.headers.iter();
        Ok(Call {
            method: method(request, &template.method)?,
            path: filled(&template.path)?,
            headers: headers
                .map(|(name, value)| Ok((name.clone(), filled(value)?)))
                .collect::<Result<_, JourneyError>>()?,
            body: filled(&template.body)?,
        })
    }

    /// A step has the variables that are known when it comes.
    fn variables_of(&self, step: Step, purchase: &Purchase, learnt: &Learnt) -> Variables {
        let mut variables = self.variables.clone();
        let sku = self.skus.get(purchase.sku as usize);
        for (name, value) in [
            ("sku", sku.cloned().unwrap_or_default()),
            ("quantity", purchase.quantity.to_string()),
            ("user", user_id(purchase.user)),
            ("address", purchase.address.to_string()),
            ("request_id", request_id(self.seed, purchase.key)),
        ] {
            variables.insert(name.to_owned(), value);
        }
        match step {
            Step::Challenge => {}
            Step::Buy if !self.has_challenge() => {}
            Step::Buy => {
                variables.insert("challenge".into(), learnt.challenge.clone());
            }
            Step::Poll | Step::Pay | Step::Cancel => {
                variables.insert("order_id".into(), learnt.order_id.clone());
            }
        }
        variables
    }
}

fn method(request: &'static str, name: &str) -> Result<GooseMethod, JourneyError> {
    match name {
        "DELETE" => Ok(GooseMethod::Delete),
        "GET" => Ok(GooseMethod::Get),
        "HEAD" => Ok(GooseMethod::Head),
        "PATCH" => Ok(GooseMethod::Patch),
        "POST" => Ok(GooseMethod::Post),
        "PUT" => Ok(GooseMethod::Put),
        _ => Err(JourneyError::Method {
            request,
            method: name.to_owned(),
        }),
    }
}
