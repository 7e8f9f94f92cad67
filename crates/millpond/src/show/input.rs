//! Reads a file or standard input on a separate thread, so that a stop signal is noticed while no
//! input arrives.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use millpond_engine::event::Millis;
use millpond_engine::run::InputEnd;

use super::recording::{BadRecording, PlaybackPacing, PlaybackSink, Player};
use super::stop_signal::{self, StopFlag};
use super::{CommandError, print_to_stderr};
use crate::args::{InputArgs, Pace};

/// Size of one read.
const CHUNK_BYTES: usize = 64 << 10;

/// Chunks buffered ahead of the consumer.
const CHUNKS_AHEAD_MAX: usize = 4;

/// Message from the reading thread or the signal handler.
enum InputEvent {
    Bytes(Vec<u8>),
    End,
    Failed(std::io::Error),
    /// A stop may have been requested.
    Wake,
}

/// Input stream, played back at its pace if it is a recording.
pub(crate) struct InputReader {
    events: Receiver<InputEvent>,
    stop: Arc<StopFlag>,
    player: Player,
}

/// State of the input after one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadResult {
    MoreToRead,
    EndOfInput,
    Stopped,
}

/// Answer of the consumer: read on or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadControl {
    Continue,
    Stop,
}

impl InputReader {
    /// Opens the input, and starts the reading thread and the signal handler.
    pub(crate) fn start_reading_and_signal_handling(
        args: &InputArgs,
    ) -> Result<InputReader, CommandError> {
        let input = open_input(args)?;
        let (sender, arrivals) = sync_channel(CHUNKS_AHEAD_MAX);
        let waker = sender.clone();
        // If the channel is full, the receiver is not waiting.
        let stop =
            stop_signal::spawn_stop_signal_thread(move || drop(waker.try_send(InputEvent::Wake)))
                .map_err(|error| CommandError::new(format!("cannot listen for signals: {error}")))?;
        std::thread::spawn(move || read_input_to_channel(input, &sender));
        Ok(InputReader { events: arrivals, stop, player: Player::default() })
    }

    /// Passes all input to `out` until it ends, `out` declines more, or a stop is requested.
    /// Returns why it ended, or an error message.
    pub(crate) fn read_until_end_or_stop(
        mut self,
        pace: Pace,
        out: &mut dyn FnMut(&[u8], Option<Millis>) -> ReadControl,
    ) -> Result<InputEnd, String> {
        let mut want = ReadControl::Continue;
        loop {
            match self.read_next(pace, &mut |bytes, at| want = out(bytes, at))? {
                ReadResult::MoreToRead if want == ReadControl::Continue => {}
                ReadResult::MoreToRead | ReadResult::EndOfInput => return Ok(InputEnd::EndOfInput),
                ReadResult::Stopped => return Ok(InputEnd::Interrupted),
            }
        }
    }

    /// Waits for the next message and passes its bytes to `out`.
    fn read_next(&mut self, pace: Pace, out: &mut PlaybackSink<'_>) -> Result<ReadResult, String> {
        let damaged = |bad: BadRecording| bad.to_string();
        let pause = match pace {
            Pace::Fast => PlaybackPacing::Immediate,
            Pace::Real => PlaybackPacing::RealTime(&self.stop),
        };
        let arrived = self.events.recv().unwrap_or(InputEvent::End);
        if self.stop.is_requested() {
            return Ok(ReadResult::Stopped);
        }
        match arrived {
            InputEvent::Bytes(bytes) => self
                .player
                .push(&bytes, &pause, out)
                .map(|()| ReadResult::MoreToRead)
                .map_err(damaged),
            InputEvent::End => {
                self.player.finish(&pause, out).map(|()| ReadResult::EndOfInput).map_err(damaged)
            }
            InputEvent::Failed(error) => Err(format!("cannot read the input: {error}")),
            InputEvent::Wake => Ok(ReadResult::MoreToRead),
        }
    }
}

/// Opens the input file or standard input.
fn open_input(args: &InputArgs) -> Result<Box<dyn Read + Send>, CommandError> {
    match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            if path.is_dir() {
                return Err(CommandError::new(format!(
                    "{} is a folder, not a file",
                    path.display()
                )));
            }
            Ok(Box::new(File::open(path).map_err(|e| CommandError::for_file("read", path, &e))?))
        }
        _ => {
            let input = std::io::stdin();
            if input.is_terminal() && !args.quiet {
                print_to_stderr("reading standard input; pipe a stream into it, or pass a file");
            }
            Ok(Box::new(input))
        }
    }
}

/// Sends the input to the channel until it ends or the receiver is dropped.
fn read_input_to_channel(mut input: Box<dyn Read + Send>, arrivals: &SyncSender<InputEvent>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let arrived = match input.read(&mut chunk) {
            Ok(0) => InputEvent::End,
            Ok(len) => InputEvent::Bytes(chunk[..len].to_vec()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => InputEvent::Failed(error),
        };
        let is_last = !matches!(arrived, InputEvent::Bytes(_));
        if arrivals.send(arrived).is_err() || is_last {
            return;
        }
    }
}
