//! Tasks in the arguments of to-do and plan tools.

use serde_json::{Map, Value};

use crate::limits::{TOOL_TODO_BYTES_MAX, TOOL_TODOS_MAX};

use super::arguments::{Arguments, find_member, find_text};
use super::bounded::shorten;
use super::description::{Todo, TodoState, ToolDescription};

/// Names of the member with the list.
const LIST_NAMES: [&str; 9] = [
    "todos",
    "items",
    "plan",
    "todoList",
    "todo_list",
    "tasks",
    "entries",
    "task_progress",
    "steps",
];

/// Names of a task's text.
const TEXT_NAMES: [&str; 7] =
    ["content", "text", "step", "title", "task", "description", "activeForm"];

impl ToolDescription {
    /// Sets the tasks that the arguments list, up to the limit.
    pub(super) fn set_todos(&mut self, arguments: &Arguments<'_>) {
        let todos = match arguments {
            Arguments::List(list) => todos_of_list(list),
            Arguments::Text(text) => todos_of_lines(text),
            Arguments::Members(members) => match find_member(members, &LIST_NAMES) {
                Some(Value::Array(list)) => todos_of_list(list),
                Some(Value::String(lines)) => todos_of_lines(lines),
                _ => Vec::new(),
            },
        };
        let cut = todos.len().saturating_sub(TOOL_TODOS_MAX);
        self.omitted.todos = u32::try_from(cut).unwrap_or(u32::MAX);
        self.todos = todos.into_iter().take(TOOL_TODOS_MAX).collect();
    }
}

/// Tasks of a list of objects or texts.
fn todos_of_list(list: &[Value]) -> Vec<Todo> {
    let todo = |value: &Value| match value {
        Value::String(text) => Some(build_todo(text, TodoState::Pending)),
        Value::Object(members) => {
            Some(build_todo(&find_text(members, &TEXT_NAMES)?, todo_state(members)))
        }
        _ => None,
    };
    list.iter().filter_map(todo).collect()
}

/// Tasks of a check list: `[ ]`, `[x]`, `[-]` or `[>]` before each.
fn todos_of_lines(lines: &str) -> Vec<Todo> {
    let todo = |line: &str| {
        let line = line.trim_start().trim_start_matches(['-', '*']).trim_start();
        let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
        let state = match mark.trim() {
            "" => TodoState::Pending,
            "x" | "X" => TodoState::Done,
            "-" | ">" | "~" => TodoState::Active,
            _ => return None,
        };
        Some(build_todo(text, state))
    };
    lines.lines().filter_map(todo).collect()
}

/// A task with a bounded text.
fn build_todo(text: &str, state: TodoState) -> Todo {
    Todo { text: shorten(text.trim(), TOOL_TODO_BYTES_MAX), state }
}

/// State of a task: a word, or a truth value.
fn todo_state(members: &Map<String, Value>) -> TodoState {
    let is_done = find_member(members, &["completed", "done"]).and_then(Value::as_bool);
    if let Some(is_done) = is_done {
        return if is_done { TodoState::Done } else { TodoState::Pending };
    }
    let word = find_text(members, &["status", "state"]).unwrap_or_default().to_ascii_lowercase();
    match word.strip_prefix("todo_status_").unwrap_or(&word) {
        "completed" | "complete" | "done" => TodoState::Done,
        "in_progress" | "inprogress" | "in-progress" | "active" => TodoState::Active,
        "cancelled" | "canceled" | "skipped" => TodoState::Cancelled,
        _ => TodoState::Pending,
    }
}
