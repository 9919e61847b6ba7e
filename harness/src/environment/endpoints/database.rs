//! `mysql://user:password@host:port/database`: one account's way to one database.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

use reqwest::Url;

use super::HostPort;

const PORT: u16 = 3306;
/// The server's own: emptying one of them would be the end of it.
const SYSTEM: [&str; 4] = ["mysql", "sys", "information_schema", "performance_schema"];

/// Its debug form hides the password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Url);

impl DatabaseUrl {
    pub(crate) fn new(user: &str, password: &str, address: SocketAddr, database: &str) -> Self {
        let url = format!("mysql://{user}:{password}@{address}/{database}");
        url.parse().expect("names and passwords of ours are plain")
    }

    pub fn host_port(&self) -> HostPort {
        let host = self.0.host_str().unwrap_or_default();
        HostPort {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: self.0.port().unwrap_or(PORT),
        }
    }

    pub fn user(&self) -> &str {
        self.0.username()
    }

    /// Letters, digits and underscores only.
    pub fn database(&self) -> &str {
        self.0.path().trim_start_matches('/')
    }

    /// The same account and database through a link that listens at `port` of 127.0.0.1.
    pub(crate) fn through(&self, port: u16) -> String {
        let mut url = self.0.clone();
        let host = Ipv4Addr::LOCALHOST.to_string();
        let _ = url.set_host(Some(&host));
        let _ = url.set_port(Some(port));
        url.into()
    }

    /// To the server, and to no database.
    pub(crate) fn server(&self) -> String {
        let mut url = self.0.clone();
        url.set_path("/");
        url.into()
    }

    /// With the password.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected mysql://user:password@host:port/database";
        let url = Url::parse(text).map_err(|error| format!("{error}; {expected}"))?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if url.scheme() != "mysql" || !has_host || url.username().is_empty() {
            return Err(format!("no address of a database; {expected}"));
        }
        let url = Self(url);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = url.database();
        if name.is_empty() || !name.chars().all(plain) {
            let rule = "letters, digits and underscores";
            return Err(format!(
                "`{name}` is no database: its name is {rule}; {expected}"
            ));
        }
        if SYSTEM.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("`{name}` is the server's own database"));
        }
        Ok(url)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, address) = (self.user(), self.host_port());
        write!(f, "mysql://{user}:***@{address}/{}", self.database())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_elsewhere_with_the_same_account() {
        let url: DatabaseUrl = "mysql://shop:p%40ss@db.staging/orders?ssl-mode=disabled"
            .parse()
            .unwrap();
        assert_eq!(url.host_port().to_string(), "db.staging:3306");
        assert_eq!((url.user(), url.database()), ("shop", "orders"));
        assert_eq!(
            url.through(11_000),
            "mysql://shop:p%40ss@127.0.0.1:11000/orders?ssl-mode=disabled"
        );
        assert_eq!(
            url.server(),
            "mysql://shop:p%40ss@db.staging/?ssl-mode=disabled"
        );
        assert!(!format!("{url:?}").contains("p%40ss"));
    }

    #[test]
    fn what_is_no_database_of_its_own_is_refused() {
        for (text, why) in [
            ("shop", "expected mysql://"),
            ("http://u@h/shop", "no address"),
            ("mysql://h:3306/shop", "no address"),
            ("mysql://u:p@h:3306", "`` is no database"),
            ("mysql://u:p@h/a/b", "`a/b` is no database"),
            ("mysql://u:p@h/a`b", "is no database"),
            ("mysql://u:p@h/MySQL", "the server's own"),
        ] {
            let error = text.parse::<DatabaseUrl>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
