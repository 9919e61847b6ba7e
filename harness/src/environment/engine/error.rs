//! Why servers cannot run in containers here.

/// An image that is not here, and what came of pulling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingImage {
    pub name: String,
    /// The environment variable that chooses another.
    pub variable: &'static str,
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(
        "no Docker engine answers: {reason}\nstart one (on Debian: compose/install-docker.sh), name its socket in \
         DOCKER_HOST, or run with --env native"
    )]
    Missing { reason: String },
    #[error(
        "the Docker engine has not told its version within {waited_s} s: is it stuck? Start it again, or run with --env native"
    )]
    Silent { waited_s: u64 },
    #[error(
        "Docker engine {version} (API {api}) is too old: API 1.41 is needed, which Docker 20.10 and newer speak"
    )]
    TooOld { version: String, api: String },
    #[error("missing images:{}\nbuild local ones with `make images`, or choose others with {}", lines(.images), variables(.images))]
    MissingImages { images: Vec<MissingImage> },
    #[error(
        "{component}: its process {pid} cannot be seen from here: the Docker engine must run on this very machine, not \
         in a virtual machine or behind DOCKER_HOST"
    )]
    Elsewhere { component: String, pid: i64 },
}

fn lines(images: &[MissingImage]) -> String {
    let line =
        |image: &MissingImage| format!("\n  {} cannot be pulled: {}", image.name, image.reason);
    images.iter().map(line).collect()
}

fn variables(images: &[MissingImage]) -> String {
    let names: Vec<_> = images.iter().map(|image| image.variable).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_every_missing_image_and_how_to_choose_another() {
        let image = |name: &str, variable| MissingImage {
            name: name.to_owned(),
            variable,
            reason: "no such host".to_owned(),
        };
        let images = vec![
            image("redis:7.2", "FLASHDRILL_IMAGE_REDIS"),
            image("mysql:8.4", "FLASHDRILL_IMAGE_MYSQL"),
        ];
        assert_eq!(
            EngineError::MissingImages { images }.to_string(),
            "missing images:\n  redis:7.2 cannot be pulled: no such host\n  mysql:8.4 cannot be pulled: no such host\n\
             build local ones with `make images`, or choose others with FLASHDRILL_IMAGE_REDIS, FLASHDRILL_IMAGE_MYSQL"
        );
    }
}
