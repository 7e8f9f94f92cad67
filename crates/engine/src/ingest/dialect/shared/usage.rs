//! Token counts of sources that report them as numbers of one object.

use crate::event::Usage;
use crate::ingest::json::{RawValue, as_scalar, non_null_members};

/// Names of the counts in a source's usage object; an empty name is never found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsageNames {
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    pub(crate) reasoning: &'static str,
    pub(crate) cache_read: &'static str,
    pub(crate) cache_write: &'static str,
}

impl UsageNames {
    /// Reads a usage object; missing numbers stay `None`.
    pub(crate) fn parse_usage_by_names(&self, raw: &RawValue) -> Usage {
        let mut usage = Usage::default();
        for (name, value) in non_null_members(raw.get()).unwrap_or_default() {
            let count = match name.as_str() {
                "" => continue,
                name if name == self.input => &mut usage.input_tokens,
                name if name == self.output => &mut usage.output_tokens,
                name if name == self.reasoning => &mut usage.reasoning_tokens,
                name if name == self.cache_read => &mut usage.cache_read_tokens,
                name if name == self.cache_write => &mut usage.cache_write_tokens,
                _ => continue,
            };
            *count = as_scalar(value);
        }
        usage
    }
}
