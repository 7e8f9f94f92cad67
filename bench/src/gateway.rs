//! What readers cost a gateway. Servers are processes of their own, so that their time and memory
//! can be told from the load's.

mod attach;
mod fanout;
mod idle;
mod latency;
mod load;
mod process;
mod recovery;
mod server;

use std::io;
use std::path::PathBuf;

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum What {
    /// One run, many readers: CPU per event and reader, and latency
    Fanout {
        #[arg(long, default_value_t = 1000)]
        readers: usize,
        /// Deltas per second
        #[arg(long, default_value_t = 100)]
        rate: u64,
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        #[arg(long, default_value_t = 2)]
        repeats: usize,
    },
    /// Latency of readers beside some that never read
    Slow {
        #[arg(long, default_value_t = 100)]
        readers: usize,
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        #[arg(long, default_value_t = 2)]
        repeats: usize,
    },
    /// Memory per reader of a stream on which nothing happens
    Idle {
        #[arg(long, default_value_t = 10_000)]
        readers: usize,
    },
    /// Attach to a run of 2,000 events among 10,000 sessions, and get all of it
    Attach {
        #[arg(long, default_value_t = 200)]
        repeats: usize,
    },
    /// From a delta sent to the same delta read
    Latency {
        #[arg(long, default_value_t = 200)]
        deltas: u64,
    },
    /// Start after `kill -9` on a log of so many events with an open run
    Recovery {
        #[arg(long, default_value_t = 100_000)]
        events: u64,
    },
    /// A server to be measured; the others start it
    #[command(hide = true)]
    Serve {
        kind: server::Kind,
        #[arg(long, default_value_t = 100)]
        rate: u64,
        #[arg(long, default_value = "")]
        folder: PathBuf,
        /// Sessions that are there besides
        #[arg(long, default_value_t = 0)]
        sessions: u64,
    },
}

pub(crate) fn run(what: What) -> io::Result<()> {
    // Each reader is an open file, here and in the server.
    rlimit::increase_nofile_limit(u64::MAX)?;
    if let What::Serve { kind, rate, folder, sessions } = what {
        return server::run(kind, rate, &folder, sessions);
    }
    // One thread, as a quiet client would have: the other core is the server's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match what {
            What::Fanout { readers, rate, seconds, repeats } => {
                fanout::run(readers, rate, seconds, repeats).await
            }
            What::Slow { readers, seconds, repeats } => {
                fanout::beside_slow(readers, seconds, repeats).await
            }
            What::Idle { readers } => idle::run(readers).await,
            What::Attach { repeats } => attach::run(repeats).await,
            What::Latency { deltas } => latency::run(deltas).await,
            What::Recovery { events } => recovery::run(events).await,
            What::Serve { .. } => Ok(()),
        }
    })
}

/// The value below which this part of them lies, in thousandths.
fn quantile(sorted: &[u64], thousandths: usize) -> u64 {
    let at = sorted.len().saturating_sub(1) * thousandths / 1000;
    sorted.get(at).copied().unwrap_or(0)
}
