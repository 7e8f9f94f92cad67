//! Parts that several commands share: runtimes, and the report of a failure.

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use crate::show::print_to_stderr;

/// Prints the error and returns the exit status 1.
pub(crate) fn print_error_and_return_failure(problem: &str) -> ExitCode {
    print_to_stderr(problem);
    ExitCode::FAILURE
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    build_runtime(&mut Builder::new_current_thread())?.block_on(work)
}

/// Builds a runtime with worker threads, for a gateway.
pub(crate) fn build_multi_thread_runtime() -> Result<Runtime, String> {
    build_runtime(&mut Builder::new_multi_thread())
}

fn build_runtime(builder: &mut Builder) -> Result<Runtime, String> {
    builder.enable_all().build().map_err(|error| format!("cannot start: {error}"))
}
