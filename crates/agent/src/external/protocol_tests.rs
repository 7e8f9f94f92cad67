//! Tests of the protocols: the messages sent to each agent, line by line.

use millpond_engine::event::Image;
use serde_json::{Map, Value, json};

use super::acp::Acp;
use super::agent_kind::{
    AgentKind, fill_template_and_drop_unset, find_safe_session_id_in_line, is_safe_session_id,
};
use super::claude::Claude;
use super::codex::Codex;
use super::opencode::Opencode;
use super::protocol::{Decision, OutgoingMessage, Protocol, TurnEnd, TurnInput};

fn turn_input(session: Option<&str>) -> TurnInput {
    TurnInput {
        prompt: "look".to_owned(),
        images: Vec::new(),
        folder: "/pond".to_owned(),
        agent_session: session.map(str::to_owned),
        model: None,
        session_params: Map::new(),
    }
}

/// Method and parameters of each message.
fn parse_requests(messages: &[OutgoingMessage]) -> Vec<(String, Value)> {
    let parse_request = |message: &OutgoingMessage| match message {
        OutgoingMessage::Line(line) => {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["method"].as_str().unwrap_or("").to_owned(), line["params"].clone())
        }
        OutgoingMessage::Post { path, body } => (path.clone(), serde_json::from_str(body).unwrap()),
    };
    messages.iter().map(parse_request).collect()
}

fn parse_answer_line(message: Option<OutgoingMessage>) -> Value {
    match message {
        Some(OutgoingMessage::Line(line)) => serde_json::from_str(&line).unwrap(),
        other => panic!("a line, not {other:?}"),
    }
}

