//! `ActionNames`: names of tools that act on a computer or browser.
//!
//! A name is an action by one of the tables below, or because the options mark it. The tables are
//! data: whole names, servers all of whose tools act, and words of which the other names consist.
//! One unknown word makes a name an ordinary tool, so `browser_search` and `screenshot_diff` are
//! none.

use crate::limits::TOOL_NAME_BYTES_MATCHED_MAX;

/// Names of tools that are actions.
#[rustfmt::skip]
const WHOLE_NAMES: &[&str] = &[
    "browser", "browser_action", "browser_use",
    "computer", "computer_use", "computer_use_preview",
    // Members of Anthropic's and OpenAI's computer tools, where a server lists each as a tool.
    "cursor_position", "double_click", "left_click", "left_click_drag", "left_mouse_down",
    "left_mouse_up", "middle_click", "right_click", "screenshot", "take_screenshot",
    "triple_click",
    // Functions of Gemini's computer use.
    "click_at", "drag_and_drop", "go_back", "go_forward", "hover_at", "key_combination",
    "open_web_browser", "scroll_at", "scroll_document", "type_text_at", "wait_5_seconds",
];

/// Names that are also actions with the date of a version: `computer_20250124`.
const VERSIONED_NAMES: &[&str] = &["computer"];

/// MCP servers whose tools are all actions.
#[rustfmt::skip]
const SERVERS: &[&str] = &[
    "browser_mcp", "browser_use", "browserbase", "browsermcp", "chrome_devtools",
    "claude_in_chrome", "computer_use", "playwright", "puppeteer", "selenium", "stagehand",
];

/// Words that may precede an action's verb.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "browser", "chrome", "computer", "desktop", "keyboard", "mouse", "playwright", "puppeteer",
];

/// Verbs that name an action whatever precedes the subject.
#[rustfmt::skip]
const CLEAR_VERBS: &[&str] = &[
    "click", "dblclick", "drag", "hover", "keypress", "navigate", "press", "screenshot", "scroll",
    "snapshot", "swipe", "tap",
];

/// Verbs that name an action only if the name begins with the subject or a known server.
#[rustfmt::skip]
const OTHER_VERBS: &[&str] = &[
    "back", "check", "close", "drop", "evaluate", "fill", "forward", "go", "goto", "handle", "key", "launch",
    "move", "open", "reload", "resize", "select", "start", "stop", "tabs", "type", "uncheck",
    "upload", "wait", "zoom",
];

/// Servers whose tools also act on a screen if they type, press keys or wait. A server called
/// `keyboard` may as well list shortcuts.
const SCREENS: &[&str] = &["browser", "computer", "desktop"];

/// Verbs that name an action of a screen.
const SCREEN_VERBS: &[&str] = &["key", "type", "wait"];

/// Words that may stand beside a verb.
#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "and", "at", "button", "by", "coordinates", "dialog", "double", "down", "element", "file",
    "for", "form", "full", "in", "into", "keys", "left", "list", "middle", "mouse",
    "new", "on", "option", "or", "page", "right", "selector", "tab", "take", "text", "to", "up",
    "url", "use", "window", "xy",
];

/// Words around a server's name that do not change what it is.
const SERVER_SUFFIXES: &[&str] = &["_mcp_server", "_mcp", "_server"];

/// Names of tools that act on a computer or browser: the known ones, and those marked in options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionNames {
    marked: Vec<String>,
}

impl ActionNames {
    /// Marks further names: whole, or as an MCP server names its tool.
    pub fn with_marked(marked: Vec<String>) -> ActionNames {
        ActionNames { marked }
    }

    /// True if a tool of this name, from this MCP server, is an action.
    pub fn is_action(&self, name: &str, server: Option<&str>) -> bool {
        let split = split_server_and_tool(name);
        self.marked.iter().any(|marked| marked == name || marked == split.tool)
            || is_known_action(SplitName { server: server.unwrap_or(split.server), ..split })
    }
}

/// A tool's name without the name of its MCP server.
#[derive(Clone, Copy, Debug)]
struct SplitName<'a> {
    /// Empty without one.
    server: &'a str,
    tool: &'a str,
    form: NameForm,
}

