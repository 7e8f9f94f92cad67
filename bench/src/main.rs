//! Benchmarks. Each prints ratios to a baseline measured in the same run; nothing is asserted,
//! because machines are noisy.
#![allow(clippy::print_stdout, reason = "benchmarks print their results")]

mod floor;
mod gateway;
mod ingest;
mod streams;
mod terminal;
mod views;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use millpond_engine::view::ViewName;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure ingest against a bare line split and typed parse of the same bytes
    Ingest {
        /// Text deltas in each stream
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
        /// Folder with `chat_N.sse`, `responses_N.sse` and `anthropic_N.sse` (default: generated)
        #[arg(long)]
        data: Option<PathBuf>,
        #[arg(long, default_value_t = 15)]
        repeats: usize,
    },
    /// Measure frame encoding in each view against the ingest of the same stream
    Views {
        /// Text deltas in each stream
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
        /// Folder with the streams (default: generated)
        #[arg(long)]
        data: Option<PathBuf>,
        #[arg(long, default_value_t = 7)]
        repeats: usize,
    },
    /// Process one stream once, for a profiler that counts instructions
    Once {
        provider: streams::Provider,
        #[arg(long, default_value_t = 10_000)]
        deltas: usize,
        /// Part of the work to do
        #[arg(long, value_enum, default_value_t = Job::Ingest)]
        job: Job,
        /// Folder with the streams (default: generated)
        #[arg(long)]
        data: Option<PathBuf>,
        /// Write all deltas to this many messages of a Responses stream in turn
        #[arg(long)]
        open_messages: Option<u32>,
    },
    /// Measure a gateway and its readers against a bare loop that writes ready-made frames
    Gateway {
        #[command(subcommand)]
        bench: gateway::GatewayBench,
    },
    /// Measure the chat in a pseudo-terminal, next to recorded results of other agents
    Terminal {
        /// Path of the built program
        #[arg(long, default_value = "target/release/millpond")]
        program: PathBuf,
    },
    /// Write the generated streams to a folder, for the peer benchmarks
    Streams {
        folder: PathBuf,
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Job {
    /// Load the stream only: subtract it from the others
    Nothing,
    Floor,
    Ingest,
    /// Collect the log only: subtract it from the views
    Log,
    Latest,
    Steps,
    Bubbles,
    Transcript,
    Sentences,
}

fn main() -> std::io::Result<()> {
    match Args::parse().command {
        Command::Ingest { deltas, data, repeats } => {
            ingest::run_ingest_bench(deltas, data.as_deref(), repeats)
        }
        Command::Views { deltas, data, repeats } => {
            views::run_views_bench(deltas, data.as_deref(), repeats)
        }
        Command::Once { provider, deltas, job, data, open_messages } => {
            let stream = match open_messages {
                Some(messages) => streams::make_interleaved_stream(deltas, messages),
                None => ingest::load_or_make_stream(provider, deltas, data.as_deref())?,
            };
            let events = match job {
                Job::Nothing => 0,
                Job::Floor => floor::count_payloads_and_text(provider, &stream).0,
                Job::Ingest => ingest::ingest_stream(provider, &stream).events,
                Job::Log => views::ingest_and_count_records(&stream),
                Job::Latest => views::ingest_and_encode_view(ViewName::Latest, &stream),
                Job::Steps => views::ingest_and_encode_view(ViewName::Steps, &stream),
                Job::Bubbles => views::ingest_and_encode_view(ViewName::Bubbles, &stream),
                Job::Transcript => views::ingest_and_encode_view(ViewName::Transcript, &stream),
                Job::Sentences => views::ingest_and_encode_view(ViewName::Sentences, &stream),
            };
            println!("{events} events");
            Ok(())
        }
        Command::Gateway { bench: what } => gateway::run_gateway_bench(what),
        Command::Terminal { program } => terminal::run_terminal_bench(program),
        Command::Streams { folder, deltas } => {
            std::fs::create_dir_all(&folder)?;
            for provider in streams::Provider::ALL {
                let path = folder.join(format!("{}_{deltas}.sse", provider.name()));
                std::fs::write(&path, streams::make_stream(provider, deltas))?;
                println!("{}", path.display());
            }
            Ok(())
        }
    }
}
