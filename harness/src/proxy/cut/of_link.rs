//! The cut points of a link, as the API changes them.

use super::super::error::ProxyError;
use super::super::link::Link;
use super::{Cut, CutView, Protocol, Rewrites};

impl Link {
    /// Connections that open from now on are followed as this protocol; `None` ends all following.
    ///
    /// # Errors
    /// There are cuts of another protocol, or it rewrites addresses.
    pub fn follow(&self, protocol: Option<Protocol>) -> Result<(), ProxyError> {
        if !self.rewrites().is_empty() && protocol != Some(Protocol::Remoting) {
            return Err(self.carries(Protocol::Remoting));
        }
        let cuts = self.cuts();
        if let Some(other) = cuts.iter().find(|view| Some(view.cut.protocol) != protocol) {
            return Err(self.carries(other.cut.protocol));
        }
        self.tap_as(protocol);
        Ok(())
    }

    pub fn rewrites(&self) -> &Rewrites {
        self.tapper().cuts.rewrites()
    }

    pub fn cuts(&self) -> Vec<CutView> {
        self.tapper().cuts.list()
    }

    /// # Errors
    /// There is none of that name.
    pub fn cut(&self, name: &str) -> Result<CutView, ProxyError> {
        let found = self.cuts().into_iter().find(|view| view.cut.name == name);
        found.ok_or_else(|| self.no_cut(name))
    }

    /// # Errors
    /// It is unsound, there is one of that name already, or the link carries another protocol.
    pub fn add_cut(&self, cut: &Cut, lease: Option<String>) -> Result<CutView, ProxyError> {
        cut.check()?;
        let cuts = &self.tapper().cuts;
        match cuts.protocol() {
            Some(protocol) if protocol != cut.protocol => return Err(self.carries(protocol)),
            _ => self.tap_as(Some(cut.protocol)),
        }
        cuts.add(cut, lease).ok_or_else(|| ProxyError::CutExists {
            proxy: self.name().to_owned(),
            cut: cut.name.clone(),
        })
    }

    /// # Errors
    /// There is none of that name.
    pub fn remove_cut(&self, name: &str) -> Result<(), ProxyError> {
        self.cut(name)?;
        self.remove_cuts(|view| view.cut.name == name);
        Ok(())
    }

    /// Connections that hang are reset: a stream with a hole in it cannot go on.
    pub fn remove_cuts(&self, which: impl Fn(&CutView) -> bool) {
        let hung = self.tapper().cuts.remove(which);
        self.reset_connections_of(&hung);
    }

    fn no_cut(&self, name: &str) -> ProxyError {
        ProxyError::NoSuchCut {
            proxy: self.name().to_owned(),
            cut: name.to_owned(),
        }
    }

    fn carries(&self, protocol: Protocol) -> ProxyError {
        let protocol = protocol.name();
        let reason = format!("proxy `{}` carries {protocol}", self.name());
        ProxyError::BadBody { reason }
    }
}
