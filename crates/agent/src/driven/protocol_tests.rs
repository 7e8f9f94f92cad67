//! What is said to each agent, line by line.

use engine::event::Image;
use serde_json::{Map, Value, json};

use super::acp::Acp;
use super::claude::Claude;
use super::codex::Codex;
use super::kind::{Kind, filled, is_plain, session_in};
use super::opencode::Opencode;
use super::protocol::{Decision, End, Protocol, Said, Turn};

fn turn(session: Option<&str>) -> Turn {
    Turn {
        prompt: "look".to_owned(),
        images: Vec::new(),
        folder: "/pond".to_owned(),
        session: session.map(str::to_owned),
        model: None,
        request: Map::new(),
    }
}

/// The method of what is said, and its parameters.
fn asked(said: &[Said]) -> Vec<(String, Value)> {
    let read = |said: &Said| match said {
        Said::Line(line) => {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["method"].as_str().unwrap_or("").to_owned(), line["params"].clone())
        }
        Said::Post { path, body } => (path.clone(), serde_json::from_str(body).unwrap()),
    };
    said.iter().map(read).collect()
}

fn answer(said: Option<Said>) -> Value {
    match said {
        Some(Said::Line(line)) => serde_json::from_str(&line).unwrap(),
        other => panic!("a line, not {other:?}"),
    }
}

