//! Which image holds a program: the official one by default, a local one that stands in for it, or the user's choice.

use std::env;

use testcontainers::GenericImage;
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::ImageInspect;
use testcontainers::runners::AsyncRunner;

use super::super::server::Program;
use super::MissingImage;

struct Choice {
    program: Program,
    /// What the user's choice is read from.
    variable: &'static str,
    official: &'static str,
    /// What `make images` builds.
    local: &'static str,
    /// The program, on the image's search path or by its path.
    entry_point: &'static str,
}

const CHOICES: [Choice; 4] = [
    Choice {
        program: Program::Redis,
        variable: "FLASHDRILL_IMAGE_REDIS",
        official: "redis:7.2",
        local: "flashdrill/redis:local",
        entry_point: "redis-server",
    },
    Choice {
        program: Program::Mysql,
        variable: "FLASHDRILL_IMAGE_MYSQL",
        official: "mysql:8.4",
        local: "flashdrill/mysql:local",
        entry_point: "mysqld",
    },
    Choice {
        program: Program::Java,
        variable: "FLASHDRILL_IMAGE_ROCKETMQ",
        official: "apache/rocketmq:5.3.3",
        local: "flashdrill/rocketmq:local",
        entry_point: "java",
    },
    Choice {
        program: Program::Toxiproxy,
        variable: "FLASHDRILL_IMAGE_TOXIPROXY",
        official: "ghcr.io/shopify/toxiproxy:2.12.0",
        local: "flashdrill/toxiproxy:local",
        entry_point: "/toxiproxy",
    },
];

/// An image that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub program: Program,
    pub name: String,
    pub entry_point: &'static str,
    /// Its environment, `NAME=value`.
    variables: Vec<String>,
}

impl Image {
    /// The user's choice, else the official image or the local one, whichever is here; else the first of these is pulled.
    pub async fn find(
        docker: &Docker,
        program: &Program,
        say: impl Fn(&str),
    ) -> Result<Self, MissingImage> {
        let choice = CHOICES.iter().find(|choice| choice.program == *program);
        let choice = choice.expect("every server's program has an image");
        let chosen = env::var(choice.variable)
            .ok()
            .filter(|name| !name.is_empty());
        let names = chosen.map_or_else(
            || vec![choice.official.to_owned(), choice.local.to_owned()],
            |name| vec![name],
        );
        for name in &names {
            if let Ok(found) = docker.inspect_image(name).await {
                return Ok(Self::of(choice, name, found));
            }
        }
        let name = &names[0];
        say(&format!("pulling {name}"));
        let missing = |error: &dyn std::error::Error| MissingImage {
            name: name.clone(),
            variable: choice.variable,
            reason: root_of(error),
        };
        let _request = generic(name).pull_image().await.map_err(|e| missing(&e))?;
        let found = docker.inspect_image(name).await.map_err(|e| missing(&e))?;
        Ok(Self::of(choice, name, found))
    }

    fn of(choice: &Choice, name: &str, found: ImageInspect) -> Self {
        Self {
            program: choice.program.clone(),
            name: name.to_owned(),
            entry_point: choice.entry_point,
            variables: found.config.and_then(|c| c.env).unwrap_or_default(),
        }
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        let mut all = self.variables.iter();
        all.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Runs the program itself, past the image's own entry point.
    pub fn generic(&self) -> GenericImage {
        generic(&self.name).with_entrypoint(self.entry_point)
    }
}

/// A colon before the last slash belongs to a registry's port.
fn generic(name: &str) -> GenericImage {
    match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => GenericImage::new(name, tag),
        _ => GenericImage::new(name, "latest"),
    }
}

/// The last of the chain says what is wrong; the others repeat it in more words.
fn root_of(error: &dyn std::error::Error) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

#[cfg(test)]
mod tests {
    use testcontainers::Image as _;

    use super::*;

    #[test]
    fn a_tag_is_told_from_a_registrys_port() {
        let parts = |name: &str| {
            let image = generic(name);
            (image.name().to_owned(), image.tag().to_owned())
        };
        for (name, expected) in [
            ("redis:7.2", ("redis", "7.2")),
            ("redis", ("redis", "latest")),
            ("localhost:5000/redis", ("localhost:5000/redis", "latest")),
            ("localhost:5000/redis:8", ("localhost:5000/redis", "8")),
        ] {
            assert_eq!(parts(name), (expected.0.to_owned(), expected.1.to_owned()));
        }
    }

    #[test]
    fn every_server_has_an_image() {
        for program in [
            Program::Redis,
            Program::Mysql,
            Program::Java,
            Program::Toxiproxy,
        ] {
            assert!(
                CHOICES.iter().any(|choice| choice.program == program),
                "{program:?}"
            );
        }
    }
}
