//! Tool policies: which tools run without approval, with approval, or never.

use std::collections::BTreeMap;

/// Policy of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Runs without approval.
    Allow,
    /// Needs a person's approval.
    Ask,
    /// Never runs.
    Deny,
}

impl ToolPolicy {
    /// Names in a profile.
    pub const NAMES: [(&'static str, ToolPolicy); 3] =
        [("allow", ToolPolicy::Allow), ("ask", ToolPolicy::Ask), ("deny", ToolPolicy::Deny)];

    /// Its name in a profile.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolPolicy::Allow => "allow",
            ToolPolicy::Ask => "ask",
            ToolPolicy::Deny => "deny",
        }
    }
}

/// Policies by tool name. A name may end in `*`; the longest match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicies(pub BTreeMap<String, ToolPolicy>);

impl ToolPolicies {
    /// Policy of the tool, if one matches.
    pub fn policy_for(&self, tool: &str) -> Option<ToolPolicy> {
        if let Some(exact) = self.0.get(tool) {
            return Some(*exact);
        }
        let matching = self.0.iter().filter_map(|(name, policy)| {
            let prefix = name.strip_suffix('*')?;
            tool.starts_with(prefix).then_some((prefix.len(), *policy))
        });
        matching.max_by_key(|(len, _)| *len).map(|(_, policy)| policy)
    }
}
