//! The `millpond` binary: parses arguments, dispatches to a command, returns its exit status.

mod args;
mod chat;
mod command;
mod compare;
mod demo;
mod doctor;
mod init;
mod local_gateway;
mod login;
mod restore;
mod serve;
mod settings;
mod show;
mod stream_debug;
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
        Command::Demo(demo) => demo::run(&demo),
        Command::Show(show) => show::run(&show),
        Command::Compare(compare) => compare::run(&compare),
        Command::Serve(serve) => serve::run(&serve),
        Command::Tee(tee) => tee::run(&tee),
        Command::Login(login) => login::run(&login),
        Command::Config(config) => match config.config.load_settings() {
            Ok(settings) => print_to_stdout(settings.render_with_data_folder().as_bytes()),
            Err(problem) => {
                show::print_to_stderr(&problem);
                ExitCode::from(2)
            }
        },
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Restore(restore) => restore::run(&restore),
        Command::Init(init) => init::run(&init),
        Command::Hook { socket } => {
            millpond_agent::external::relay_stdin_and_print_decision(&socket)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "millpond", &mut script);
            print_to_stdout(&script)
        }
        Command::Man { page } => print_man_page(page.as_deref()),
    }
}

/// Prints the man page of the program, or of the command named `page`.
fn print_man_page(page: Option<&str>) -> ExitCode {
    let mut command = Args::command();
    command.build();
    let command = match page {
        None => command,
        Some(page) => {
            if let Some(found) = command.find_subcommand(page) {
                found.clone()
            } else {
                show::print_to_stderr(&format!(
                    "no command `{page}`; `millpond --help` lists them"
                ));
                return ExitCode::from(2);
            }
        }
    };
    let mut manual = Vec::new();
    match clap_mangen::Man::new(command).render(&mut manual) {
        Ok(()) => print_to_stdout(&manual),
        Err(error) => {
            show::print_to_stderr(&format!("cannot render the man page: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes `bytes` to standard output. A closed pipe counts as success: the reader has enough.
fn print_to_stdout(bytes: &[u8]) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
