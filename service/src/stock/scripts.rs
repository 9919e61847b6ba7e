//! The Lua scripts: their text, their digests, and the commands that call them.

use std::borrow::Cow;

use redis::{Cmd, RedisError, Script, aio::MultiplexedConnection};

use super::image::Image;
use super::keys::Keys;
use crate::parts::parts;

pub const RESERVE: &str = include_str!("scripts/reserve.lua");
pub const RELEASE: &str = include_str!("scripts/release.lua");
const SETTLE: &str = include_str!("scripts/settle.lua");
const FENCE: &str = include_str!("scripts/fence.lua");
const REBUILD: &str = include_str!("scripts/rebuild.lua");
const GATE: &str = include_str!("scripts/gate.lua");
const TAKE: &str = include_str!("scripts/take.lua");
const FINISH: &str = include_str!("scripts/finish.lua");

/// The one consumer group of every stream.
const GROUP: &str = "flashsale";

/// Every text, for those who want to see it worded otherwise.
#[cfg(feature = "mutants")]
pub const TEXTS: [&str; 8] = [RESERVE, RELEASE, SETTLE, FENCE, REBUILD, GATE, TAKE, FINISH];

/// One script, with its digest.
#[derive(Debug)]
pub struct LuaScript {
    text: Cow<'static, str>,
    sha1: String,
}

impl LuaScript {
    #[must_use]
    pub fn new(text: &'static str) -> Self {
        let text = parts().script(text);
        Self {
            sha1: Script::new(&text).get_hash().to_owned(),
            text,
        }
    }

    /// `EVALSHA` with its keys; arguments are appended by the caller.
    #[must_use]
    pub fn call(&self, keys: &[&str]) -> Cmd {
        let mut cmd = redis::cmd("EVALSHA");
        cmd.arg(&self.sha1).arg(keys.len()).arg(keys);
        cmd
    }

    /// Puts the script into the server's cache.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn load(&self, connection: &mut MultiplexedConnection) -> Result<(), RedisError> {
        redis::cmd("SCRIPT")
            .arg("LOAD")
            .arg(&*self.text)
            .exec_async(connection)
            .await
    }
}

/// Every script of the stock layer.
#[derive(Debug)]
pub struct Scripts {
    pub reserve: LuaScript,
    pub release: LuaScript,
    pub settle: LuaScript,
    pub fence: LuaScript,
    pub rebuild: LuaScript,
    pub gate: LuaScript,
    pub take: LuaScript,
    pub finish: LuaScript,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            reserve: LuaScript::new(RESERVE),
            release: LuaScript::new(RELEASE),
            settle: LuaScript::new(SETTLE),
            fence: LuaScript::new(FENCE),
            rebuild: LuaScript::new(REBUILD),
            gate: LuaScript::new(GATE),
            take: LuaScript::new(TAKE),
            finish: LuaScript::new(FINISH),
        }
    }
}

impl Scripts {
    /// Loads all scripts on one server.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn load(&self, connection: &mut MultiplexedConnection) -> Result<(), RedisError> {
        for script in [
            &self.reserve,
            &self.release,
            &self.settle,
            &self.fence,
            &self.rebuild,
            &self.gate,
            &self.take,
            &self.finish,
        ] {
            script.load(connection).await?;
        }
        Ok(())
    }

    #[must_use]
    pub fn release(&self, keys: &Keys, epoch: u64, order_id: &str) -> Cmd {
        let mut cmd = self.release.call(&keys.all());
        cmd.arg(epoch).arg(order_id);
        cmd
    }

    #[must_use]
    pub fn settle(&self, keys: &Keys, order_id: &str) -> Cmd {
        let mut cmd = self.settle.call(&[&keys.ledger]);
        cmd.arg(order_id);
        cmd
    }

    /// `open` with a stale epoch changes nothing.
    #[must_use]
    pub fn gate(&self, keys: &Keys, epoch: u64, gate: &str) -> Cmd {
        let mut cmd = self.gate.call(&[&keys.stock]);
        cmd.arg(epoch).arg(gate);
        cmd
    }

    /// `idle_ms`: 0 for messages that nobody has taken.
    #[must_use]
    pub fn take(&self, keys: &Keys, consumer: &str, count: usize, idle_ms: u128) -> Cmd {
        let mut cmd = self.take.call(&[&keys.stream]);
        cmd.arg(GROUP).arg(consumer).arg(count);
        cmd.arg(idle_ms.to_string());
        cmd
    }

    #[must_use]
    pub fn finish(&self, keys: &Keys, ids: &[String]) -> Cmd {
        let mut cmd = self.finish.call(&[&keys.stream]);
        cmd.arg(GROUP).arg(ids);
        cmd
    }

    #[must_use]
    pub fn fence(&self, keys: &Keys, epoch: u64) -> Cmd {
        let mut cmd = self.fence.call(&[&keys.stock]);
        cmd.arg(epoch);
        cmd
    }

    /// `epoch`: that of the fence.
    #[must_use]
    pub fn rebuild(&self, keys: &Keys, epoch: u64, image: &Image) -> Cmd {
        let mut cmd = self.rebuild.call(&keys.all());
        cmd.arg(epoch)
            .arg(image.available)
            .arg(image.rules.limit_per_user);
        cmd.arg(image.rules.starts_at_ms)
            .arg(image.rules.ends_at_ms)
            .arg(image.rules.queue.as_str())
            .arg(GROUP);
        for order in &image.orders {
            cmd.arg(&order.order_id)
                .arg(order.state.word())
                .arg(&order.user);
            cmd.arg(order.quantity).arg(order.deadline_ms);
        }
        cmd
    }
}
