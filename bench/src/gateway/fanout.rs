//! One run to many readers: processor time per event and reader, and how late it comes; and whether
//! it comes later to them when one more is there that never reads.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use super::load::{Writing, crowd, now_ns, open, stamp};
use super::process::Server;
use super::quantile;
use super::server::Kind;

#[derive(Clone, Copy, Debug)]
struct Load {
    kind: Kind,
    readers: usize,
    rate: u64,
    seconds: u64,
    /// Bytes that each delta has besides its stamp.
    padding: usize,
    /// Readers that never read.
    ignorers: usize,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    micros_per_event: f64,
    p50_ns: u64,
    p99_ns: u64,
    gaps: u64,
    events: u64,
}

pub(super) async fn run(readers: usize, rate: u64, seconds: u64, repeats: usize) -> io::Result<()> {
    println!("{readers} readers, {rate} deltas/s, {seconds} s");
    println!(
        "| server | us of CPU per event and reader | of the bare loop | p50 ms | p99 ms | events | gaps |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for _ in 0..repeats {
        let mut bare = None;
        for kind in [Kind::Bare, Kind::Unmerged, Kind::Gateway] {
            let load = Load { kind, readers, rate, seconds, padding: 0, ignorers: 0 };
            let measured = LocalSet::new().run_until(measure(load)).await?;
            let bare = *bare.get_or_insert(measured);
            println!(
                "| {kind:?} | {:.2} | {:.2} | {:.2} ({:.2}) | {:.2} ({:.2}) | {} | {} |",
                measured.micros_per_event,
                measured.micros_per_event / bare.micros_per_event,
                millis(measured.p50_ns),
                millis(measured.p50_ns) / millis(bare.p50_ns),
                millis(measured.p99_ns),
                millis(measured.p99_ns) / millis(bare.p99_ns),
                measured.events,
                measured.gaps,
            );
        }
    }
    Ok(())
}

/// Enough that what is kept for a reader that never reads is full within two seconds.
const SLOW_PADDING: usize = 16 * 1024;

pub(super) async fn beside_slow(readers: usize, seconds: u64, repeats: usize) -> io::Result<()> {
    println!("{readers} readers, 100 deltas/s of {SLOW_PADDING} bytes, {seconds} s");
    println!("| never read | p50 ms | p99 ms | gaps |");
    println!("| --- | --- | --- | --- |");
    for _ in 0..repeats {
        let mut alone = None;
        for ignorers in [0, 1, 10] {
            let kind = Kind::Unmerged;
            let load = Load { kind, readers, rate: 100, seconds, padding: SLOW_PADDING, ignorers };
            let measured = LocalSet::new().run_until(measure(load)).await?;
            let alone = *alone.get_or_insert(measured);
            println!(
                "| {ignorers} | {:.2} ({:.2}) | {:.2} ({:.2}) | {} |",
                millis(measured.p50_ns),
                millis(measured.p50_ns) / millis(alone.p50_ns),
                millis(measured.p99_ns),
                millis(measured.p99_ns) / millis(alone.p99_ns),
                measured.gaps,
            );
        }
    }
    Ok(())
}

fn millis(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64() * 1000.0
}

async fn measure(load: Load) -> io::Result<Measured> {
    let Load { kind, readers, rate, seconds, padding, ignorers } = load;
    let folder = tempfile::tempdir()?;
    let server = Server::start(kind, rate, folder.path(), 0)?;
    if kind != Kind::Bare {
        let mut writing = Writing::begin(&server).await?;
        tokio::task::spawn_local(async move {
            let every = Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(1);
            let mut tick = tokio::time::interval(every);
            tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let padding = " ".repeat(padding);
            for n in 0_u64.. {
                tick.tick().await;
                if writing.delta(&(stamp(n, now_ns()) + &padding)).await.is_err() {
                    return;
                }
            }
        });
    }
    let seen = crowd(&server, &server.stream(kind), readers).await?;
    let mut ignored = Vec::new();
    for _ in 0..ignorers {
        ignored.push(open(&server, &server.stream(kind)).await?);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    seen.borrow_mut().counting = true;
    let before = server.cpu_seconds();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let used = server.cpu_seconds() - before;
    let mut seen = seen.borrow_mut();
    seen.counting = false;
    seen.latency_ns.sort_unstable();
    let events = seen.events;
    Ok(Measured {
        micros_per_event: used * 1e6 / f64::from(u32::try_from(events.max(1)).unwrap_or(u32::MAX)),
        p50_ns: quantile(&seen.latency_ns, 500),
        p99_ns: quantile(&seen.latency_ns, 990),
        gaps: seen.gaps,
        events,
    })
}
