//! The binary: arguments, wiring, exit status.

mod args;
mod chat;
mod compare;
mod config;
mod doctor;
mod init;
mod restore;
mod serve;
mod show;
mod tee;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let Some(command) = args.command else { return chat::run(&args.chat) };
    match command {
        Command::Chat(chat) => chat::run(&chat),
        Command::Show(show) => show::run(&show),
        Command::Compare(compare) => compare::run(&compare),
        Command::Serve(serve) => serve::run(&serve),
        Command::Tee(tee) => tee::run(&tee),
        Command::Login(login) => serve::login(&login),
        Command::Config(config) => match config.config.load() {
            Ok(config) => print(config.table().as_bytes()),
            Err(problem) => {
                show::say(&problem);
                ExitCode::from(2)
            }
        },
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Restore(restore) => restore::run(&restore),
        Command::Init(init) => init::run(&init),
        Command::Hook { socket } => agent::driven::hook(&socket),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "millpond", &mut script);
            print(&script)
        }
        Command::Man { page } => man(page.as_deref()),
    }
}

/// The manual of the whole program, or of one of its commands.
fn man(page: Option<&str>) -> ExitCode {
    let mut command = Args::command();
    command.build();
    let command = match page {
        None => command,
        Some(page) => {
            if let Some(found) = command.find_subcommand(page) {
                found.clone()
            } else {
                show::say(&format!("no command `{page}`: see millpond --help"));
                return ExitCode::from(2);
            }
        }
    };
    let mut manual = Vec::new();
    match clap_mangen::Man::new(command).render(&mut manual) {
        Ok(()) => print(&manual),
        Err(error) => {
            show::say(&format!("cannot make the manual: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// A reader that has gone away has read enough.
fn print(bytes: &[u8]) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
