//! The view's specification: every example and its three scenarios, as Kilo messages.

use super::print_client::KiloSource;

/// Says one message after a request that is over; the row it became.
#[track_caller]
fn row_after_line(line: &str) -> String {
    let mut kilo = KiloSource::after_a_request();
    let rows = kilo.push_line(line);
    assert!(rows.len() <= 2, "{rows:?}");
    rows.get(1).cloned().unwrap_or_default()
}

#[test]
fn transcript_t1_a_plain_message_is_complete_unless_it_is_partial() {
    assert_eq!(
        row_after_line(r#"{"id":"1","type":"user","content":"Hello","ts":123}"#),
        "=user Hello"
    );
    let whole = r#"{"id":"2","type":"user","content":"Hello","ts":123,"partial":false}"#;
    assert_eq!(row_after_line(whole), "=user Hello");
    let partial = r#"{"id":"3","type":"user","content":"Hel...","ts":123,"partial":true}"#;
    let mut kilo = KiloSource::after_a_request();
    assert_eq!(kilo.push_line(partial)[1..], ["~user Hel..."]);
    let rows = kilo.push_line(&partial.replace("Hel...", "Hello"));
    assert_eq!(rows[1..], ["~user Hello"]);
    assert_eq!(kilo.finish()[1..], ["=user Hello", "=error Cut off before its end"]);
}

#[test]
fn transcript_t2_a_partial_tool_blocks_what_comes_after_it_until_it_is_complete() {
    let tool = |partial: bool| {
        format!(
            r#"{{"ts":2,"type":"say","say":"tool","text":"{{\"tool\":\"readFile\"}}","partial":{partial}}}"#
        )
    };
    let mut kilo = KiloSource::after_a_request();
    kilo.push_line(&tool(true));
    let rows = kilo.push_line(&text_line(3, "b", None));
    assert_eq!(rows[1..], ["~tool", "+text b"]);
    assert_eq!(kilo.push_line(&tool(false))[1..], ["=tool", "=text b"]);
}

#[test]
fn transcript_t1_a_say_message_is_complete_unless_it_is_partial() {
    assert_eq!(
        row_after_line(r#"{"ts":123,"type":"say","say":"text","text":"Hello"}"#),
        "=text Hello"
    );
    let error = r#"{"ts":123,"type":"say","say":"error","text":"Error","partial":false}"#;
    assert_eq!(row_after_line(error), "=error Error");
    let partial = r#"{"ts":123,"type":"say","say":"text","text":"Hel...","partial":true}"#;
    assert_eq!(row_after_line(partial), "~text Hel...");
}

#[track_caller]
fn request_line(text: &str, partial: bool) -> String {
    let text = serde_json::to_string(text).unwrap();
    row_after_line(&format!(
        r#"{{"ts":123,"type":"say","say":"api_req_started","text":{text},"partial":{partial}}}"#
    ))
}

#[test]
fn transcript_t1_a_request_is_complete_with_a_cost_a_failure_or_a_cancel_reason() {
    assert_eq!(request_line(r#"{"cost": 0.001}"#, false), r#"=api_req_started {"cost":0.001}"#);
    assert_eq!(request_line(r#"{"cost": 0}"#, false), r#"=api_req_started {"cost":0.0}"#);
    let failed = r#"{"streamingFailedMessage":"Error"}"#;
    assert_eq!(request_line(failed, false), format!("=api_req_started {failed}"));
    let cancelled = r#"{"cancelReason":"user_cancelled"}"#;
    assert_eq!(request_line(cancelled, false), format!("=api_req_started {cancelled}"));
    assert_eq!(request_line("{}", false), "~api_req_started {}");
}

#[test]
fn transcript_t1_partial_beats_everything_else() {
    assert_eq!(request_line(r#"{"cost":1}"#, true), "~api_req_started {}");
    let ask = r#"{"ts":3,"type":"ask","ask":"tool","text":"{}","isAnswered":true,"partial":true}"#;
    assert!(!row_after_line(ask).starts_with('='));
}

#[test]
fn transcript_t1_an_unreadable_request_is_an_error_and_blocks_nothing() {
    let mut kilo = KiloSource::after_a_request();
    kilo.push_line(r#"{"ts":2,"type":"say","say":"api_req_started","text":"{not json"}"#);
    let rows = kilo.push_line(r#"{"ts":3,"type":"say","say":"text","text":"On"}"#);
    assert_eq!(rows[1..], ["=error unreadable model request: {not json", "=text On"]);
    // One that was listed before it became unreadable is over as well.
    let mut kilo = KiloSource::after_a_request();
    kilo.push_line(r#"{"ts":2,"type":"say","say":"api_req_started","text":"{}"}"#);
    let rows = kilo.push_line(r#"{"ts":2,"type":"say","say":"api_req_started","text":"{not"}"#);
    assert!(rows[1].starts_with("=api_req_started") && rows[1].contains("unreadable"));
}

#[test]
fn transcript_t1_asks_that_show_nothing_take_no_place_and_block_nothing() {
    for ask in ["completion_result", "command_output"] {
        let mut kilo = KiloSource::after_a_request();
        let line = format!(r#"{{"ts":123,"type":"ask","ask":"{ask}","text":""}}"#);
        assert_eq!(kilo.push_line(&line).len(), 1);
        let rows = kilo.push_line(r#"{"ts":124,"type":"say","say":"text","text":"On"}"#);
        assert_eq!(rows[1..], ["=text On"]);
    }
}

#[test]
fn transcript_t1_an_interactive_ask_is_complete_when_answered() {
    let read = r#""text":"{\"tool\":\"readFile\"}""#;
    let mut kilo = KiloSource::after_a_request();
    let rows = kilo.push_line(&format!(r#"{{"ts":123,"type":"ask","ask":"tool",{read}}}"#));
    assert_eq!(rows[1..], [r#"~ask:tool {"tool":"readFile"}"#]);
    let ask = format!(r#"{{"ts":123,"type":"ask","ask":"tool",{read},"isAnswered":true}}"#);
    let rows = kilo.push_line(&ask);
    assert_eq!(rows[1], r#"=ask:tool {"tool":"readFile"}"#);
    assert_eq!(kilo.client.last_message()["isAnswered"], true);
    let question = |answered: bool| {
        row_after_line(&format!(
            r#"{{"ts":123,"type":"ask","ask":"followup","text":"Question?","isAnswered":{answered}}}"#
        ))
    };
    assert_eq!(question(false), "~ask:followup Question?");
    assert_eq!(question(true), "=ask:followup Question?");
}

#[test]
fn transcript_t1_every_interactive_ask_waits() {
    for ask in ["command", "use_mcp_server", "browser_action_launch", "resume_task"] {
        let mut kilo = KiloSource::after_a_request();
        let line = format!(r#"{{"ts":5,"type":"ask","ask":"{ask}","text":"x"}}"#);
        let rows = kilo.push_line(&line);
        let name = if ask == "resume_task" { "other" } else { ask };
        assert_eq!(rows[1..], [format!("~ask:{name} x")]);
    }
}

/// A text message; `partial` is the source's mark, if it sets one.
fn text_line(ts: u32, text: &str, partial: Option<bool>) -> String {
    let mark = partial.map(|partial| format!(r#","partial":{partial}"#)).unwrap_or_default();
    format!(r#"{{"ts":{ts},"type":"say","say":"text","text":"{text}"{mark}}}"#)
}

#[test]
fn transcript_t2_example_1_complete_messages_settle_one_after_another() {
    let mut kilo = KiloSource::after_a_request();
    for (ts, text) in [(2, "a"), (3, "b"), (4, "c")] {
        kilo.push_line(&text_line(ts, text, None));
        assert_eq!(kilo.client.settled_count(), ts);
    }
    let rows = kilo.push_line(&text_line(5, "d", Some(false)));
    assert_eq!(rows[1..], ["=text a", "=text b", "=text c", "=text d"]);
}

#[test]
fn transcript_t2_example_2_what_follows_an_incomplete_message_waits_for_it() {
    let mut kilo = KiloSource::after_a_request();
    kilo.push_line(&text_line(2, "a", None));
    kilo.push_line(&text_line(3, "b", Some(true)));
    kilo.push_line(&text_line(4, "c", None));
    let rows = kilo.push_line(&text_line(5, "d", None));
    assert_eq!(rows[1..], ["=text a", "~text b", "+text c", "+text d"]);
    let rows = kilo.push_line(&text_line(3, "b!", None));
    assert_eq!(rows[1..], ["=text a", "=text b!", "=text c", "=text d"]);
}

#[test]
fn transcript_t4_checkpoints_with_the_same_hash_appear_once() {
    let mut kilo = KiloSource::after_a_request();
    kilo.push_line(r#"{"ts":2,"type":"say","say":"checkpoint_saved","text":"abc123"}"#);
    kilo.push_line(r#"{"ts":3,"type":"say","say":"text","text":"Some text"}"#);
    kilo.push_line(r#"{"ts":4,"type":"say","say":"checkpoint_saved","text":"abc123"}"#);
    let rows = kilo.push_line(r#"{"ts":5,"type":"say","say":"checkpoint_saved","text":"def456"}"#);
    let shown = ["=checkpoint_saved abc123", "=text Some text", "=checkpoint_saved def456"];
    assert_eq!(rows[1..], shown);
}

#[test]
fn transcript_t5_complete_never_goes_back_and_an_older_update_changes_nothing() {
    let mut kilo = KiloSource::after_a_request();
    let say = |text: &str, partial: bool| {
        format!(r#"{{"ts":2,"type":"say","say":"text","text":"{text}","partial":{partial}}}"#)
    };
    kilo.push_line(&say("On the wall", true));
    assert_eq!(kilo.push_line(&say("On the", true))[1..], ["~text On the wall"]);
    assert_eq!(kilo.push_line(&say("On the wall.", false))[1..], ["=text On the wall."]);
    assert_eq!(kilo.push_line(&say("On the wa", true))[1..], ["=text On the wall."]);
    let again = r#"{"ts":1,"type":"say","say":"api_req_started","text":"{}"}"#;
    assert_eq!(kilo.push_line(again), [r#"=api_req_started {"cost":1.0}"#, "=text On the wall."]);
}

const USER: &str = r#"{"id":"u","type":"user","content":"Go","ts":1}"#;
const REQUEST: &str = r#"{"ts":2,"type":"say","say":"api_req_started","text":"{}"}"#;
const COST: &str = r#"{"ts":2,"type":"say","say":"api_req_started","text":"{\"cost\":0.5}"}"#;

#[test]
fn transcript_t6_scenario_1_normal_flow() {
    let mut kilo = KiloSource::new();
    assert_eq!(kilo.push_line(USER), ["=user Go"]);
    assert_eq!(kilo.push_line(REQUEST), ["=user Go", "~api_req_started {}"]);
    let rows = kilo.push_line(r#"{"ts":3,"type":"say","say":"text","text":"Go","partial":true}"#);
    assert_eq!(rows, ["=user Go", "~api_req_started {}", "~text Go"]);
    let rows =
        kilo.push_line(r#"{"ts":3,"type":"say","say":"text","text":"Gone","partial":false}"#);
    assert_eq!(rows, ["=user Go", "~api_req_started {}", "+text Gone"]);
    let rows = kilo.push_line(COST);
    assert_eq!(rows, ["=user Go", r#"=api_req_started {"cost":0.5}"#, "=text Gone"]);
    let rows = kilo.push_line(r#"{"ts":4,"type":"say","say":"completion_result","text":"Done"}"#);
    assert_eq!(rows[3..], ["=completion_result Done"]);
    let rows = kilo.finish();
    assert!(rows.len() == 4 && rows.iter().all(|row| row.starts_with('=')), "{rows:?}");
}

#[test]
fn transcript_t6_scenario_2_tool_approval() {
    let ask = r#"{"ts":3,"type":"ask","ask":"tool","text":"{\"tool\":\"readFile\"}"}"#;
    let asked = r#"ask:tool {"tool":"readFile"}"#;
    let mut kilo = KiloSource::new();
    kilo.push_line(USER);
    kilo.push_line(REQUEST);
    let rows = kilo.push_line(ask);
    assert_eq!(rows[1..], ["~api_req_started {}".into(), format!("~{asked}")]);
    let rows = kilo.push_line(&ask.replace("\"}\"}", "\"}\",\"isAnswered\":true}"));
    assert_eq!(rows[1..], ["~api_req_started {}".into(), format!("+{asked}")]);
    let rows = kilo.push_line(r#"{"ts":4,"type":"say","say":"tool","text":"here be dragons"}"#);
    assert_eq!(rows[2..], [format!("+{asked}"), "+tool here be dragons".into()]);
    assert_eq!(kilo.client.settled_count(), 1);
    kilo.push_line(COST);
    assert_eq!(kilo.client.settled_count(), 4);
}

#[test]
fn transcript_t6_scenario_3_a_followup_question() {
    let ask = r#"{"ts":3,"type":"ask","ask":"followup","text":"Left?","isAnswered":false}"#;
    let mut kilo = KiloSource::new();
    kilo.push_line(USER);
    kilo.push_line(REQUEST);
    assert_eq!(kilo.push_line(ask)[1..], ["~api_req_started {}", "~ask:followup Left?"]);
    assert_eq!(kilo.push_line(&ask.replace("false", "true"))[2..], ["+ask:followup Left?"]);
    let rows = kilo.push_line(r#"{"ts":4,"type":"say","say":"user_feedback","text":"Left"}"#);
    assert_eq!(rows[2..], ["+ask:followup Left?", "+user_feedback Left"]);
    let rows = kilo.push_line(COST);
    assert_eq!(rows[2..], ["=ask:followup Left?", "=user_feedback Left"]);
}
