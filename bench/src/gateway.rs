//! Gateway benchmarks. Servers run as separate processes, so that their CPU time and memory can be
//! measured apart from the load's.

mod attach;
mod fanout;
mod idle;
mod ingest;
mod latency;
mod load;
mod process;
mod recovery;
mod server;

use std::io;
use std::path::PathBuf;

/// Subcommands of `gateway`.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum GatewayBench {
    /// Measure CPU per event and reader, and latency, of one run with many readers
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
    /// Measure the latency of readers while others never read
    Slow {
        #[arg(long, default_value_t = 100)]
        readers: usize,
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        #[arg(long, default_value_t = 2)]
        repeats: usize,
    },
    /// Measure CPU per delta of an ingested stream, with no reader, one, and one in each view
    Ingest {
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
        #[arg(long, default_value_t = 3)]
        repeats: usize,
    },
    /// Measure the memory per reader of an idle stream
    Idle {
        #[arg(long, default_value_t = 10_000)]
        readers: usize,
    },
    /// Measure attaching to and replaying a run of 2,000 events among 10,000 sessions
    Attach {
        #[arg(long, default_value_t = 200)]
        repeats: usize,
    },
    /// Measure the time from sending a delta to reading it
    Latency {
        #[arg(long, default_value_t = 200)]
        deltas: u64,
    },
    /// Measure the start after `kill -9` on a log with an open run
    Recovery {
        #[arg(long, default_value_t = 100_000)]
        events: u64,
    },
    /// Internal: run a server to be measured
    #[command(hide = true)]
    Serve {
        kind: server::ServerKind,
        #[arg(long, default_value_t = 100)]
        rate: u64,
        #[arg(long, default_value = "")]
        folder: PathBuf,
        /// Number of sample sessions to create
        #[arg(long, default_value_t = 0)]
        sessions: u64,
    },
}

/// Runs one gateway benchmark, or a server for one.
pub(crate) fn run_gateway_bench(what: GatewayBench) -> io::Result<()> {
    // Each reader is an open file, here and in the server.
    rlimit::increase_nofile_limit(u64::MAX)?;
    if let GatewayBench::Serve { kind, rate, folder, sessions } = what {
        return server::serve_until_killed(kind, rate, &folder, sessions);
    }
    // One thread: the other core is for the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match what {
            GatewayBench::Fanout { readers, rate, seconds, repeats } => {
                fanout::run_fanout_bench(readers, rate, seconds, repeats).await
            }
            GatewayBench::Slow { readers, seconds, repeats } => {
                fanout::run_stalled_readers_bench(readers, seconds, repeats).await
            }
            GatewayBench::Ingest { deltas, repeats } => {
                ingest::run_ingest_bench(deltas, repeats).await
            }
            GatewayBench::Idle { readers } => idle::run_idle_bench(readers).await,
            GatewayBench::Attach { repeats } => attach::run_attach_bench(repeats).await,
            GatewayBench::Latency { deltas } => latency::run_latency_bench(deltas).await,
            GatewayBench::Recovery { events } => recovery::run_recovery_bench(events).await,
            GatewayBench::Serve { .. } => Ok(()),
        }
    })
}

/// Quantile of sorted values, given in thousandths.
fn quantile(sorted: &[u64], thousandths: usize) -> u64 {
    let at = sorted.len().saturating_sub(1) * thousandths / 1000;
    sorted.get(at).copied().unwrap_or(0)
}
