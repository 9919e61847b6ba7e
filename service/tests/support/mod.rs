//! Servers that integration tests start for themselves.

pub mod mariadb;
pub mod redis;
pub mod supervised;
