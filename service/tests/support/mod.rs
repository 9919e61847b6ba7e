//! Servers that integration tests start for themselves.
#![allow(dead_code, reason = "each test binary uses some of them")]

pub mod door;
pub mod mariadb;
pub mod orders;
pub mod redis;
pub mod rocketmq;
pub mod shop;
pub mod supervised;