/// How a name writes its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameForm {
    /// `tool` or `mcp__server__tool`.
    Tool,
    /// `server/tool`, which may also be a path or an address.
    Path,
}

/// Splits `mcp__server__tool`, `server/tool` and the like.
fn split_server_and_tool(name: &str) -> SplitName<'_> {
    let name = name.split_once(" (").map_or(name, |(name, _)| name);
    let name = name.strip_prefix("Tool: ").unwrap_or(name);
    if let Some((server, tool)) = name.rsplit_once("__") {
        let server = server.strip_prefix("mcp__").unwrap_or(server);
        return SplitName { server, tool, form: NameForm::Tool };
    }
    match name.rsplit_once(['/', '.', ':']) {
        Some((server, tool)) => SplitName { server, tool, form: NameForm::Path },
        None => SplitName { server: "", tool: name, form: NameForm::Tool },
    }
}

/// True if the tables name this tool, or all tools of this server.
fn is_known_action(name: SplitName<'_>) -> bool {
    let (mut server_buffer, mut tool_buffer) = (NameBuffer::default(), NameBuffer::default());
    let Some(tool) = tool_buffer.normalise(name.tool) else { return false };
    let server = server_buffer.normalise(name.server).unwrap_or("");
    (name.form == NameForm::Tool && is_whole_or_versioned_name(tool))
        || is_action_server(server)
        || (SUBJECTS.contains(&server) && has_verb_and_known_words(tool, Verbs::Clear))
        || (SCREENS.contains(&server) && has_verb_and_known_words(tool, Verbs::Screen))
        || is_phrase_of_known_words(tool.strip_prefix("mcp_").unwrap_or(tool))
}

/// True if the name is in the table, as it is or with a version.
fn is_whole_or_versioned_name(tool: &str) -> bool {
    let is_date = |version: &str| version.len() == 8 && version.bytes().all(|c| c.is_ascii_digit());
    let versioned = tool.rsplit_once('_').filter(|(_, version)| is_date(version));
    WHOLE_NAMES.contains(&tool)
        || versioned.is_some_and(|(name, _)| VERSIONED_NAMES.contains(&name))
}

/// True if all tools of this server are actions.
fn is_action_server(server: &str) -> bool {
    let bare = SERVER_SUFFIXES.iter().find_map(|suffix| server.strip_suffix(suffix));
    let names = [server, bare.unwrap_or(server)];
    names.into_iter().any(|server| {
        // A plugin's server is named after the plugin and itself.
        let own = |known: &str| {
            server.strip_prefix("plugin_").is_some_and(|rest| {
                rest.strip_suffix(known).is_some_and(|rest| rest.ends_with('_'))
            })
        };
        SERVERS.contains(&server) || SERVERS.iter().any(|known| own(known))
    })
}

/// Verbs that make a phrase an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verbs {
    Clear,
    /// Those of a screen only.
    Screen,
    All,
}

/// True if a subject or a known server is followed by a verb and nothing but known words.
fn is_phrase_of_known_words(name: &str) -> bool {
    let after_server = SERVERS.iter().find_map(|server| strip_words(name, server));
    if let Some(rest) = after_server
        && (has_verb_and_known_words(rest, Verbs::All) || begins_with_subject_phrase(rest))
    {
        return true;
    }
    if begins_with_subject_phrase(name) {
        return true;
    }
    let starts = name.match_indices('_').map(|(at, _)| &name[at + 1..]);
    let mut phrases = starts.filter_map(strip_subject);
    phrases.any(|rest| has_verb_and_known_words(rest, Verbs::Clear))
}

/// True if the name is a subject and a phrase with any verb.
fn begins_with_subject_phrase(name: &str) -> bool {
    strip_subject(name).is_some_and(|rest| has_verb_and_known_words(rest, Verbs::All))
}

/// What follows the subject that the name begins with.
fn strip_subject(name: &str) -> Option<&str> {
    SUBJECTS.iter().find_map(|subject| strip_words(name, subject))
}

/// What follows these words at the start of the name.
fn strip_words<'a>(name: &'a str, words: &str) -> Option<&'a str> {
    name.strip_prefix(words)?.strip_prefix('_')
}

