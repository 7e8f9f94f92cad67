//! Metrics, read by an independent parser.

use std::collections::BTreeMap;

use millpond_engine::event::{Event, Millis, Sink, Trace};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use openmetrics_parser::openmetrics::parse_openmetrics;
use openmetrics_parser::{MetricNumber, OpenMetricsValue};
use reqwest::Method;

use super::support::{TEST_TIMEOUT, TestGateway, read_fixture, start_gateway};

async fn scrape_metrics(gateway: &TestGateway) -> String {
    let answer = gateway.get("/metrics").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    answer.text().await.unwrap()
}

/// Value of a counter or gauge with these labels; of a histogram, its count.
fn metric_value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let families = parse_openmetrics(text).unwrap();
    let family = families.families.get(name)?;
    let sample = family.iter_samples().find(|sample| {
        let label_set = sample.get_labelset().unwrap();
        labels.iter().all(|(name, value)| label_set.get_label_value(name) == Some(value))
    })?;
    let number = |number: &MetricNumber| number.as_f64();
    Some(match &sample.value {
        OpenMetricsValue::Counter(counter) => number(&counter.value),
        OpenMetricsValue::Gauge(gauge) => number(gauge),
        OpenMetricsValue::Histogram(histogram) => {
            histogram.count.map_or(0.0, |count| f64::from(u32::try_from(count).unwrap()))
        }
        other => panic!("{other:?}"),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scrape_after_some_runs_parses_and_counts_right() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let cut_off = read_fixture("anthropic/cut-off.sse");
    let full_stream = read_fixture("claude-code/partial-messages.jsonl");
    gateway.ingest(&session, cut_off.clone()).await;
    gateway.ingest(&session, cut_off.clone()).await;
    gateway.ingest(&session, full_stream.clone()).await;
    let mut events = gateway.follow_stream(&session, "view=steps", "").await;
    let mut sent = events.next_event().await.unwrap().data.len();
    let response = gateway.request(Method::GET, "/v1/sessions/nothing").send().await.unwrap();
    assert_eq!(response.status(), 404);
    let text = scrape_metrics(&gateway).await;
    let runs = |outcome| metric_value(&text, "millpond_runs", &[("outcome", outcome)]);
    assert_eq!((runs("truncated"), runs("completed")), (Some(2.0), Some(1.0)), "{text}");
    assert_eq!(metric_value(&text, "millpond_runs_going", &[]), Some(0.0));
    let reader = [("transport", "sse"), ("view", "steps")];
    assert_eq!(metric_value(&text, "millpond_readers", &reader), Some(1.0));
    assert_eq!(metric_value(&text, "millpond_refused", &[("code", "not_found")]), Some(1.0));
    let ingested_bytes =
        |dialect| metric_value(&text, "millpond_ingest_bytes", &[("dialect", dialect)]);
    let len = |bytes: &[u8]| f64::from(u32::try_from(bytes.len()).unwrap());
    assert_eq!(ingested_bytes("anthropic"), Some(2.0 * len(&cut_off)));
    assert_eq!(ingested_bytes("claude-code"), Some(len(&full_stream)));
    let log = gateway.read_log(&session).await;
    let records = f64::from(u32::try_from(log.lines().count()).unwrap());
    assert_eq!(metric_value(&text, "millpond_events", &[]), Some(records));
    let commits = metric_value(&text, "millpond_commits", &[]).unwrap();
    assert!((3.0..=records).contains(&commits), "{commits}");
    assert_eq!(metric_value(&text, "millpond_commit_seconds", &[]), Some(commits));
    // Frames are counted for live readers only, and when one is live cannot be observed.
    let live = async {
        loop {
            gateway.ingest(&session, full_stream.clone()).await;
            sent += events.events_until(|event| event.event == "completed").await.len();
            let text = scrape_metrics(&gateway).await;
            if metric_value(&text, "millpond_frames", &[("view", "steps")])
                .is_some_and(|made| 0.0 < made)
            {
                return text;
            }
        }
    };
    let text = tokio::time::timeout(TEST_TIMEOUT, live).await.expect("no live frames");
    assert!(metric_value(&text, "millpond_appends_merged", &[("view", "steps")]).is_some());
    let bytes = metric_value(&text, "millpond_sent_bytes", &[("transport", "sse")]).unwrap();
    assert!(f64::from(u32::try_from(sent).unwrap()) < bytes, "{bytes}");
    assert!(!text.contains(&session) && !text.contains(&gateway.token));
}

/// Bytes that the engine reports as held, hidden and dropped, by reason.
fn traced_bytes(bytes: &[u8]) -> BTreeMap<(&'static str, String), f64> {
    #[derive(Default)]
    struct Traces(BTreeMap<(&'static str, String), f64>);
    impl Sink for Traces {
        fn on_event(&mut self, _: Option<Millis>, _: Event<'_>) {}

        fn on_trace(&mut self, trace: Trace<'_>) {
            let trace = serde_json::to_value(trace).unwrap();
            let (name, label) = match trace["debug"].as_str().unwrap() {
                "held" => ("millpond_held_bytes", "reason"),
                "hidden" => ("millpond_hidden_bytes", "class"),
                "dropped" => ("millpond_dropped_bytes", "reason"),
                _ => return,
            };
            let why = trace[label].as_str().unwrap().to_owned();
            *self.0.entry((name, why)).or_default() += trace["bytes"].as_f64().unwrap();
        }
    }
    let mut traces = Traces::default();
    let mut ingest = Ingest::new(&IngestOptions::default());
    ingest.push(bytes, None, &mut traces);
    ingest.finish(InputEnd::EndOfInput, None, &mut traces);
    traces.0
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_filter_held_hid_and_dropped_is_counted_by_reason() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let chunk = |text: &str| {
        let delta =
            serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
        format!("data: {delta}\n\n")
    };
    let texts = ["<thi", "nk>hm</think>", "Hello", " </final> there", "\n\n"];
    let mut stream: String = texts.into_iter().map(chunk).collect();
    stream.push_str("data: [DONE]\n\ndata: {\"late\":true}\n\n");
    let expected = traced_bytes(stream.as_bytes());
    gateway.ingest(&session, stream.into_bytes()).await;
    let text = scrape_metrics(&gateway).await;
    assert!(2 < expected.len(), "{expected:?}");
    for ((name, why), bytes) in expected {
        let label = if name == "millpond_hidden_bytes" { "class" } else { "reason" };
        assert_eq!(
            metric_value(&text, name, &[(label, &why)]),
            Some(bytes),
            "{name} {why}\n{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_owner_may_look() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let response = gateway.client.get(format!("{}/metrics", gateway.base)).send().await.unwrap();
    assert_eq!(response.status(), 401);
    let share_request =
        gateway.post(&format!("/v1/sessions/{session}/shares"), &serde_json::json!({}));
    let share: serde_json::Value = share_request.send().await.unwrap().json().await.unwrap();
    let guest_client = TestGateway {
        token: share["token"].as_str().unwrap().to_owned(),
        ..gateway.clone_client()
    };
    assert_eq!(guest_client.get("/metrics").send().await.unwrap().status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_gone_is_counted_no_more() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    assert!(events.next_event().await.is_some());
    let reader = [("transport", "sse"), ("view", "latest")];
    assert_eq!(
        metric_value(&scrape_metrics(&gateway).await, "millpond_readers", &reader),
        Some(1.0)
    );
    drop(events);
    let reader_closed = async {
        while metric_value(&scrape_metrics(&gateway).await, "millpond_readers", &reader)
            != Some(0.0)
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, reader_closed).await.expect("still counted");
}
