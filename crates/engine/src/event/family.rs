//! Families of events, as patterns.
//!
//! A view matches every event, so that a new one has to be thought about. What a view does not show
//! it names by family: an event outside all families makes those matches fail to compile.

/// Pattern of all events of a family. [`ImageReceived`](super::Event::ImageReceived) and
/// [`Withdrawn`](super::Event::Withdrawn) belong to none, because every view shows them.
#[macro_export]
macro_rules! event_family {
    // Start and end of a run.
    (Run) => {
        $crate::event::Event::RunStarted { .. } | $crate::event::Event::RunEnded { .. }
    };
    // What the person wrote.
    (Prompt) => {
        $crate::event::Event::PromptReceived { .. } | $crate::event::Event::PromptJoined { .. }
    };
    // Start and end of a model call.
    (Round) => {
        $crate::event::Event::RoundStarted { .. } | $crate::event::Event::RoundEnded { .. }
    };
    // Text of the agent.
    (Message) => {
        $crate::event::Event::MessageStarted { .. }
            | $crate::event::Event::TextAppended { .. }
            | $crate::event::Event::TextRewritten { .. }
            | $crate::event::Event::MessageEnded { .. }
            | $crate::event::Event::SourceCited { .. }
            | $crate::event::Event::FinalDeclared { .. }
    };
    // Thinking.
    (Reasoning) => {
        $crate::event::Event::ReasoningStarted { .. }
            | $crate::event::Event::ReasoningAppended { .. }
            | $crate::event::Event::ReasoningEnded { .. }
    };
    // Tool calls.
    (Tool) => {
        $crate::event::Event::ToolStarted { .. }
            | $crate::event::Event::ArgumentsAppended { .. }
            | $crate::event::Event::ArgumentsReplaced { .. }
            | $crate::event::Event::ToolReady { .. }
            | $crate::event::Event::ToolProgressed { .. }
            | $crate::event::Event::OutputAppended { .. }
            | $crate::event::Event::OutputReplaced { .. }
            | $crate::event::Event::ToolEnded { .. }
    };
    // Questions to the person.
    (Ask) => {
        $crate::event::Event::AskOpened { .. } | $crate::event::Event::AskResolved { .. }
    };
    // Requests to the model, and what they cost.
    (Request) => {
        $crate::event::Event::RequestStarted { .. }
            | $crate::event::Event::RequestEnded { .. }
            | $crate::event::Event::UsageReported { .. }
    };
    // Notices of the source, and what it has not finished writing.
    (Notice) => {
        $crate::event::Event::CheckpointSaved { .. }
            | $crate::event::Event::RetryScheduled { .. }
            | $crate::event::Event::HistoryCompacted { .. }
            | $crate::event::Event::NoticeGiven { .. }
            | $crate::event::Event::DraftReceived { .. }
            | $crate::event::Event::DraftCompleted { .. }
    };
    // Recorded for a later request or a later version; shown in no view.
    (Internal) => {
        $crate::event::Event::StepSealed { .. }
            | $crate::event::Event::MarkupHidden { .. }
            | $crate::event::Event::SessionNamed { .. }
            | $crate::event::Event::QuirkActed { .. }
            | $crate::event::Event::Unrecognised { .. }
    };
}