#[test]
fn acp_loads_a_conversation_without_telling_it_again() {
    let mut acp = Protocol::Acp(Acp::new(turn_input(Some("s-1")), None));
    assert_eq!(parse_requests(&acp.opening_messages())[0].0, "initialize");
    let capabilities = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}});
    let outcome = acp.handle_line(&capabilities.to_string());
    assert!(!outcome.is_for_log);
    let (method, params) = parse_requests(&outcome.replies).remove(0);
    assert_eq!((method.as_str(), &params["sessionId"]), ("session/load", &json!("s-1")));
    let old = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}}});
    assert!(!acp.handle_line(&old.to_string()).is_for_log, "replayed lines are not logged again");
    let loaded = acp.handle_line(r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
    assert_eq!(parse_requests(&loaded.replies)[0].0, "session/prompt");
    assert_eq!(acp.agent_session_id(), Some("s-1"));
    assert!(acp.handle_line(&old.to_string()).is_for_log);
    assert!(
        acp.handle_line(r#"{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}"#).turn_end
            == TurnEnd::Over
    );
}

#[test]
fn acp_signs_in_and_begins_anew_where_a_conversation_is_lost() {
    let mut acp = Protocol::Acp(Acp::new(turn_input(Some("s-1")), Some("key".to_owned())));
    acp.opening_messages();
    let capabilities =
        json!({"id": 1, "result": {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}});
    let (method, params) =
        parse_requests(&acp.handle_line(&capabilities.to_string()).replies).remove(0);
    assert_eq!((method.as_str(), &params["methodId"]), ("authenticate", &json!("key")));
    let (method, _) = parse_requests(&acp.handle_line(r#"{"id":2,"result":{}}"#).replies).remove(0);
    assert_eq!(method, "session/resume");
    let error = json!({"code": -32603, "message": "Internal error", "data": {"details": "No previous sessions found for this project."}});
    let lost_session = acp.handle_line(&json!({"id": 3, "error": error}).to_string());
    assert!(lost_session.is_session_lost && !lost_session.is_for_log);
    assert_eq!(parse_requests(&lost_session.replies)[0].0, "session/new");
    acp.handle_line(r#"{"id":4,"result":{"sessionId":"s-2"}}"#);
    assert_eq!(acp.agent_session_id(), Some("s-2"));
}

#[test]
fn what_may_pass_costs_no_conversation() {
    let mut acp = Protocol::Acp(Acp::new(turn_input(Some("s-1")), None));
    acp.opening_messages();
    acp.handle_line(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#);
    let failed = acp.handle_line(r#"{"id":3,"error":{"code":-32000,"message":"sign in again"}}"#);
    assert!(!failed.is_session_lost && failed.is_for_log && failed.turn_end == TurnEnd::Over);
}

#[test]
fn acp_answers_only_with_what_was_offered() {
    let mut acp = Protocol::Acp(Acp::new(turn_input(None), None));
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
        (9, Decision::Answer("ever"), "ever"),
    ] {
        assert!(acp.handle_line(&ask(id)).is_for_log);
        assert_eq!(
            acp.try_build_answer_and_close_ask(&id.to_string(), Decision::Answer("yes")),
            None
        );
        let response =
            parse_answer_line(acp.try_build_answer_and_close_ask(&id.to_string(), decision));
        assert_eq!(response["id"], id, "the request's id, with its JSON type");
        assert_eq!(response["result"]["outcome"]["optionId"], chosen);
        assert_eq!(acp.try_build_answer_and_close_ask(&id.to_string(), decision), None, "once");
    }
    let refused = acp.handle_line(r#"{"id":3,"method":"terminal/create","params":{}}"#);
    assert!(
        matches!(&refused.replies[..], [OutgoingMessage::Line(line)] if line.contains("-32601"))
    );
}

#[test]
fn codex_begins_a_thread_anew_where_it_is_lost() {
    let mut turn = turn_input(Some("t-1"));
    turn.session_params.insert("approvalPolicy".to_owned(), "untrusted".into());
    let mut codex = Protocol::Codex(Codex::new(turn));
    codex.opening_messages();
    let requests = parse_requests(&codex.handle_line(r#"{"id":1,"result":{}}"#).replies);
    assert_eq!((requests[0].0.as_str(), requests[1].0.as_str()), ("initialized", "thread/resume"));
    assert_eq!(requests[1].1["approvalPolicy"], "untrusted");
    let lost =
        codex.handle_line(r#"{"id":2,"error":{"code":-32600,"message":"no rollout found"}}"#);
    assert!(lost.is_session_lost);
    let (method, params) = parse_requests(&lost.replies).remove(0);
    assert_eq!((method.as_str(), params.get("threadId")), ("thread/start", None));
    let started = codex.handle_line(r#"{"id":2,"result":{"thread":{"id":"t-2"}}}"#);
    assert_eq!(parse_requests(&started.replies)[0].1["threadId"], "t-2");
    codex.handle_line(r#"{"id":3,"result":{"turn":{"id":"u-1"}}}"#);
    let stop = codex.interrupt_message().unwrap();
    assert_eq!(parse_requests(&[stop])[0].1, json!({"threadId": "t-2", "turnId": "u-1"}));
    let failed = codex.handle_line(r#"{"id":3,"error":{"code":-32600,"message":"no"}}"#);
    assert!(failed.turn_end == TurnEnd::Over && failed.is_for_log);
}

#[test]
fn codex_gives_no_more_than_was_asked_for() {
    let mut codex = Protocol::Codex(Codex::new(turn_input(None)));
    let ask = |id: Value, method: &str, params: Value| {
        json!({"id": id, "method": method, "params": params}).to_string()
    };
    let offered = json!(["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}, "cancel"]);
    let command = "item/commandExecution/requestApproval";
    let decide = |codex: &mut Protocol, decision| {
        codex.handle_line(&ask(0.into(), command, json!({"availableDecisions": offered})));
        codex
            .try_build_answer_and_close_ask("0", decision)
            .map(|message| parse_answer_line(Some(message))["result"]["decision"].clone())
    };
    assert_eq!(decide(&mut codex, Decision::Allow), Some(json!("accept")));
    assert_eq!(decide(&mut codex, Decision::Deny), Some(json!("cancel")));
    assert_eq!(decide(&mut codex, Decision::Answer("acceptForSession")), None);
    let amended = decide(&mut codex, Decision::Answer("acceptWithExecpolicyAmendment"));
    assert_eq!(amended, Some(offered[1].clone()));
    let requested = json!({"network": {"enabled": true}});
    let permissions = "item/permissions/requestApproval";
    codex.handle_line(&ask("p".into(), permissions, json!({"permissions": requested})));
    let granted =
        parse_answer_line(codex.try_build_answer_and_close_ask("p", Decision::Answer("accept")));
    assert_eq!(granted["result"], json!({"permissions": requested, "scope": "turn"}));
    codex.handle_line(&ask("p".into(), permissions, json!({"permissions": requested})));
    let granted = parse_answer_line(codex.try_build_answer_and_close_ask("p", Decision::Deny));
    assert_eq!(granted["result"]["permissions"], json!({}));
}

#[test]
fn opencode_is_followed_in_its_own_session() {
    let mut opencode = Protocol::Opencode(Opencode::new(turn_input(None)));
    assert_eq!(parse_requests(&opencode.opening_messages())[0].0, "/session");
    let created = r#"data: {"type":"session.created","properties":{"info":{"id":"s-1"}}}"#;
    let requests = parse_requests(&opencode.handle_line(created).replies);
    assert_eq!(requests[0].0, "/session/s-1/prompt_async");
    let idle = |session: &str| {
        format!(r#"data: {{"type":"session.idle","properties":{{"sessionID":"{session}"}}}}"#)
    };
    assert!(opencode.handle_line(&idle("child")).turn_end == TurnEnd::NotYet);
    opencode.handle_line(r#"data: {"type":"permission.asked","properties":{"id":"p1"}}"#);
    assert_eq!(opencode.try_build_answer_and_close_ask("p1", Decision::Answer("allow")), None);
    let message = opencode.try_build_answer_and_close_ask("p1", Decision::Answer("once")).unwrap();
    assert_eq!(
        parse_requests(&[message])[0],
        ("/permission/p1/reply".to_owned(), json!({"reply": "once"}))
    );
    assert!(opencode.handle_line(&idle("s-1")).turn_end == TurnEnd::Over);
}

#[test]
fn a_prompt_is_never_an_option_and_never_a_template() {
    let mut turn = turn_input(Some("s-1"));
    turn.prompt = "--yolo {model}".to_owned();
    for kind in AgentKind::ALL {
        let has_prompt = kind.command_arguments(&turn).contains(&turn.prompt);
        let after_dashes =
            kind.command_arguments(&turn).ends_with(&["--".to_owned(), turn.prompt.clone()]);
        assert_eq!(has_prompt, after_dashes, "{}", kind.profile_name());
    }
    let template = ["x", "--session={session}", "--model={model}", "{prompt}"].map(str::to_owned);
    assert_eq!(
        fill_template_and_drop_unset(&template, &turn),
        ["x", "--session=s-1", "--yolo {model}"]
    );
}

#[test]
fn only_plain_names_of_conversations_are_taken() {
    assert_eq!(
        find_safe_session_id_in_line(r#"{"type":"init","session_id":"a-1"}"#).as_deref(),
        Some("a-1")
    );
    assert_eq!(
        find_safe_session_id_in_line(r#"{"type":"x","sessionID":"ses_1"}"#).as_deref(),
        Some("ses_1")
    );
    for name in ["-rf", "a b", "", "a\nb", "$(x)"] {
        assert!(!is_safe_session_id(name), "{name}");
    }
}

fn turn_with_image() -> TurnInput {
    let image = Image::Inline { media_type: "image/png".into(), base64: "QUJD".into() };
    TurnInput { images: vec![image], ..turn_input(None) }
}

#[test]
fn what_is_shown_is_shown_to_agents_that_can_see() {
    let text = json!({"type": "text", "text": "look"});
    let mut claude = Protocol::Claude(Claude::new(turn_with_image()));
    let request = parse_answer_line(claude.opening_messages().pop());
    let response =
        json!({"type": "control_response", "response": {"request_id": request["request_id"]}});
    let message = parse_answer_line(claude.handle_line(&response.to_string()).replies.pop());
    let source = json!({"type": "base64", "media_type": "image/png", "data": "QUJD"});
    assert_eq!(message["message"]["content"], json!([text, {"type": "image", "source": source}]));

    let mut codex = Protocol::Codex(Codex::new(turn_with_image()));
    codex.opening_messages();
    codex.handle_line(r#"{"id":1,"result":{}}"#);
    let replies = codex.handle_line(r#"{"id":2,"result":{"thread":{"id":"t"}}}"#).replies;
    let (_, params) = parse_requests(&replies).remove(0);
    let url = "data:image/png;base64,QUJD";
    assert_eq!(params["input"], json!([text, {"type": "image", "url": url}]));

    let mut opencode = Protocol::Opencode(Opencode::new(turn_with_image()));
    opencode.opening_messages();
    let created = r#"data: {"type":"session.created","properties":{"info":{"id":"s"}}}"#;
    let (_, body) = parse_requests(&opencode.handle_line(created).replies).remove(0);
    assert_eq!((&body["parts"][0], &body["parts"][1]["url"]), (&text, &json!(url)));
}

#[test]
fn acp_shows_pictures_only_to_agents_that_take_them() {
    for accepts_images in [true, false] {
        let mut acp = Protocol::Acp(Acp::new(turn_with_image(), None));
        acp.opening_messages();
        let capabilities = json!({"promptCapabilities": {"image": accepts_images}});
        let response =
            json!({"jsonrpc": "2.0", "id": 1, "result": {"agentCapabilities": capabilities}});
        acp.handle_line(&response.to_string());
        let opened = json!({"jsonrpc": "2.0", "id": 4, "result": {"sessionId": "s"}});
        let outcome = acp.handle_line(&opened.to_string());
        assert_eq!(outcome.cannot_show_images, !accepts_images);
        let (_, params) = parse_requests(&outcome.replies).remove(0);
        let prompt = params["prompt"].as_array().unwrap();
        if accepts_images {
            assert_eq!(
                prompt[1],
                json!({"type": "image", "mimeType": "image/png", "data": "QUJD"})
            );
        } else {
            assert!(prompt[0]["text"].as_str().unwrap().starts_with("look\n\n(An image"));
            assert_eq!(prompt.len(), 1);
        }
    }
}
