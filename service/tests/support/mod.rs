//! Servers that integration tests start for themselves.

pub mod mariadb;
pub mod supervised;
