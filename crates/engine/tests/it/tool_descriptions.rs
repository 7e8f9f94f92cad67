//! What a tool call did, by the tools of the agents that we know.

mod calls;

use millpond_engine::event::{ToolKind, ToolOutcome};
use millpond_engine::limits;
use millpond_engine::tool::{
    LineChange, OpaqueStateFilter, TodoState, ToolCall, ToolDescription, ToolPurpose, ToolResult,
};
use proptest::prelude::*;

use calls::CALLS;

/// Describes a call that its client runs.
fn describe(name: &str, arguments: &str) -> ToolDescription {
    describe_kind(ToolKind::Function, name, arguments)
}

/// Describes a call of a tool of this kind.
fn describe_kind(kind: ToolKind, name: &str, arguments: &str) -> ToolDescription {
    ToolCall { name, kind, server: None, arguments }.describe()
}

/// Purpose as in the log.
fn purpose_name(purpose: ToolPurpose) -> String {
    serde_json::to_value(purpose).unwrap().as_str().unwrap().to_owned()
}

/// Lines of all changes, with their signs and numbers.
fn diff_lines(description: &ToolDescription) -> Vec<String> {
    let lines = description.diffs.iter().flat_map(|diff| &diff.lines);
    lines
        .map(|line| {
            let sign = match line.change {
                LineChange::Same => ' ',
                LineChange::Added => '+',
                LineChange::Removed => '-',
                LineChange::Gap => '@',
            };
            let number = line.number.map(|number| format!("{number}:")).unwrap_or_default();
            format!("{sign}{number}{}", line.text)
        })
        .collect()
}

#[test]
fn tools_of_all_agents_are_described() {
    for (name, arguments, purpose, line) in CALLS {
        let description = describe(name, arguments);
        let is = (purpose_name(description.purpose), description.summary_line());
        assert_eq!(is, ((*purpose).to_owned(), (*line).to_owned()), "{name} {arguments}");
    }
}

