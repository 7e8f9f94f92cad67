//! Which calls are made without asking, which a person is asked about, and which are never made.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Allow,
    Ask,
    Deny,
}

impl Policy {
    pub const WORDS: [(&'static str, Policy); 3] =
        [("allow", Policy::Allow), ("ask", Policy::Ask), ("deny", Policy::Deny)];

    pub fn word(self) -> &'static str {
        match self {
            Policy::Allow => "allow",
            Policy::Ask => "ask",
            Policy::Deny => "deny",
        }
    }
}

/// What a profile says of tools by their names. A name may end in `*`; the longest that fits counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies(pub BTreeMap<String, Policy>);

impl Policies {
    pub fn of(&self, tool: &str) -> Option<Policy> {
        if let Some(exact) = self.0.get(tool) {
            return Some(*exact);
        }
        let fits = self.0.iter().filter_map(|(name, policy)| {
            let stem = name.strip_suffix('*')?;
            tool.starts_with(stem).then_some((stem.len(), *policy))
        });
        fits.max_by_key(|(len, _)| *len).map(|(_, policy)| policy)
    }
}
