//! Servers that integration tests start for themselves.

pub mod door;
pub mod mariadb;
pub mod orders;
pub mod redis;
pub mod rocketmq;
pub mod shop;
pub mod supervised;
