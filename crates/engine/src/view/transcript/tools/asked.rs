//! Calls that the person is asked about: the item of the call becomes the ask's, and the output
//! follows as an item of its own.

use crate::event::{Record, StepId, ToolOutcome};
use crate::view::item::{Item, ItemKey};
use crate::view::patch::Patch;

use super::super::Transcript;
use super::{ArgumentsState, CallItem};

impl Transcript {
    /// Takes the item of an open call that has no output yet, for an ask about the call.
    pub(in crate::view::transcript) fn take_call_item_for_ask(
        &mut self,
        step: StepId,
    ) -> Option<(ItemKey, Item<'static>)> {
        let id = self.base.ids().step_result(step);
        let tool = self.active_run.tools.open.get_mut(&step)?;
        let is_free = matches!(tool.call_item, CallItem::OwnItem)
            && tool.result_key.is_none()
            && self.settling.is_live(tool.key);
        if !is_free {
            return None;
        }
        tool.item.take_if(|item| item.text.is_empty() && item.images.is_empty()).map(|mut call| {
            call.description =
                Some(Box::new(tool.call.describe(call.arguments.as_deref().unwrap_or_default())));
            tool.description.clone_from(&call.description);
            tool.arguments_state = ArgumentsState::Complete;
            let mut result = Item::new(call.kind, call.run.clone(), id);
            result.name.clone_from(&call.name);
            result.sort.clone_from(&call.sort);
            result.call.clone_from(&call.call);
            result.label.clone_from(&call.label);
            result.description =
                call.description.as_ref().map(|known| Box::new(known.of_result_alone()));
            tool.call_item = CallItem::AskItem(Box::new(result));
            self.settling.stop_settling_text(tool.key);
            (tool.key, call)
        })
    }

    /// Puts the item of the result of a call that was asked about, if the tool ran to an end; a
    /// denied one that says nothing more has only the ask.
    pub(super) fn put_result_of_asked_call_if_it_has_one<'r>(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(tool) = self.active_run.tools.open.get(&step) else { return };
        let is_asked = matches!(tool.call_item, CallItem::AskItem(_));
        let has_result = match outcome {
            ToolOutcome::Succeeded | ToolOutcome::Failed => true,
            ToolOutcome::Denied | ToolOutcome::NoResult | ToolOutcome::Cut => false,
        };
        if is_asked && has_result {
            self.ensure_result_item(step, record, out);
        }
    }
}
