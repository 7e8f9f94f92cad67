//! Where the bytes come from: a file or standard input, read on a thread of its own so that a
//! request to stop is heard while nothing comes.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use engine::event::Millis;
use engine::run::Cut;

use super::recording::{BadRecording, Pause, PlayTo, Player};
use super::stop::{self, Stop};
use super::{Problem, say};
use crate::args::{InputArgs, Pace};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Chunks read ahead of the printing.
const CHUNKS_AHEAD_MAX: usize = 4;

enum Arrived {
    Bytes(Vec<u8>),
    End,
    Broke(std::io::Error),
    /// Somebody may have asked to stop.
    Wake,
}

pub(crate) struct Source {
    arrivals: Receiver<Arrived>,
    stop: Arc<Stop>,
    player: Player,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Yes,
    No,
    Stopped,
}

/// What whoever is handed bytes says to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    More,
    NoMore,
}

impl Source {
    pub(crate) fn open(args: &InputArgs) -> Result<Source, Problem> {
        let input = input(args)?;
        let (sender, arrivals) = sync_channel(CHUNKS_AHEAD_MAX);
        let waker = sender.clone();
        // When the channel is full nobody is waiting at it.
        let stop = stop::listen(move || drop(waker.try_send(Arrived::Wake)))
            .map_err(|error| Problem::new(format!("cannot listen for signals: {error}")))?;
        std::thread::spawn(move || read(input, &sender));
        Ok(Source { arrivals, stop, player: Player::default() })
    }

    /// Hands on all that comes, until it ends, is enough, or somebody asks to stop. Says why no more
    /// comes, or what went wrong.
    pub(crate) fn play_all(
        mut self,
        pace: Pace,
        out: &mut dyn FnMut(&[u8], Option<Millis>) -> Want,
    ) -> Result<Cut, String> {
        let mut want = Want::More;
        loop {
            match self.play(pace, &mut |bytes, at| want = out(bytes, at))? {
                More::Yes if want == Want::More => {}
                More::Yes | More::No => return Ok(Cut::EndOfInput),
                More::Stopped => return Ok(Cut::Interrupted),
            }
        }
    }

    /// Hands on what comes next; what is recorded is played.
    fn play(&mut self, pace: Pace, out: &mut PlayTo<'_>) -> Result<More, String> {
        let damaged = |bad: BadRecording| bad.to_string();
        let pause = match pace {
            Pace::Fast => Pause::None,
            Pace::Real => Pause::AsItCame(&self.stop),
        };
        let arrived = self.arrivals.recv().unwrap_or(Arrived::End);
        if self.stop.is_asked() {
            return Ok(More::Stopped);
        }
        match arrived {
            Arrived::Bytes(bytes) => {
                self.player.push(&bytes, &pause, out).map(|()| More::Yes).map_err(damaged)
            }
            Arrived::End => self.player.finish(&pause, out).map(|()| More::No).map_err(damaged),
            Arrived::Broke(error) => Err(format!("the input broke off: {error}")),
            Arrived::Wake => Ok(More::Yes),
        }
    }
}

fn input(args: &InputArgs) -> Result<Box<dyn Read + Send>, Problem> {
    match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            if path.is_dir() {
                return Err(Problem::new(format!("{} is a folder", path.display())));
            }
            Ok(Box::new(File::open(path).map_err(|e| Problem::file("read", path, &e))?))
        }
        _ => {
            let input = std::io::stdin();
            if input.is_terminal() && !args.quiet {
                say("reading standard input; pipe a stream into it, or name a file");
            }
            Ok(Box::new(input))
        }
    }
}

/// Reads until the input ends, or nobody wants more of it.
fn read(mut input: Box<dyn Read + Send>, arrivals: &SyncSender<Arrived>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let arrived = match input.read(&mut chunk) {
            Ok(0) => Arrived::End,
            Ok(len) => Arrived::Bytes(chunk[..len].to_vec()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => Arrived::Broke(error),
        };
        let is_last = !matches!(arrived, Arrived::Bytes(_));
        if arrivals.send(arrived).is_err() || is_last {
            return;
        }
    }
}
