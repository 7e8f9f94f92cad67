//! Places of strings in frames: their paths, and the scalars beside them.
//!
//! Does: say how similar two places are, so that a string can be found that continues another one.
//! Does not: check JSON, or know what a member means; a name only says if it may identify something.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits::FRAME_SCALARS_COMPARED_MAX;

/// Place of a string: its path in its frame, and the scalars of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    path: u64,
    scalars: Vec<FrameScalar>,
}

/// Hash of a scalar and its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameScalar {
    hash: u64,
    role: ScalarRole,
}

/// Role of a scalar in telling the strings of frames apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScalarRole {
    /// Its name is that of an id or an index.
    Identity,
    Text,
    /// A number, which often counts frames or time.
    Other,
}

/// Similarity of two places; the most important part comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Similarity {
    equal_identities: usize,
    path: PathSimilarity,
    equal_texts: usize,
    equal_others: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathSimilarity {
    Different,
    Equal,
}

impl Place {
    /// Similarity of the two places.
    pub(super) fn similarity_to(&self, other: &Place) -> Similarity {
        let equal = |role: ScalarRole| {
            let counted = self.scalars.iter().filter(|scalar| scalar.role == role);
            counted.filter(|scalar| other.scalars.contains(scalar)).count()
        };
        let is_same_path = self.path == other.path;
        Similarity {
            equal_identities: equal(ScalarRole::Identity),
            path: if is_same_path { PathSimilarity::Equal } else { PathSimilarity::Different },
            equal_texts: equal(ScalarRole::Text),
            equal_others: equal(ScalarRole::Other),
        }
    }
}

/// Places of some strings of one frame.
#[derive(Debug)]
pub(super) struct FramePlaces {
    /// Hashes of the paths of the strings.
    paths: Vec<u64>,
    scalars: Vec<FrameScalar>,
}

impl FramePlaces {
    /// Reads the places of the strings that begin before each of `offsets`, which are ascending.
    pub(super) fn read(json: &[u8], offsets: &[usize]) -> FramePlaces {
        let mut places = FramePlaces { paths: vec![0; offsets.len()], scalars: Vec::new() };
        let mut reader = PathReader::default();
        let (mut at, mut next) = (0, 0);
        while at < json.len() {
            let end = token_end(json, at);
            let token = &json[at..end];
            at = end;
            let Some(scalar) = reader.push_token(token) else { continue };
            let first = next;
            while offsets.get(next).is_some_and(|offset| *offset < end) {
                places.paths[next] = scalar.path;
                next += 1;
            }
            if first == next && places.scalars.len() < FRAME_SCALARS_COMPARED_MAX {
                places.scalars.push(scalar.to_frame_scalar(token));
            }
        }
        places
    }

    /// Place of the string at the offset of this index.
    pub(super) fn place(&self, index: usize) -> Place {
        Place { path: self.paths[index], scalars: self.scalars.clone() }
    }
}

/// End of the token at `at`: a string, a mark, or a run of anything else.
fn token_end(json: &[u8], at: usize) -> usize {
    let is_mark = |byte: u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
    if json[at] != b'"' {
        let rest = json[at + 1..].iter().position(|byte| is_mark(*byte));
        let run_end = rest.map_or(json.len(), |len| at + 1 + len);
        return if is_mark(json[at]) { at + 1 } else { run_end };
    }
    let mut end = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', json.get(end..).unwrap_or_default()) {
        end += found;
        if json[end] == b'"' {
            return end + 1;
        }
        end += 2;
    }
    json.len()
}

/// Path of the tokens of a frame.
#[derive(Debug, Default)]
struct PathReader {
    /// Containers around the token, outermost first.
    containers: Vec<Container>,
}

/// An open object or array.
#[derive(Debug)]
struct Container {
    /// Hash of the path to its current element.
    path: u64,
    /// Hash of the path to it.
    start: u64,
    kind: ContainerKind,
}

#[derive(Debug)]
enum ContainerKind {
    Object { role: ScalarRole, expects: Expected },
    Array { index: usize },
}

/// Next string of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Name,
    Value,
}

/// A scalar that was read.
struct ReadScalar {
    path: u64,
    role: ScalarRole,
}

impl ReadScalar {
    fn to_frame_scalar(&self, token: &[u8]) -> FrameScalar {
        let role = match self.role {
            ScalarRole::Other if token.starts_with(b"\"") => ScalarRole::Text,
            role => role,
        };
        FrameScalar { hash: hash_of(self.path, token), role }
    }
}

impl PathReader {
    /// Reads a token; returns it if it is a scalar value.
    fn push_token(&mut self, token: &[u8]) -> Option<ReadScalar> {
        let path = self.containers.last().map_or(0, |container| container.path);
        match token {
            b"{" => {
                let kind =
                    ContainerKind::Object { role: ScalarRole::Other, expects: Expected::Name };
                self.containers.push(Container { path, start: path, kind });
            }
            b"[" => {
                let first = hash_of(path, b"0");
                let kind = ContainerKind::Array { index: 0 };
                self.containers.push(Container { path: first, start: path, kind });
            }
            b"}" | b"]" => {
                self.containers.pop();
            }
            b":" => {}
            b"," => self.advance_container(),
            _ if token.trim_ascii().is_empty() => {}
            _ => return self.push_scalar(token),
        }
        None
    }

    /// Goes on to the next element of the innermost container.
    fn advance_container(&mut self) {
        let Some(container) = self.containers.last_mut() else { return };
        match &mut container.kind {
            ContainerKind::Object { expects, .. } => *expects = Expected::Name,
            ContainerKind::Array { index } => {
                *index += 1;
                container.path = hash_of(container.start, index.to_string().as_bytes());
            }
        }
    }

    /// Reads the name of a member, or a value, which is returned.
    fn push_scalar(&mut self, token: &[u8]) -> Option<ReadScalar> {
        let Some(container) = self.containers.last_mut() else {
            return Some(ReadScalar { path: 0, role: ScalarRole::Other });
        };
        let role = match &mut container.kind {
            ContainerKind::Object { role, expects } if *expects == Expected::Name => {
                *expects = Expected::Value;
                *role = name_role(token);
                container.path = hash_of(container.start, token);
                return None;
            }
            ContainerKind::Object { role, .. } => *role,
            ContainerKind::Array { .. } => ScalarRole::Other,
        };
        Some(ReadScalar { path: container.path, role })
    }
}

/// Role of the members with this quoted name.
fn name_role(name: &[u8]) -> ScalarRole {
    let name = name.to_ascii_lowercase();
    if [&b"id\""[..], b"index\"", b"\"ts\""].iter().any(|end| name.ends_with(end)) {
        ScalarRole::Identity
    } else {
        ScalarRole::Other
    }
}

fn hash_of(path: u64, token: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, token).hash(&mut hasher);
    hasher.finish()
}
