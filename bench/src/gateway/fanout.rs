//! Measures one run with many readers: CPU time per event and reader, latency, and whether readers
//! that never read delay the others.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use super::load::{
    RunUpload, connect_and_request_stream, format_stamp, now_ns, start_readers_and_await_data,
};
use super::process::ServerProcess;
use super::quantile;
use super::server::ServerKind;

/// Parameters of one measurement.
#[derive(Clone, Copy, Debug)]
struct FanoutLoad {
    kind: ServerKind,
    readers: usize,
    rate: u64,
    seconds: u64,
    /// Bytes of each delta besides its stamp.
    padding_bytes: usize,
    /// Readers that never read.
    stalled_readers: usize,
}

/// Results of one measurement.
#[derive(Clone, Copy, Debug)]
struct FanoutResult {
    micros_per_event: f64,
    p50_ns: u64,
    p99_ns: u64,
    gaps: u64,
    events: u64,
}

/// Runs the fan-out benchmark for each kind of server and prints its table.
pub(super) async fn run_fanout_bench(
    readers: usize,
    rate: u64,
    seconds: u64,
    repeats: usize,
) -> io::Result<()> {
    println!("{readers} readers, {rate} deltas/s, {seconds} s");
    println!(
        "| server | us of CPU per event and reader | of the bare loop | p50 ms | p99 ms | events | gaps |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for _ in 0..repeats {
        let mut bare = None;
        for kind in [ServerKind::Bare, ServerKind::Unmerged, ServerKind::Gateway] {
            let load =
                FanoutLoad { kind, readers, rate, seconds, padding_bytes: 0, stalled_readers: 0 };
            let measured = LocalSet::new().run_until(measure_fanout(load)).await?;
            let bare = *bare.get_or_insert(measured);
            println!(
                "| {kind:?} | {:.2} | {:.2} | {:.2} ({:.2}) | {:.2} ({:.2}) | {} | {} |",
                measured.micros_per_event,
                measured.micros_per_event / bare.micros_per_event,
                nanos_to_millis(measured.p50_ns),
                nanos_to_millis(measured.p50_ns) / nanos_to_millis(bare.p50_ns),
                nanos_to_millis(measured.p99_ns),
                nanos_to_millis(measured.p99_ns) / nanos_to_millis(bare.p99_ns),
                measured.events,
                measured.gaps,
            );
        }
    }
    Ok(())
}

/// Large enough to fill the buffers of a reader that never reads within two seconds.
const STALLED_PADDING_BYTES: usize = 16 * 1024;

/// Runs the benchmark with 0, 1 and 10 readers that never read, and prints its table.
pub(super) async fn run_stalled_readers_bench(
    readers: usize,
    seconds: u64,
    repeats: usize,
) -> io::Result<()> {
    println!("{readers} readers, 100 deltas/s of {STALLED_PADDING_BYTES} bytes, {seconds} s");
    println!("| never read | p50 ms | p99 ms | gaps |");
    println!("| --- | --- | --- | --- |");
    for _ in 0..repeats {
        let mut alone = None;
        for ignorers in [0, 1, 10] {
            let kind = ServerKind::Unmerged;
            let load = FanoutLoad {
                kind,
                readers,
                rate: 100,
                seconds,
                padding_bytes: STALLED_PADDING_BYTES,
                stalled_readers: ignorers,
            };
            let measured = LocalSet::new().run_until(measure_fanout(load)).await?;
            let alone = *alone.get_or_insert(measured);
            println!(
                "| {ignorers} | {:.2} ({:.2}) | {:.2} ({:.2}) | {} |",
                nanos_to_millis(measured.p50_ns),
                nanos_to_millis(measured.p50_ns) / nanos_to_millis(alone.p50_ns),
                nanos_to_millis(measured.p99_ns),
                nanos_to_millis(measured.p99_ns) / nanos_to_millis(alone.p99_ns),
                measured.gaps,
            );
        }
    }
    Ok(())
}

fn nanos_to_millis(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64() * 1000.0
}

async fn measure_fanout(load: FanoutLoad) -> io::Result<FanoutResult> {
    let FanoutLoad {
        kind,
        readers,
        rate,
        seconds,
        padding_bytes: padding,
        stalled_readers: ignorers,
    } = load;
    let folder = tempfile::tempdir()?;
    let server = ServerProcess::start(kind, rate, folder.path(), 0)?;
    if kind != ServerKind::Bare {
        let mut writing = RunUpload::start(&server).await?;
        tokio::task::spawn_local(async move {
            let every = Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(1);
            let mut tick = tokio::time::interval(every);
            tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let padding = " ".repeat(padding);
            for n in 0_u64.. {
                tick.tick().await;
                if writing.send_delta(&(format_stamp(n, now_ns()) + &padding)).await.is_err() {
                    return;
                }
            }
        });
    }
    let seen = start_readers_and_await_data(&server, &server.stream_path(kind), readers).await?;
    let mut ignored = Vec::new();
    for _ in 0..ignorers {
        ignored.push(connect_and_request_stream(&server, &server.stream_path(kind)).await?);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    seen.borrow_mut().is_counting = true;
    let before = server.cpu_seconds();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let used = server.cpu_seconds() - before;
    let mut seen = seen.borrow_mut();
    seen.is_counting = false;
    seen.latency_ns.sort_unstable();
    let events = seen.events;
    Ok(FanoutResult {
        micros_per_event: used * 1e6 / f64::from(u32::try_from(events.max(1)).unwrap_or(u32::MAX)),
        p50_ns: quantile(&seen.latency_ns, 500),
        p99_ns: quantile(&seen.latency_ns, 990),
        gaps: seen.gaps,
        events,
    })
}
