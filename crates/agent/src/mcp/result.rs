//! What a server gave, as a tool's output.

use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ResourceContents};

use crate::tools::{Done, Said, Teller};

/// Said of content that this version does not know.
const UNKNOWN: &str = "(something this version of Millpond cannot show)";

/// A word on how far a call has come.
pub(super) fn progress_words(progress: &ProgressNotificationParam) -> String {
    let far = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{far}: {message}"),
        None => far,
    }
}

pub(super) async fn tell(result: CallToolResult, teller: &Teller) -> Done {
    let mut is_first = true;
    for block in result.content {
        let text = match block {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Image(image) => {
                let said = Said::Image { media_type: image.mime_type, base64: image.data };
                teller.tell(said).await;
                continue;
            }
            ContentBlock::Audio(audio) => format!("(sound, {})", audio.mime_type),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    format!("{uri}\n{text}")
                }
                ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                    format!("{uri} ({})", mime_type.unwrap_or_else(|| "bytes".to_owned()))
                }
                _ => UNKNOWN.to_owned(),
            },
            ContentBlock::ResourceLink(link) => link.uri,
            _ => UNKNOWN.to_owned(),
        };
        let before = if is_first { "" } else { "\n" };
        is_first = false;
        teller.put_out(format!("{before}{text}")).await;
    }
    if is_first && let Some(structured) = result.structured_content {
        teller.put_out(structured.to_string()).await;
    }
    if result.is_error == Some(true) {
        Done::failed("The tool says that it failed.")
    } else {
        Done::well()
    }
}
