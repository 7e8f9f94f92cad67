//! The frames of `steps`.

use crate::view::{Patch, Picture};

use super::own::{About, Say, ending, ending_name};

pub(super) fn spell(
    patch: &Patch<'_>,
    _picture: &Picture,
    _about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    if let Patch::Ended(ended) = patch {
        say(ending_name(ended.outcome), ending(ended, data).end());
    }
}
