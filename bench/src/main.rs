//! What Millpond costs, beside a floor measured in the same run. Prints ratios; asserts nothing,
//! because machines are noisy.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

mod floor;
mod gateway;
mod ingest;
mod streams;
mod terminal;
mod views;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use engine::view::ViewName;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bytes to events, beside a bare line split and typed parse of the same bytes
    Ingest {
        /// Text deltas in each stream
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
        /// Folder with `chat_N.sse`, `responses_N.sse` and `anthropic_N.sse`; made up if not given
        #[arg(long)]
        data: Option<PathBuf>,
        #[arg(long, default_value_t = 15)]
        repeats: usize,
    },
    /// Events to frames in each view, beside the ingest of the same stream
    Views {
        /// Text deltas in each stream
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
        /// Folder with the streams; made up if not given
        #[arg(long)]
        data: Option<PathBuf>,
        #[arg(long, default_value_t = 7)]
        repeats: usize,
    },
    /// One stream once, for a profiler that counts instructions
    Once {
        provider: streams::Provider,
        #[arg(long, default_value_t = 10_000)]
        deltas: usize,
        /// What to do with the stream
        #[arg(long, value_enum, default_value_t = Job::Ingest)]
        job: Job,
        /// Folder with the streams; made up if not given
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// What readers cost a gateway, beside a bare loop that writes ready-made frames
    Gateway {
        #[command(subcommand)]
        what: gateway::What,
    },
    /// The chat in a pseudo-terminal, beside what other agents' terminals were measured at
    Terminal {
        /// The built program
        #[arg(long, default_value = "target/release/millpond")]
        program: PathBuf,
    },
    /// Write the made-up streams to a folder, for the peers
    Streams {
        folder: PathBuf,
        #[arg(long, default_value_t = 100_000)]
        deltas: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Job {
    /// Only get the stream: to be subtracted from the others
    Nothing,
    Floor,
    Ingest,
    /// Keep the log: to be subtracted from the views
    Log,
    Latest,
    Steps,
    Bubbles,
    Transcript,
    Sentences,
}

fn main() -> std::io::Result<()> {
    match Args::parse().command {
        Command::Ingest { deltas, data, repeats } => ingest::run(deltas, data.as_deref(), repeats),
        Command::Views { deltas, data, repeats } => views::run(deltas, data.as_deref(), repeats),
        Command::Once { provider, deltas, job, data } => {
            let stream = ingest::stream_of(provider, deltas, data.as_deref())?;
            let events = match job {
                Job::Nothing => 0,
                Job::Floor => floor::read(provider, &stream).0,
                Job::Ingest => ingest::events(provider, &stream).events,
                Job::Log => views::only_log(&stream),
                Job::Latest => views::once(ViewName::Latest, &stream),
                Job::Steps => views::once(ViewName::Steps, &stream),
                Job::Bubbles => views::once(ViewName::Bubbles, &stream),
                Job::Transcript => views::once(ViewName::Transcript, &stream),
                Job::Sentences => views::once(ViewName::Sentences, &stream),
            };
            println!("{events} events");
            Ok(())
        }
        Command::Gateway { what } => gateway::run(what),
        Command::Terminal { program } => terminal::run(program),
        Command::Streams { folder, deltas } => {
            std::fs::create_dir_all(&folder)?;
            for provider in streams::Provider::ALL {
                let path = folder.join(format!("{}_{deltas}.sse", provider.name()));
                std::fs::write(&path, streams::make(provider, deltas))?;
                println!("{}", path.display());
            }
            Ok(())
        }
    }
}
