//! The toxics of a link. A change is told to the copy loops, and never waits for one.

use super::super::blockade;
use super::super::error::ProxyError;
use super::super::toxic::Toxic;
use super::{Link, lock};

impl Link {
    /// # Errors
    /// A toxic of that name is there already, or the kernel refuses a filter.
    pub fn add_toxic(&self, toxic: Toxic) -> Result<Toxic, ProxyError> {
        if self.toxic(&toxic.name).is_ok() {
            return Err(ProxyError::ToxicExists {
                proxy: self.name.clone(),
                toxic: toxic.name,
            });
        }
        self.change(|toxics| toxics.push(toxic.clone()));
        self.enforce_blockade().inspect_err(|_| {
            self.change(|toxics| toxics.retain(|placed| placed.name != toxic.name));
        })?;
        Ok(toxic)
    }

    /// # Errors
    /// There is none of that name.
    pub fn toxic(&self, name: &str) -> Result<Toxic, ProxyError> {
        let rules = self.rules.borrow();
        let found = rules.toxics.iter().find(|toxic| toxic.name == name);
        found.cloned().ok_or_else(|| ProxyError::NoSuchToxic {
            proxy: self.name.clone(),
            toxic: name.to_owned(),
        })
    }

    pub fn toxics(&self) -> Vec<Toxic> {
        let mut toxics = self.rules.borrow().toxics.clone();
        toxics.sort_by_key(|toxic| toxic.stream);
        toxics
    }

    /// Replaces the toxic of the same name.
    ///
    /// # Errors
    /// There is none.
    pub fn update_toxic(&self, toxic: Toxic) -> Result<Toxic, ProxyError> {
        self.toxic(&toxic.name)?;
        self.change(|toxics| {
            for placed in toxics.iter_mut().filter(|placed| placed.name == toxic.name) {
                placed.clone_from(&toxic);
            }
        });
        self.enforce_blockade()?;
        Ok(toxic)
    }

    /// Connections that a toxic has swallowed bytes of cannot go on: they are closed. All others go on
    /// with what was held back.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn remove_toxic(&self, name: &str) -> Result<(), ProxyError> {
        self.toxic(name)?;
        self.remove_toxics(|toxic| toxic.name == name)
    }

    /// # Errors
    /// The kernel keeps a filter.
    pub fn remove_toxics(&self, which: impl Fn(&Toxic) -> bool) -> Result<(), ProxyError> {
        self.change(|toxics| toxics.retain(|toxic| !which(toxic)));
        self.enforce_blockade()
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Toxic>)) {
        self.rules.send_modify(|rules| change(&mut rules.toxics));
    }

    fn enforce_blockade(&self) -> Result<(), ProxyError> {
        let Some(acceptor) = &*lock(&self.acceptor) else {
            return Ok(());
        };
        blockade::enforce(&acceptor.listener, &self.rules.borrow().toxics).map_err(|source| {
            ProxyError::Filter {
                name: self.name.clone(),
                source,
            }
        })
    }
}
