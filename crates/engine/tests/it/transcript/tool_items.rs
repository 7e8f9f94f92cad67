//! Items of tools: arguments, output, endings and sub-agents.

use millpond_engine::event::{Event, ImageOwner, StepId, ToolKind, ToolOutcome};
use serde_json::json;

use super::print_client::{
    PrintClient, arguments_appended, image_received, output_appended, tool_ended, tool_ready,
    tool_started, tool_started_under,
};

#[test]
fn transcript_t11_tools_by_their_kind_with_arguments_and_result() {
    for (kind, name) in [
        (ToolKind::Function, "tool"),
        (ToolKind::Edit, "tool"),
        (ToolKind::WebSearch, "tool"),
        (ToolKind::Agent, "tool"),
        (ToolKind::Command, "command_output"),
        (ToolKind::Mcp, "mcp_server_response"),
    ] {
        let mut screen = PrintClient::started();
        screen.push_events([
            tool_started(0, kind),
            arguments_appended(0, "{\"a\":"),
            arguments_appended(0, "1}"),
        ]);
        assert_eq!(screen.last_message().get("arguments"), None);
        screen.push_events([tool_ready(0)]);
        let message = screen.last_message();
        assert_eq!((&message["tool"], &message["callId"]), (&json!("tool-0"), &json!("call-0")));
        assert_eq!(
            (&message["arguments"], &message["partial"]),
            (&json!("{\"a\":1}"), &json!(true))
        );
        screen.push_events([output_appended(0, "out"), tool_ended(0, ToolOutcome::Succeeded)]);
        assert_eq!(screen.rows(), [format!("={name} out")]);
        assert_eq!(screen.last_message()["arguments"], "{\"a\":1}");
    }
}

#[test]
fn transcript_t11_how_a_tool_ended_shows() {
    for (outcome, state) in [
        (ToolOutcome::Succeeded, "done"),
        (ToolOutcome::Failed, "failed"),
        (ToolOutcome::Denied, "denied"),
        (ToolOutcome::NoResult, "called"),
        (ToolOutcome::Cut, "incomplete"),
    ] {
        let mut screen = PrintClient::started();
        let detail = Some("so it goes".into());
        screen.push_events([
            tool_started(0, ToolKind::Function),
            arguments_appended(0, "{}"),
            output_appended(0, "out"),
        ]);
        screen.push_events([Event::ToolEnded { step: StepId(0), outcome, detail }]);
        assert_eq!(screen.rows(), ["=tool out\nso it goes"]);
        assert_eq!(
            (&screen.last_message()["state"], &screen.last_message()["arguments"]),
            (&json!(state), &json!("{}"))
        );
    }
}

#[test]
fn transcript_t11_arguments_that_come_after_output_are_not_lost() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Function),
        output_appended(0, "one\n"),
        arguments_appended(0, "{}"),
    ]);
    screen.push_events([
        image_received(ImageOwner::Step(StepId(0))),
        tool_ready(0),
        output_appended(0, "two"),
    ]);
    assert_eq!(screen.last_message()["arguments"], "{}");
    assert_eq!(screen.last_message()["images"][0]["ref"], "http://a.test/p.png");
    assert_eq!(screen.rows(), ["~tool one\ntwo"]);
    // Sent anew after they were said to be whole.
    let anew = Event::ArgumentsReplaced { step: StepId(1), text: "[]".into() };
    screen.push_events([
        tool_started(1, ToolKind::Function),
        arguments_appended(1, "{}"),
        tool_ready(1),
        anew,
    ]);
    screen.push_events([output_appended(1, "three\n"), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.last_message()["arguments"], "[]");
}

#[test]
fn transcript_t11_an_action_and_its_result_are_two_items() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Action),
        arguments_appended(0, "{\"x\":1}"),
        tool_ready(0),
    ]);
    assert_eq!(screen.rows(), ["~browser_action"]);
    screen
        .push_events([image_received(ImageOwner::Step(StepId(0))), output_appended(0, "clicked")]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=browser_action", "=browser_action_result clicked"]);
    assert_eq!(screen.messages[0]["arguments"], "{\"x\":1}");
    assert_eq!(screen.messages[1]["images"][0]["ref"], "http://a.test/p.png");
    // One of which nothing came has no second item.
    screen.push_events([tool_started(1, ToolKind::Action), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows().len(), 3);
}

#[test]
fn transcript_x18_a_sub_agents_tools_stand_in_the_item_of_their_tool() {
    let mut screen = PrintClient::started();
    screen.push_events([
        tool_started(0, ToolKind::Agent),
        tool_ready(0),
        output_appended(0, "Looking"),
    ]);
    screen.push_events([
        tool_started_under(1, ToolKind::Command, Some(0)),
        tool_started_under(2, ToolKind::Edit, Some(1)),
    ]);
    screen.push_events([
        output_appended(1, "a\n"),
        output_appended(2, "b"),
        tool_ended(2, ToolOutcome::Succeeded),
    ]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=tool Looking\n* tool-1\na\n* tool-2\nb"]);
    // What comes when the tool around it is over stands for itself.
    screen.push_events([output_appended(1, "late"), tool_ended(1, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows()[1..], ["=command_output late"]);
}

#[test]
fn transcript_x18_what_a_sub_agent_calls_shows_with_its_arguments() {
    let mut screen = PrintClient::started();
    screen.push_events([tool_started(0, ToolKind::Agent), tool_ready(0)]);
    screen.push_events([
        tool_started_under(1, ToolKind::Command, Some(0)),
        arguments_appended(1, "{\"a\""),
        arguments_appended(1, ":1}"),
    ]);
    assert_eq!(screen.rows(), ["~tool"]);
    screen.push_events([tool_ready(1)]);
    assert_eq!(screen.rows(), ["~tool * tool-1 {\"a\":1}"]);
    // Told once, and also of a call that was cut or gave nothing.
    screen.push_events([
        tool_ended(1, ToolOutcome::Succeeded),
        tool_started_under(2, ToolKind::Edit, Some(0)),
    ]);
    screen.push_events([arguments_appended(2, "{"), tool_ended(2, ToolOutcome::Cut)]);
    screen.push_events([tool_ended(0, ToolOutcome::Succeeded)]);
    assert_eq!(screen.rows(), ["=tool * tool-1 {\"a\":1}\n* tool-2 {"]);
}

#[test]
fn transcript_x14_what_is_left_out_of_an_output_is_said_whether_its_tool_ends_or_not() {
    let output = "x".repeat(millpond_engine::limits::OUTPUT_BYTES_SHOWN_MAX + 5);
    for ends in [true, false] {
        let mut log = crate::log::Log::new();
        log.start_round().start_tool("t");
        if ends {
            log.succeed_tool(0, &output);
        } else {
            let step = StepId(0);
            log.push(Event::OutputAppended { step, text: output.clone().into() });
        }
        log.end_round().complete_run();
        let page =
            crate::views::final_page(millpond_engine::view::ViewName::Transcript, &log.records());
        let note = "\n[5 more bytes in the log]";
        let told = page.items.values().filter(|item| item.text.ends_with(note)).count();
        assert_eq!(told, 1, "ends: {ends}");
    }
}
