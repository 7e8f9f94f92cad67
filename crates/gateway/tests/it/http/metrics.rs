//! What the gateway counts, read by a parser that is not ours.

use std::collections::BTreeMap;

use engine::event::{Event, Millis, Sink, Trace};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use openmetrics_parser::openmetrics::parse_openmetrics;
use openmetrics_parser::{MetricNumber, OpenMetricsValue};
use reqwest::Method;

use super::support::{PATIENCE, Served, fixture, serve};

async fn scrape(served: &Served) -> String {
    let answer = served.get("/metrics").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    answer.text().await.unwrap()
}

/// The value of a counter or gauge with these labels; of a histogram, how many were counted.
fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let all = parse_openmetrics(text).unwrap();
    let family = all.families.get(name)?;
    let sample = family.iter_samples().find(|sample| {
        let set = sample.get_labelset().unwrap();
        labels.iter().all(|(name, value)| set.get_label_value(name) == Some(value))
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
    let served = serve().await;
    let session = served.new_session().await;
    let cut_off = fixture("anthropic/cut-off.sse");
    let whole = fixture("claude-code/partial-messages.jsonl");
    served.ingest(&session, cut_off.clone()).await;
    served.ingest(&session, cut_off.clone()).await;
    served.ingest(&session, whole.clone()).await;
    let mut events = served.follow(&session, "view=steps", "").await;
    let mut sent = events.next().await.unwrap().data.len();
    let wrong = served.request(Method::GET, "/v1/sessions/nothing").send().await.unwrap();
    assert_eq!(wrong.status(), 404);
    let text = scrape(&served).await;
    let runs = |outcome| value(&text, "millpond_runs", &[("outcome", outcome)]);
    assert_eq!((runs("truncated"), runs("completed")), (Some(2.0), Some(1.0)), "{text}");
    assert_eq!(value(&text, "millpond_runs_going", &[]), Some(0.0));
    let reader = [("transport", "sse"), ("view", "steps")];
    assert_eq!(value(&text, "millpond_readers", &reader), Some(1.0));
    assert_eq!(value(&text, "millpond_refused", &[("code", "not_found")]), Some(1.0));
    let taken = |dialect| value(&text, "millpond_ingest_bytes", &[("dialect", dialect)]);
    let len = |bytes: &[u8]| f64::from(u32::try_from(bytes.len()).unwrap());
    assert_eq!(taken("anthropic"), Some(2.0 * len(&cut_off)));
    assert_eq!(taken("claude-code"), Some(len(&whole)));
    let log = served.log(&session).await;
    let records = f64::from(u32::try_from(log.lines().count()).unwrap());
    assert_eq!(value(&text, "millpond_events", &[]), Some(records));
    let commits = value(&text, "millpond_commits", &[]).unwrap();
    assert!((3.0..=records).contains(&commits), "{commits}");
    assert_eq!(value(&text, "millpond_commit_seconds", &[]), Some(commits));
    // Frames are made for those who have caught up; when that is nobody is told.
    let live = async {
        loop {
            served.ingest(&session, whole.clone()).await;
            sent += events.until(|got| got.event == "completed").await.len();
            let text = scrape(&served).await;
            if value(&text, "millpond_frames", &[("view", "steps")]).is_some_and(|made| 0.0 < made)
            {
                return text;
            }
        }
    };
    let text = tokio::time::timeout(PATIENCE, live).await.expect("nobody gets live frames");
    assert!(value(&text, "millpond_appends_merged", &[("view", "steps")]).is_some());
    let bytes = value(&text, "millpond_sent_bytes", &[("transport", "sse")]).unwrap();
    assert!(f64::from(u32::try_from(sent).unwrap()) < bytes, "{bytes}");
    assert!(!text.contains(&session) && !text.contains(&served.token));
}

/// What the engine itself says it held back, took out and dropped, by its words for why.
fn traced(bytes: &[u8]) -> BTreeMap<(&'static str, String), f64> {
    #[derive(Default)]
    struct Traces(BTreeMap<(&'static str, String), f64>);
    impl Sink for Traces {
        fn event(&mut self, _: Option<Millis>, _: Event<'_>) {}

        fn trace(&mut self, trace: Trace<'_>) {
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
    let mut ingest = Ingest::new(&Options::default());
    ingest.push(bytes, None, &mut traces);
    ingest.finish(Cut::EndOfInput, None, &mut traces);
    traces.0
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_filter_held_hid_and_dropped_is_counted_by_reason() {
    let served = serve().await;
    let session = served.new_session().await;
    let chunk = |text: &str| {
        let delta =
            serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
        format!("data: {delta}\n\n")
    };
    let texts = ["<thi", "nk>hm</think>", "Hello", " </final> there", "\n\n"];
    let mut stream: String = texts.into_iter().map(chunk).collect();
    stream.push_str("data: [DONE]\n\ndata: {\"late\":true}\n\n");
    let expected = traced(stream.as_bytes());
    served.ingest(&session, stream.into_bytes()).await;
    let text = scrape(&served).await;
    assert!(2 < expected.len(), "{expected:?}");
    for ((name, why), bytes) in expected {
        let label = if name == "millpond_hidden_bytes" { "class" } else { "reason" };
        assert_eq!(value(&text, name, &[(label, &why)]), Some(bytes), "{name} {why}\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_owner_may_look() {
    let served = serve().await;
    let session = served.new_session().await;
    let nobody = served.client.get(format!("{}/metrics", served.base)).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    let given = served.post(&format!("/v1/sessions/{session}/shares"), &serde_json::json!({}));
    let given: serde_json::Value = given.send().await.unwrap().json().await.unwrap();
    let guest = Served { token: given["token"].as_str().unwrap().to_owned(), ..served.again() };
    assert_eq!(guest.get("/metrics").send().await.unwrap().status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_gone_is_counted_no_more() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let mut events = served.follow(&session, "view=latest", "").await;
    assert!(events.next().await.is_some());
    let reader = [("transport", "sse"), ("view", "latest")];
    assert_eq!(value(&scrape(&served).await, "millpond_readers", &reader), Some(1.0));
    drop(events);
    let gone = async {
        while value(&scrape(&served).await, "millpond_readers", &reader) != Some(0.0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("still counted");
}
