//! Places between two steps in different stores, where a build with the feature `failpoints` can be made to crash,
//! to sleep or to wait. A normal build has none: there [`reach`] is empty.
//!
//! Set at the start by the environment (`FAILPOINTS="after_reserve=1*return"`, see the `fail` crate), and while it runs
//! by `PUT /ops/v1/failpoints/{name}`. `crash` there, and `return` in the environment, end the process by SIGABRT.

/// Every place there is, named after the step that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The half message is stored, nothing is reserved.
    AfterHalfMessage,
    /// Redis has reserved, the message is not committed.
    AfterReserve,
    /// The message is committed, the buyer has no answer. On the outbox path: the order is.
    AfterCommit,
    /// The broker has announcements, MySQL does not know.
    AfterPublish,
    /// A stream's messages are in a consumer's hands, MySQL does not have them.
    BeforeApply,
    /// A batch's messages are marked as consumed, within the transaction that has not done its work yet.
    AfterMark,
    /// MySQL has the batch, the queue does not know.
    AfterApply,
    /// MySQL has cancelled, Redis has not released.
    AfterCancel,
    /// The keeper's steps: gate closed, nothing in flight, Redis rebuilt, gate still closed.
    AfterClose,
    AfterDrain,
    AfterRebuild,
}

impl Point {
    pub const ALL: [Self; 11] = [
        Self::AfterHalfMessage,
        Self::AfterReserve,
        Self::AfterCommit,
        Self::AfterPublish,
        Self::BeforeApply,
        Self::AfterMark,
        Self::AfterApply,
        Self::AfterCancel,
        Self::AfterClose,
        Self::AfterDrain,
        Self::AfterRebuild,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AfterHalfMessage => "after_half_message",
            Self::AfterReserve => "after_reserve",
            Self::AfterCommit => "after_commit",
            Self::AfterPublish => "after_publish",
            Self::BeforeApply => "before_apply",
            Self::AfterMark => "after_mark",
            Self::AfterApply => "after_apply",
            Self::AfterCancel => "after_cancel",
            Self::AfterClose => "after_close",
            Self::AfterDrain => "after_drain",
            Self::AfterRebuild => "after_rebuild",
        }
    }
}

/// The process is at this place: does there what was asked for, usually nothing.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn reach(_point: Point) {}

#[cfg(feature = "failpoints")]
pub use real::{arm, from_environment, reach};

#[cfg(feature = "failpoints")]
mod real {
    use super::Point;

    /// The process is at this place: does there what was asked for, usually nothing.
    pub fn reach(point: Point) {
        let _: Option<()> = fail::eval(point.name(), |_| crash(point));
    }

    /// Without unwinding or cleaning up, as a crash is. Sees to it that the log says why.
    fn crash(point: Point) {
        eprintln!("flashsale: crash at {}", point.name());
        std::process::abort();
    }

    /// Reads `FAILPOINTS`; what it returns must live as long as they are to hold.
    #[must_use]
    pub fn from_environment() -> fail::FailScenario<'static> {
        fail::FailScenario::setup()
    }

    /// Sets what happens at a place: `crash`, `1*crash`, `50%sleep(100)`, `pause`, `off`, ...
    ///
    /// # Errors
    /// No such place, or no such action.
    pub fn arm(name: &str, actions: &str) -> Result<(), String> {
        if !Point::ALL.iter().any(|point| point.name() == name) {
            let known: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
            return Err(format!(
                "no failpoint {name}; there are {}",
                known.join(", ")
            ));
        }
        fail::cfg(name, &actions.replace("crash", "return"))
    }
}

#[cfg(all(test, feature = "failpoints"))]
mod tests {
    use super::*;

    #[test]
    fn only_known_places_and_actions_are_armed() {
        for point in Point::ALL {
            assert_eq!(arm(point.name(), "off"), Ok(()));
            reach(point);
        }
        assert!(
            arm("after_lunch", "off")
                .unwrap_err()
                .contains("after_reserve")
        );
        assert!(arm("after_reserve", "explode").is_err());
        arm("after_reserve", "sleep(60)").unwrap();
        let begun = std::time::Instant::now();
        reach(Point::AfterReserve);
        assert!(begun.elapsed().as_millis() >= 60);
        arm("after_reserve", "off").unwrap();
    }
}
