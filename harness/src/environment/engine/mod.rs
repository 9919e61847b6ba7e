//! The Docker engine of this machine: the images there, and the containers that are ours.

mod error;
mod image;
mod labels;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use testcontainers::bollard::Docker;
use testcontainers::core::client::docker_client_instance;

pub use error::{EngineError, MissingImage};
pub(crate) use image::Image;
pub(crate) use labels::{containers_left, labels, sweep};

use super::server::Program;

/// The engine's API as of Docker 20.10; what we ask for is not in older ones.
const API_MIN: (u32, u32) = (1, 41);
/// An engine that is busy still tells its version within it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// A start takes half a second, on a busy machine a few.
const GIVEN_UP_TIMEOUT: Duration = Duration::from_secs(15);

/// An engine that answers, with every image that is needed.
#[derive(Debug)]
pub(crate) struct Engine {
    pub docker: Docker,
    pub version: String,
    images: Vec<Image>,
    starts: Arc<()>,
}

impl Engine {
    /// Pulls what is missing.
    ///
    /// # Errors
    /// No engine, one that is too old, or images that are neither here nor to be had: all at once.
    pub async fn with_images(
        programs: &[Program],
        say: impl Fn(&str),
    ) -> Result<Self, EngineError> {
        let (docker, version) = connect().await?;
        let (mut images, mut missing) = (Vec::new(), Vec::new());
        for program in programs {
            match Image::find(&docker, program, &say).await {
                Ok(image) => images.push(image),
                Err(image) => missing.push(image),
            }
        }
        if !missing.is_empty() {
            return Err(EngineError::MissingImages { images: missing });
        }
        Ok(Self {
            docker,
            version,
            images,
            starts: Arc::default(),
        })
    }

    /// Held while a container is being started, by whoever would remove it should the start be given up.
    pub fn start_under_way(&self) -> Arc<()> {
        Arc::clone(&self.starts)
    }

    /// Separated by commas.
    pub fn image_names(&self) -> String {
        let names: Vec<_> = self.images.iter().map(|image| &*image.name).collect();
        names.join(", ")
    }

    /// None for a program that was not asked for, or is no server's.
    pub fn image(&self, program: &Program) -> Option<&Image> {
        self.images.iter().find(|image| image.program == *program)
    }
}

impl Drop for Engine {
    /// A start that was given up ends on its own and removes its container: not before this process, so it is waited for.
    fn drop(&mut self) {
        let begun = Instant::now();
        while Arc::strong_count(&self.starts) > 1 && begun.elapsed() < GIVEN_UP_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The engine and its version.
async fn connect() -> Result<(Docker, String), EngineError> {
    let missing = |error: &dyn std::error::Error| EngineError::Missing {
        reason: error.to_string(),
    };
    let docker = docker_client_instance().await.map_err(|e| missing(&e))?;
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, docker.version());
    let answer = answer.await.map_err(|_| EngineError::Silent {
        waited_s: ANSWER_TIMEOUT.as_secs(),
    })?;
    let answer = answer.map_err(|e| missing(&e))?;
    let version = answer.version.unwrap_or_default();
    let api = answer.api_version.unwrap_or_default();
    if number(&api).is_none_or(|api| api < API_MIN) {
        return Err(EngineError::TooOld { version, api });
    }
    Ok((docker, version))
}

/// `1.41`
fn number(api: &str) -> Option<(u32, u32)> {
    let (major, minor) = api.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_api_are_numbers_not_text() {
        assert!(number("1.9") < Some(API_MIN) && number("1.51") > Some(API_MIN));
        assert_eq!(number("new"), None);
    }
}