#[test]
fn a_tool_with_an_unknown_name_is_described_by_its_kind() {
    let line = |kind, name, arguments| describe_kind(kind, name, arguments).summary_line();
    assert_eq!(line(ToolKind::Command, "echo hello && ls", ""), "$ echo hello && ls");
    assert_eq!(line(ToolKind::Command, "hose --roses", r#"{"command":"spray"}"#), "$ spray");
    assert_eq!(line(ToolKind::WebSearch, "look", r#"{"queries":["a","b"]}"#), "Web search a, b");
    assert_eq!(
        line(ToolKind::CodeInterpreter, "run", r#"{"code":"print(2)"}"#),
        "Run code print(2)"
    );
    assert_eq!(line(ToolKind::Action, "computer", r#"{"action":"left_click"}"#), "left click");
    assert_eq!(
        line(ToolKind::Action, "browser_action", "http://maps.test"),
        "browser action http://maps.test"
    );
    let proposed = r#"[{"type":"diff","path":"hedge","oldText":"tall","newText":"low"}]"#;
    let cut = describe_kind(ToolKind::Edit, "Cut hedge", proposed);
    assert_eq!(diff_lines(&cut), ["-tall", "+low"]);
    assert_eq!(cut.diffs[0].path, "hedge");
    let gate = ToolCall {
        name: "open_gate",
        kind: ToolKind::Mcp,
        server: Some("mill-pond"),
        arguments: "{}",
    };
    assert_eq!(gate.describe().summary_line(), "mill pond: open gate");
}

#[test]
fn arguments_beyond_the_target_are_said_to_be_missing() {
    assert!(describe("get_weather", r#"{"city":"Oslo"}"#).covers_arguments);
    assert!(!describe("get_weather", r#"{"city":"Oslo","days":3}"#).covers_arguments);
    assert!(
        describe("Edit", r#"{"file_path":"a","old_string":"x","new_string":"y"}"#).covers_arguments
    );
    assert!(!describe("Edit", r#"{"file_path":"a","spell":"y"}"#).covers_arguments);
}

#[test]
fn edits_have_the_changed_lines_with_numbers_where_known() {
    let check = |name: &str, arguments: &str, lines: &[&str]| {
        assert_eq!(diff_lines(&describe(name, arguments)), lines, "{name} {arguments}");
    };
    check(
        "Edit",
        r#"{"file_path":"a","old_string":"1\n2\n3\n4\n5\nx\n6","new_string":"1\n2\n3\n4\n5\ny\nz\n6"}"#,
        &[" 3", " 4", " 5", "-x", "+y", "+z", " 6"],
    );
    check("Edit", r#"{"file_path":"a","old_string":"","new_string":"new\n"}"#, &["+new"]);
    check(
        "Edit",
        r#"{"file_path":"a","old_string":"a\nb\nc","new_string":"b\nc\nd"}"#,
        &["-a", " b", " c", "+d"],
    );
    check("Write", r#"{"file_path":"a","content":"x\n\ty\n"}"#, &["+1:x", "+2:\ty"]);
    check(
        "MultiEdit",
        r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}"#,
        &["-x", "+y", "@", "-z"],
    );
    check(
        "file_change",
        r#"{"changes":[{"path":"a","kind":{"type":"update"},"diff":"@@ -9,2 +9,3 @@ fn dig\n x\n+y\n z\n"}]}"#,
        &["@fn dig", " 9:x", "+10:y", " 11:z"],
    );
    check(
        "file_change",
        r#"{"changes":[{"path":"a","kind":{"type":"add"},"diff":"one\ntwo\n"}]}"#,
        &["+1:one", "+2:two"],
    );
    check(
        "file_change",
        r#"{"changes":[{"path":"a","kind":{"type":"add"},"diff":"+one"}]}"#,
        &["+1:one"],
    );
    check(
        "file_change",
        r#"{"changes":[{"path":"a","kind":{"type":"delete"},"diff":"one\n"}]}"#,
        &["-1:one"],
    );
    check(
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Add File: n\n+--- x\n*** Update File: m\n@@\n--- old\n+new\n*** End Patch"}"#,
        &["+1:--- x", "--- old", "+new"],
    );
    check(
        "appliedDiff",
        r#"{"path":"a","diff":"<<<<<<< SEARCH\n:start_line:7\n-------\nx\n=======\ny\n>>>>>>> REPLACE"}"#,
        &["-7:x", "+7:y"],
    );
    check(
        "replace_in_file",
        r#"{"path":"a","diff":"------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n------- SEARCH\np\n=======\nq\n+++++++ REPLACE"}"#,
        &["-x", "+y", "@", "-p", "+q"],
    );
}

#[test]
fn todos_have_their_states() {
    let check = |name: &str, arguments: &str, states: &[(&str, TodoState)]| {
        let todos = describe(name, arguments).todos;
        let is: Vec<(&str, TodoState)> =
            todos.iter().map(|todo| (&*todo.text, todo.state)).collect();
        assert_eq!(is, states, "{name} {arguments}");
    };
    check(
        "TodoWrite",
        r#"{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"in_progress"},{"content":"c","status":"completed"},{"content":"d","status":"cancelled"}]}"#,
        &[
            ("a", TodoState::Pending),
            ("b", TodoState::Active),
            ("c", TodoState::Done),
            ("d", TodoState::Cancelled),
        ],
    );
    check(
        "todo_list",
        r#"{"items":[{"text":"a","completed":true},{"text":"b","completed":false}]}"#,
        &[("a", TodoState::Done), ("b", TodoState::Pending)],
    );
    check(
        "update_plan",
        r#"{"plan":[{"step":"a","status":"completed"}]}"#,
        &[("a", TodoState::Done)],
    );
    check(
        "update_todo_list",
        r#"{"todos":"[x] a\n[-] b\n[ ] c"}"#,
        &[("a", TodoState::Done), ("b", TodoState::Active), ("c", TodoState::Pending)],
    );
}

/// Addresses of the sources in a search's output.
fn sources(output: &str) -> Vec<String> {
    let mut description = describe("web_search", r#"{"query":"reeds"}"#);
    description.add_result(ToolResult { output, outcome: ToolOutcome::Succeeded, detail: None });
    let sources = description.sources.iter();
    sources
        .map(|source| format!("{} {}", source.url, source.title.as_deref().unwrap_or("-")))
        .collect()
}

#[test]
fn searches_have_their_sources_each_once() {
    let found = r#"{"type":"web_search_result","url":"https://a.test/","title":"A","encrypted_content":"eA=="}"#;
    assert_eq!(
        sources(&format!("{found}{found}{{\"url\":\"https://b.test\"}}")),
        ["https://a.test/ A", "https://b.test -"]
    );
    let links = "Web search results for query: \"x\"\n\nLinks: [{\"title\":\"A\",\"url\":\"https://a.test\"}]\n\nReeds grow.";
    assert_eq!(sources(links), ["https://a.test A"]);
    let text = "Reeds grow [1].\n\nSources:\n[1] Reed Lore (https://a.test/x)\n[2] https://b.test.\n- [Mill](https://c.test) and [Mill](https://c.test)";
    assert_eq!(
        sources(text),
        ["https://a.test/x Reed Lore", "https://b.test -", "https://c.test Mill"]
    );
    assert!(sources("nothing found").is_empty());
}

#[test]
fn x1_opaque_state_is_no_text_for_people_however_it_is_cut() {
    let check = |text: &str, expected: &str| {
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut filter = OpaqueStateFilter::default();
            let first = filter.push(&text[..at]).into_owned();
            assert_eq!(first + &filter.push(&text[at..]), expected, "cut at {at}");
        }
        let mut filter = OpaqueStateFilter::default();
        let mut buffer = [0; 4];
        let pushed = text.chars().map(|c| filter.push(c.encode_utf8(&mut buffer)).into_owned());
        assert_eq!(pushed.collect::<String>(), expected);
    };
    check(
        r#" {"title":"é\"A","inner":[{"encrypted_index" : "x\"y","n":1}],"encrypted_content":"eA=="}{"a":"b"}"#,
        r#" {"title":"é\"A","inner":[{"encrypted_index" : "…","n":1}],"encrypted_content":"…"}{"a":"b"}"#,
    );
    for text in [
        "",
        "encrypted_content is a word: \"encrypted_content\":\"x\"",
        r#"{"encrypt":"x","names":["encrypted_a","b"],"encrypted_n":1,"x":"encrypted_y"}"#,
    ] {
        check(text, text);
    }
}

#[test]
fn commands_have_their_exit_status() {
    let exit = |output: &str, outcome, detail| {
        let mut description = describe("bash", r#"{"command":"make"}"#);
        description.add_result(ToolResult { output, outcome, detail });
        description.exit_code
    };
    let (ok, failed) = (ToolOutcome::Succeeded, ToolOutcome::Failed);
    assert_eq!(exit("", failed, Some("exit code 101")), Some(101));
    assert_eq!(exit("Exit code 2\nno rule", failed, None), Some(2));
    assert_eq!(exit("a\n<shellId: 0 completed with exit code 0>", ok, None), Some(0));
    assert_eq!(exit("Output: a\nExit Code: 0\nSignal: (none)", ok, None), Some(0));
    assert_eq!(exit("Command exited with code 7", failed, None), Some(7));
    // The command succeeded: it only printed the words.
    assert_eq!(exit("the child had exit code 3", ok, None), None);
    assert_eq!(exit("done", ok, None), None);
}

#[test]
fn x14_a_description_is_bounded_and_says_what_was_cut() {
    let lines = |count: usize| vec!["x"; count].join("\n");
    let write = |text: &str| serde_json::json!({ "path": "a", "content": text }).to_string();
    let most = describe("write_file", &write(&lines(limits::TOOL_DIFF_LINES_MAX)));
    assert_eq!(
        (diff_lines(&most).len(), most.omitted.diff_lines),
        (limits::TOOL_DIFF_LINES_MAX, 0)
    );
    let more = describe("write_file", &write(&lines(limits::TOOL_DIFF_LINES_MAX + 1)));
    assert_eq!(
        (diff_lines(&more).len(), more.omitted.diff_lines),
        (limits::TOOL_DIFF_LINES_MAX, 1)
    );
    let todos = vec![serde_json::json!({ "content": "dig" }); limits::TOOL_TODOS_MAX + 2];
    let todos = describe("todo_write", &serde_json::json!({ "todos": todos }).to_string());
    assert_eq!((todos.todos.len(), todos.omitted.todos), (limits::TOOL_TODOS_MAX, 2));
    let urls: Vec<String> = (0..=limits::TOOL_SOURCES_MAX)
        .map(|n| format!("{{\"url\":\"https://{n}.test\"}}"))
        .collect();
    assert_eq!(sources(&urls.concat()).len(), limits::TOOL_SOURCES_MAX);
    let command = "x".repeat(limits::TOOL_TARGET_BYTES_MAX + 1);
    let target =
        describe("bash", &serde_json::json!({ "command": command }).to_string()).target.unwrap();
    assert!(target.len() <= limits::TOOL_TARGET_BYTES_MAX && target.ends_with('…'));
}

/// Generated JSON values.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "(@@ -1 \\+2 @@\n|[+-]x\n|=======\n|<<<<<<< SEARCH\n|é|\\*\\*\\* Add File: a\n|http://a.test |[ \n]){0,6}"
            .prop_map(Into::into),
    ];
    let name = prop_oneof![
        prop::sample::select(vec![
            "path",
            "command",
            "old_string",
            "new_string",
            "content",
            "diff",
            "changes",
            "edits",
            "kind",
            "todos",
            "plan",
            "status",
            "query",
            "url",
            "action",
            "file_path",
            "input",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,3}",
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_arguments_and_results_give_one_bounded_description(
        json in any_json(),
        at in 0..CALLS.len(),
        cut in any::<prop::sample::Index>(),
        failed in any::<bool>(),
    ) {
        let (text, name) = (json.to_string(), CALLS[at].0);
        let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
        for arguments in [&*text, &text[..text.floor_char_boundary(cut.index(text.len()))]] {
            for kind in [ToolKind::Function, ToolKind::Edit, ToolKind::Action, ToolKind::Command] {
                let mut description = describe_kind(kind, name, arguments);
                prop_assert_eq!(&description, &describe_kind(kind, name, arguments));
                description.add_result(ToolResult { output: &text, outcome, detail: None });
                prop_assert!(!description.title.is_empty());
                prop_assert!(description.title.len() <= limits::TOOL_TITLE_BYTES_MAX);
                let target = description.target.as_deref().unwrap_or_default();
                prop_assert!(target.len() <= limits::TOOL_TARGET_BYTES_MAX);
                prop_assert!(diff_lines(&description).len() <= limits::TOOL_DIFF_LINES_MAX);
                let json = serde_json::to_string(&description).unwrap();
                prop_assert_eq!(serde_json::from_str::<ToolDescription>(&json).unwrap(), description);
            }
        }
    }
}

#[test]
fn only_a_shells_script_stands_for_its_command() {
    let line = |words: &str| describe("shell", &format!(r#"{{"command":{words}}}"#)).summary_line();
    assert_eq!(line(r#"["/bin/bash","-lc","ls | wc"]"#), "$ ls | wc");
    assert_eq!(line(r#"["git","-c","diff"]"#), "$ git -c diff");
}

#[test]
fn a_removal_alone_is_a_change_only_under_a_name_that_says_so() {
    let removed = describe("Edit", r#"{"file_path":"hedge","old_string":"too tall"}"#);
    assert_eq!(diff_lines(&removed), ["-too tall"]);
    let unclear = describe("Edit", r#"{"file_path":"hedge","old":"too tall"}"#);
    assert_eq!(diff_lines(&unclear), Vec::<String>::new());
}

/// Length of the longest common subsequence, by trying everything.
fn longest_common(old: &[&str], new: &[&str]) -> usize {
    match (old, new) {
        ([], _) | (_, []) => 0,
        ([first, old @ ..], [other, new @ ..]) if first == other => 1 + longest_common(old, new),
        ([_, shorter_old @ ..], [_, shorter_new @ ..]) => {
            longest_common(shorter_old, new).max(longest_common(old, shorter_new))
        }
    }
}

proptest! {
    #[test]
    fn a_diff_is_the_shortest_there_is(
        old in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..7),
        new in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..7),
    ) {
        let arguments = serde_json::json!({
            "file_path": "hedge", "old_string": old.join("\n"), "new_string": new.join("\n"),
        });
        let lines = diff_lines(&describe("Edit", &arguments.to_string()));
        let changes = lines.iter().filter(|line| line.starts_with(['+', '-'])).count();
        prop_assert_eq!(changes, old.len() + new.len() - 2 * longest_common(&old, &new));
    }
}
