//! Takes samples while the load runs.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::{MachineReading, ObserveError, Sample, StoreReader};

/// When and where to.
#[derive(Debug, Clone)]
pub struct SamplerOptions {
    /// The first arrival; may be in the future.
    pub start: Instant,
    pub every: Duration,
    /// `samples.jsonl` of the run; one line a sample, written at once.
    pub file: PathBuf,
}

/// A running sampler.
pub struct Sampler {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<Vec<Sample>, ObserveError>>,
}

impl Sampler {
    /// Starts sampling, on the current tokio runtime. `backlog` counts messages committed and not consumed, `machine`
    /// reads what the machine shows.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn start<B, F>(
        reader: StoreReader,
        options: SamplerOptions,
        backlog: B,
        machine: impl FnMut() -> MachineReading + Send + 'static,
    ) -> Result<Self, ObserveError>
    where
        B: Fn() -> F + Send + 'static,
        F: Future<Output = Result<u64, String>> + Send + 'static,
    {
        let created = File::create(&options.file);
        let path = options.file.clone();
        let file = created.map_err(|source| ObserveError::File { path, source })?;
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(sample(reader, options, backlog, machine, file, stopped));
        Ok(Self { stop, task })
    }

    /// Takes a last sample and ends.
    ///
    /// # Errors
    /// A sample could not be written.
    pub async fn stop(self) -> Result<Vec<Sample>, ObserveError> {
        // A task that has ended already has dropped its end of the channel.
        let _ = self.stop.send(true);
        self.task.await.map_err(ObserveError::Task)?
    }
}

async fn sample<B, F>(
    mut reader: StoreReader,
    options: SamplerOptions,
    backlog: B,
    mut machine: impl FnMut() -> MachineReading,
    mut file: File,
    mut stopped: watch::Receiver<bool>,
) -> Result<Vec<Sample>, ObserveError>
where
    B: Fn() -> F,
    F: Future<Output = Result<u64, String>>,
{
    let mut samples = Vec::new();
    let mut ticks = tokio::time::interval(options.every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let last = tokio::select! {
            _ = ticks.tick() => false,
            _ = stopped.changed() => true,
        };
        let at_ms = since(options.start, Instant::now());
        let MachineReading { cpu_ms, bypasses } = machine();
        // A broker that hangs must not keep the stores from being read.
        let backlog = tokio::time::timeout(options.every, backlog());
        let (stores, backlog) = tokio::join!(reader.sample(), backlog);
        let sample = Sample {
            at_ms,
            cpu_ms,
            bypasses,
            queue_backlog: backlog.ok().and_then(Result::ok),
            ..stores
        };
        write(&mut file, &sample).map_err(|source| ObserveError::File {
            path: options.file.clone(),
            source,
        })?;
        samples.push(sample);
        if last {
            return Ok(samples);
        }
    }
}

fn write(file: &mut File, sample: &Sample) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(sample)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Milliseconds from `start` to `at`, negative before it.
pub(super) fn since(start: Instant, at: Instant) -> i64 {
    let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match at.checked_duration_since(start) {
        Some(after) => ms(after),
        None => -ms(start - at),
    }
}
