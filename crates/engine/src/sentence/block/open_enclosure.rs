//! Code and brackets that are open in a block of prose.

use super::super::prose::{EnclosureState, ProseScanner};
use super::{Block, BlockSplitter};

impl BlockSplitter {
    /// True if code or a bracket opened at the last character.
    #[inline]
    pub(in crate::sentence) fn has_plain_reading(&self) -> bool {
        match &self.block {
            Block::Paragraph(prose) | Block::Heading(prose) => prose.has_plain_reading(),
            Block::Item(item) => item.has_plain_reading(),
            Block::None
            | Block::Rule
            | Block::Table { .. }
            | Block::Indented
            | Block::Fence { .. } => false,
        }
    }

    /// Takes the splitter as it is if the code or bracket that opened at the last character never
    /// closes.
    pub(in crate::sentence) fn take_plain_reading(&mut self) -> Option<BlockSplitter> {
        let plain = self.block.prose()?.take_plain_reading()?;
        Some(BlockSplitter {
            scanner: self.scanner.clone(),
            block: self.block.with_prose(*plain)?,
            line: self.line.clone(),
            ..*self
        })
    }

    /// State of the code and brackets of the paragraph.
    pub(in crate::sentence) fn enclosure_state(&mut self) -> EnclosureState {
        let prose = if self.blank { None } else { self.block.prose() };
        prose.map_or(EnclosureState::NeverCloses, |prose| prose.enclosure_state())
    }
}

impl Block {
    /// The same block with another scanner of its sentences, if it has one.
    fn with_prose(&self, prose: ProseScanner) -> Option<Block> {
        match self {
            Block::Paragraph(_) => Some(Block::Paragraph(prose)),
            Block::Heading(_) => Some(Block::Heading(prose)),
            Block::Item(item) => Some(Block::Item(item.with_prose(prose))),
            Block::None
            | Block::Rule
            | Block::Table { .. }
            | Block::Indented
            | Block::Fence { .. } => None,
        }
    }

    /// Scanner of its sentences, if it has any.
    fn prose(&mut self) -> Option<&mut ProseScanner> {
        match self {
            Block::Paragraph(prose) | Block::Heading(prose) => Some(prose),
            Block::Item(item) => Some(item.prose()),
            Block::None
            | Block::Rule
            | Block::Table { .. }
            | Block::Indented
            | Block::Fence { .. } => None,
        }
    }
}