#[test]
fn acp_loads_a_conversation_without_telling_it_again() {
    let mut acp = Protocol::Acp(Acp::new(turn(Some("s-1")), None));
    assert_eq!(asked(&acp.begin())[0].0, "initialize");
    let can = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}});
    let reaction = acp.hear(&can.to_string());
    assert!(!reaction.is_news);
    let (method, params) = asked(&reaction.say).remove(0);
    assert_eq!((method.as_str(), &params["sessionId"]), ("session/load", &json!("s-1")));
    let old = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}}});
    assert!(!acp.hear(&old.to_string()).is_news, "it is in the log already");
    let loaded = acp.hear(r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
    assert_eq!(asked(&loaded.say)[0].0, "session/prompt");
    assert_eq!(acp.session(), Some("s-1"));
    assert!(acp.hear(&old.to_string()).is_news);
    assert!(
        acp.hear(r#"{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}"#).end == End::Over
    );
}

#[test]
fn acp_signs_in_and_begins_anew_where_a_conversation_is_lost() {
    let mut acp = Protocol::Acp(Acp::new(turn(Some("s-1")), Some("key".to_owned())));
    acp.begin();
    let can =
        json!({"id": 1, "result": {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}});
    let (method, params) = asked(&acp.hear(&can.to_string()).say).remove(0);
    assert_eq!((method.as_str(), &params["methodId"]), ("authenticate", &json!("key")));
    let (method, _) = asked(&acp.hear(r#"{"id":2,"result":{}}"#).say).remove(0);
    assert_eq!(method, "session/resume");
    let error = json!({"code": -32603, "message": "Internal error", "data": {"details": "No previous sessions found for this project."}});
    let lost = acp.hear(&json!({"id": 3, "error": error}).to_string());
    assert!(lost.is_lost && !lost.is_news);
    assert_eq!(asked(&lost.say)[0].0, "session/new");
    acp.hear(r#"{"id":4,"result":{"sessionId":"s-2"}}"#);
    assert_eq!(acp.session(), Some("s-2"));
}

#[test]
fn what_may_pass_costs_no_conversation() {
    let mut acp = Protocol::Acp(Acp::new(turn(Some("s-1")), None));
    acp.begin();
    acp.hear(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#);
    let failed = acp.hear(r#"{"id":3,"error":{"code":-32000,"message":"sign in again"}}"#);
    assert!(!failed.is_lost && failed.is_news && failed.end == End::Over);
}

#[test]
fn acp_answers_only_with_what_was_offered() {
    let mut acp = Protocol::Acp(Acp::new(turn(None), None));
    let ask = |id: u32| {
        let options = json!([
            {"optionId": "ever", "name": "Always", "kind": "allow_always"},
            {"optionId": "once", "name": "Once", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options});
        json!({"id": id, "method": "session/request_permission", "params": params}).to_string()
    };
    for (id, decision, chosen) in [
        (7, Decision::Allow, "once"),
        (8, Decision::Deny, "no"),
        (9, Decision::Said("ever"), "ever"),
    ] {
        assert!(acp.hear(&ask(id)).is_news);
        assert_eq!(acp.answer(&id.to_string(), Decision::Said("yes")), None);
        let said = answer(acp.answer(&id.to_string(), decision));
        assert_eq!(said["id"], id, "its own id, as it wrote it");
        assert_eq!(said["result"]["outcome"]["optionId"], chosen);
        assert_eq!(acp.answer(&id.to_string(), decision), None, "once");
    }
    let refused = acp.hear(r#"{"id":3,"method":"terminal/create","params":{}}"#);
    assert!(matches!(&refused.say[..], [Said::Line(line)] if line.contains("-32601")));
}

#[test]
fn codex_begins_a_thread_anew_where_it_is_lost() {
    let mut with = turn(Some("t-1"));
    with.request.insert("approvalPolicy".to_owned(), "untrusted".into());
    let mut codex = Protocol::Codex(Codex::new(with));
    codex.begin();
    let said = asked(&codex.hear(r#"{"id":1,"result":{}}"#).say);
    assert_eq!((said[0].0.as_str(), said[1].0.as_str()), ("initialized", "thread/resume"));
    assert_eq!(said[1].1["approvalPolicy"], "untrusted");
    let lost = codex.hear(r#"{"id":2,"error":{"code":-32600,"message":"no rollout found"}}"#);
    assert!(lost.is_lost);
    let (method, params) = asked(&lost.say).remove(0);
    assert_eq!((method.as_str(), params.get("threadId")), ("thread/start", None));
    let started = codex.hear(r#"{"id":2,"result":{"thread":{"id":"t-2"}}}"#);
    assert_eq!(asked(&started.say)[0].1["threadId"], "t-2");
    codex.hear(r#"{"id":3,"result":{"turn":{"id":"u-1"}}}"#);
    let stop = codex.interrupt().unwrap();
    assert_eq!(asked(&[stop])[0].1, json!({"threadId": "t-2", "turnId": "u-1"}));
    let failed = codex.hear(r#"{"id":3,"error":{"code":-32600,"message":"no"}}"#);
    assert!(failed.end == End::Over && failed.is_news);
}

#[test]
fn codex_gives_no_more_than_was_asked_for() {
    let mut codex = Protocol::Codex(Codex::new(turn(None)));
    let ask = |id: Value, method: &str, params: Value| {
        json!({"id": id, "method": method, "params": params}).to_string()
    };
    let offered = json!(["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}, "cancel"]);
    let command = "item/commandExecution/requestApproval";
    let decide = |codex: &mut Protocol, decision| {
        codex.hear(&ask(0.into(), command, json!({"availableDecisions": offered})));
        codex.answer("0", decision).map(|said| answer(Some(said))["result"]["decision"].clone())
    };
    assert_eq!(decide(&mut codex, Decision::Allow), Some(json!("accept")));
    assert_eq!(decide(&mut codex, Decision::Deny), Some(json!("cancel")));
    assert_eq!(decide(&mut codex, Decision::Said("acceptForSession")), None);
    let amended = decide(&mut codex, Decision::Said("acceptWithExecpolicyAmendment"));
    assert_eq!(amended, Some(offered[1].clone()));
    let wanted = json!({"network": {"enabled": true}});
    let permissions = "item/permissions/requestApproval";
    codex.hear(&ask("p".into(), permissions, json!({"permissions": wanted})));
    let given = answer(codex.answer("p", Decision::Said("accept")));
    assert_eq!(given["result"], json!({"permissions": wanted, "scope": "turn"}));
    codex.hear(&ask("p".into(), permissions, json!({"permissions": wanted})));
    let given = answer(codex.answer("p", Decision::Deny));
    assert_eq!(given["result"]["permissions"], json!({}));
}

#[test]
fn opencode_is_followed_in_its_own_session() {
    let mut opencode = Protocol::Opencode(Opencode::new(turn(None)));
    assert_eq!(asked(&opencode.begin())[0].0, "/session");
    let created = r#"data: {"type":"session.created","properties":{"info":{"id":"s-1"}}}"#;
    let said = asked(&opencode.hear(created).say);
    assert_eq!(said[0].0, "/session/s-1/prompt_async");
    let idle = |of: &str| {
        format!(r#"data: {{"type":"session.idle","properties":{{"sessionID":"{of}"}}}}"#)
    };
    assert!(opencode.hear(&idle("child")).end == End::No);
    opencode.hear(r#"data: {"type":"permission.asked","properties":{"id":"p1"}}"#);
    assert_eq!(opencode.answer("p1", Decision::Said("allow")), None);
    let said = opencode.answer("p1", Decision::Said("once")).unwrap();
    assert_eq!(asked(&[said])[0], ("/permission/p1/reply".to_owned(), json!({"reply": "once"})));
    assert!(opencode.hear(&idle("s-1")).end == End::Over);
}

#[test]
fn a_prompt_is_never_an_option_and_never_a_template() {
    let mut with = turn(Some("s-1"));
    with.prompt = "--yolo {model}".to_owned();
    for kind in Kind::ALL {
        let stands = kind.arguments(&with).contains(&with.prompt);
        let after_dashes = kind.arguments(&with).ends_with(&["--".to_owned(), with.prompt.clone()]);
        assert_eq!(stands, after_dashes, "{}", kind.as_str());
    }
    let template = ["x", "--session={session}", "--model={model}", "{prompt}"].map(str::to_owned);
    assert_eq!(filled(&template, &with), ["x", "--session=s-1", "--yolo {model}"]);
}

#[test]
fn only_plain_names_of_conversations_are_taken() {
    assert_eq!(session_in(r#"{"type":"init","session_id":"a-1"}"#).as_deref(), Some("a-1"));
    assert_eq!(session_in(r#"{"type":"x","sessionID":"ses_1"}"#).as_deref(), Some("ses_1"));
    for bad in ["-rf", "a b", "", "a\nb", "$(x)"] {
        assert!(!is_plain(bad), "{bad}");
    }
}

fn shown() -> Turn {
    let image = Image::Inline { media_type: "image/png".into(), base64: "QUJD".into() };
    Turn { images: vec![image], ..turn(None) }
}

#[test]
fn what_is_shown_is_shown_to_agents_that_can_see() {
    let text = json!({"type": "text", "text": "look"});
    let mut claude = Protocol::Claude(Claude::new(shown()));
    let hello = answer(claude.begin().pop());
    let hello =
        json!({"type": "control_response", "response": {"request_id": hello["request_id"]}});
    let said = answer(claude.hear(&hello.to_string()).say.pop());
    let source = json!({"type": "base64", "media_type": "image/png", "data": "QUJD"});
    assert_eq!(said["message"]["content"], json!([text, {"type": "image", "source": source}]));

    let mut codex = Protocol::Codex(Codex::new(shown()));
    codex.begin();
    codex.hear(r#"{"id":1,"result":{}}"#);
    let said = codex.hear(r#"{"id":2,"result":{"thread":{"id":"t"}}}"#).say;
    let (_, params) = asked(&said).remove(0);
    let url = "data:image/png;base64,QUJD";
    assert_eq!(params["input"], json!([text, {"type": "image", "url": url}]));

    let mut opencode = Protocol::Opencode(Opencode::new(shown()));
    opencode.begin();
    let created = r#"data: {"type":"session.created","properties":{"info":{"id":"s"}}}"#;
    let (_, body) = asked(&opencode.hear(created).say).remove(0);
    assert_eq!((&body["parts"][0], &body["parts"][1]["url"]), (&text, &json!(url)));
}

#[test]
fn acp_shows_pictures_only_to_agents_that_take_them() {
    for sees in [true, false] {
        let mut acp = Protocol::Acp(Acp::new(shown(), None));
        acp.begin();
        let can = json!({"promptCapabilities": {"image": sees}});
        let can = json!({"jsonrpc": "2.0", "id": 1, "result": {"agentCapabilities": can}});
        acp.hear(&can.to_string());
        let opened = json!({"jsonrpc": "2.0", "id": 4, "result": {"sessionId": "s"}});
        let reaction = acp.hear(&opened.to_string());
        assert_eq!(reaction.is_blind, !sees);
        let (_, params) = asked(&reaction.say).remove(0);
        let prompt = params["prompt"].as_array().unwrap();
        if sees {
            assert_eq!(
                prompt[1],
                json!({"type": "image", "mimeType": "image/png", "data": "QUJD"})
            );
        } else {
            assert!(prompt[0]["text"].as_str().unwrap().starts_with("look\n\n(A picture"));
            assert_eq!(prompt.len(), 1);
        }
    }
}