/// True if there is a verb and no unknown word.
fn has_verb_and_known_words(words: &str, verbs: Verbs) -> bool {
    let is_verb = |word: &str| match verbs {
        Verbs::Clear => CLEAR_VERBS.contains(&word),
        Verbs::Screen => SCREEN_VERBS.contains(&word),
        Verbs::All => CLEAR_VERBS.contains(&word) || OTHER_VERBS.contains(&word),
    };
    let is_beside_verb = |word: &str| match verbs {
        Verbs::Screen => OBJECTS.contains(&word),
        Verbs::Clear | Verbs::All => {
            CLEAR_VERBS.contains(&word) || OTHER_VERBS.contains(&word) || OBJECTS.contains(&word)
        }
    };
    let is_known = |word: &str| is_verb(word) || is_beside_verb(word);
    words.split('_').all(is_known) && words.split('_').any(is_verb)
}

/// Buffer for a name in lower case whose words are separated by `_`.
struct NameBuffer {
    bytes: [u8; TOOL_NAME_BYTES_MATCHED_MAX],
}

impl Default for NameBuffer {
    fn default() -> NameBuffer {
        NameBuffer { bytes: [0; TOOL_NAME_BYTES_MATCHED_MAX] }
    }
}

impl NameBuffer {
    /// Writes the name in lower case, with `_` between its words. `None` if it is too long, or is
    /// no name but a title with spaces.
    fn normalise(&mut self, name: &str) -> Option<&str> {
        let mut len = 0;
        let mut before = b'_';
        let name = name.trim_matches(|mark: char| !mark.is_ascii_alphanumeric());
        for byte in name.bytes() {
            if byte == b' ' || !byte.is_ascii() {
                return None;
            }
            let starts_word = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
            if starts_word {
                *self.bytes.get_mut(len)? = b'_';
                len += 1;
            }
            let letter = if byte.is_ascii_alphanumeric() { byte } else { b'_' };
            *self.bytes.get_mut(len)? = letter.to_ascii_lowercase();
            len += 1;
            before = byte;
        }
        std::str::from_utf8(&self.bytes[..len]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::ActionNames;

    /// Names of actions.
    #[rustfmt::skip]
    const ACTIONS: &[&str] = &[
        "computer", "Computer", "computer_use", "computerUse", "computer-use", "browser",
        "browser_action", "browser_use", "screenshot", "take_screenshot", "left_click",
        "mcp__playwright__browser_click", "mcp__playwright__browser_console_messages",
        "mcp__puppeteer__puppeteer_navigate", "mcp__puppeteer__anything",
        "mcp__computer-use__screenshot", "mcp__computer-use__left_click",
        "mcp__computer_use__computer", "mcp__claude-in-chrome__navigate",
        "mcp__chrome-devtools__click", "mcp__chrome-devtools__take_snapshot",
        "mcp__plugin_playwright_playwright__browser_type",
        "mcp__plugin_web_chrome-devtools__fill", "mcp__my-own__browser_type",
        "mcp__browser__click", "mcp__desktop__computer", "browser_take_screenshot",
        "browser_click", "browser_type", "browser_press_key", "browser_select_option",
        "browser_wait_for", "browser_navigate_back", "browser_mouse_click_xy",
        "browser_file_upload", "browser_handle_dialog", "browser_tabs", "browser_close",
        "browserClick", "BrowserTakeScreenshot", "puppeteer_screenshot",
        "playwright_browser_click", "playwright-browser_take_screenshot",
        "mcp_playwright_browser_type", "playwright__browser_click", "playwright/browser_click",
        "Tool: playwright/browser_type", "browser_click (playwright MCP Server)",
        "my-server-browser_click", "cursor-ide-browser-browser_navigate",
        "chrome-devtools_take_screenshot", "chrome-devtools_fill_form", "computer-use_left_click",
        "mouse_move", "mouse_click", "keyboard_press", "desktop_screenshot",
        "computer_screenshot", "get_browser_screenshot", "click_at", "type_text_at",
        "open_web_browser", "mcp__computer__type", "mcp__computer__key", "mcp__computer__wait",
        "mcp__browser__type", "mcp__browser__wait_for", "mcp__desktop__type_text",
        "mcp__desktop__key_down", "computer/type", "computer_20241022", "computer_20250124",
    ];

    /// Names that look like those of actions.
    #[rustfmt::skip]
    const ORDINARY: &[&str] = &[
        "", "_", "__", "mcp__", "mcp____", "Bash", "Read", "click", "type", "wait", "scroll",
        "navigate", "search", "key", "browser_search", "web_browser_search",
        "browser_history_search", "browser_support", "browser_version", "browserslist",
        "browserslist_query", "cross_browser_matrix", "get_browser_type", "list_browser_tabs",
        "screenshot_diff", "screenshots", "compare_screenshots", "screenshot_to_code",
        "read_screenshot", "browser_screenshot_diff", "computer_science_lookup", "computers_list",
        "quantum_computer_simulate", "get_computer_type", "supercomputer", "computer_use_guide",
        "playwright", "playwright_docs_search", "playwright_test_report", "puppeteer_version",
        "clickhouse_query", "clickup_create_task", "mouse_genome_lookup", "desktop_notification",
        "desktop_commander", "chrome_history", "chrome_bookmark_search", "type_check",
        "left_join", "double_entry", "go_back_to_step", "wait_for_approval",
        "mcp__browser__search", "mcp__browser__open", "browser.search", "browser.open",
        "browser.find", "mcp__computer-science__lookup", "mcp__playwright-docs__search",
        "mcp__keyboard__key", "mcp__keyboard__type", "mcp__keyboard__wait", "mcp__mouse__type",
        "mcp__chrome__type", "mcp__browser__type_check", "mcp__browser__get_type",
        "mcp__desktop__key_value", "mcp__desktop__list_keys", "mcp__computer__open",
        "mcp__my-computer__type", "type", "type_text", "key_down", "computer_2025",
        "computer_20250124_notes", "text_editor_20250124", "mcp__not-playwright__run", "mcp__github__search_code", "mcp__filesystem__read_file",
        "Take a screenshot of the browser", "Look at screenshot", "screenshot.png",
        "src/browser_click.rs", "https://example.org/browser", "przeglądarka_click",
    ];

    /// Asserts what unmarked tools of these names are.
    fn check_all(names: &[&str], expected: bool) {
        let wrong: Vec<&&str> = names
            .iter()
            .filter(|name| ActionNames::default().is_action(name, None) != expected)
            .collect();
        assert!(wrong.is_empty(), "should be {expected}: {wrong:?}");
    }

    #[test]
    fn sentences_f4_computer_and_browser_tools_are_actions_by_name() {
        check_all(ACTIONS, true);
    }

    #[test]
    fn sentences_f4_ordinary_tools_with_such_words_are_no_actions() {
        check_all(ORDINARY, false);
    }

    #[test]
    fn sentences_f4_a_server_beside_the_name_counts_like_one_in_it() {
        let names = ActionNames::default();
        for server in ["playwright", "Playwright", "playwright-mcp", "@playwright/mcp", "puppeteer"]
        {
            assert!(names.is_action("anything", Some(server)), "{server}");
        }
        for server in ["github", "", "playwright-docs", "browser", "computer-science"] {
            assert!(!names.is_action("anything", Some(server)), "{server}");
        }
        assert!(names.is_action("click", Some("browser")));
        assert!(names.is_action("type_text", Some("desktop")));
        assert!(!names.is_action("type_text", Some("keyboard")));
    }

    #[test]
    fn sentences_f4_a_marked_name_is_an_action_and_no_other() {
        let names = ActionNames::with_marked(vec!["open_sluice".to_owned(), "Bash".to_owned()]);
        for action in ["open_sluice", "mcp__pond__open_sluice", "pond/open_sluice", "Bash"] {
            assert!(names.is_action(action, None), "{action}");
        }
        for tool in ["open_sluice_log", "open", "sluice", "bash", "mcp__open_sluice__read"] {
            assert!(!names.is_action(tool, None), "{tool}");
        }
    }

    #[test]
    fn sentences_f4_a_name_longer_than_the_limit_is_no_action() {
        use crate::limits::TOOL_NAME_BYTES_MATCHED_MAX as MAX;
        let at = |len: usize| format!("{}_browser_click", "a".repeat(len - 14));
        assert!(ActionNames::default().is_action(&at(MAX), None));
        assert!(!ActionNames::default().is_action(&at(MAX + 1), None));
    }
}
