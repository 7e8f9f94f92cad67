//! Converts a server's results and progress into tool updates.

use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ResourceContents};

use crate::tools::{CallResult, UpdateContent, UpdateSender};

/// Output for content of an unknown kind.
const UNKNOWN_CONTENT_TEXT: &str = "(unsupported content)";

/// Text of a progress notification.
pub(super) fn progress_text(progress: &ProgressNotificationParam) -> String {
    let amount = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{amount}: {message}"),
        None => amount,
    }
}

/// Sends the content of a result as updates; returns the call's outcome.
pub(super) async fn send_content_as_updates(
    result: CallToolResult,
    updates: &UpdateSender,
) -> CallResult {
    let mut is_first = true;
    for block in result.content {
        let text = match block {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Image(image) => {
                let content =
                    UpdateContent::Image { media_type: image.mime_type, base64: image.data };
                updates.send(content).await;
                continue;
            }
            ContentBlock::Audio(audio) => format!("(audio, {})", audio.mime_type),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    format!("{uri}\n{text}")
                }
                ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                    format!("{uri} ({})", mime_type.unwrap_or_else(|| "bytes".to_owned()))
                }
                _ => UNKNOWN_CONTENT_TEXT.to_owned(),
            },
            ContentBlock::ResourceLink(link) => link.uri,
            _ => UNKNOWN_CONTENT_TEXT.to_owned(),
        };
        let separator = if is_first { "" } else { "\n" };
        is_first = false;
        updates.send_output(format!("{separator}{text}")).await;
    }
    if is_first && let Some(structured) = result.structured_content {
        updates.send_output(structured.to_string()).await;
    }
    if result.is_error == Some(true) {
        CallResult::failed("The tool reported an error.")
    } else {
        CallResult::succeeded()
    }
}
