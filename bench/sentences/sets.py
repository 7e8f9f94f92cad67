"""Reads the test sets: each is a list of texts, and each text is the list of its sentences with
the white space after them."""
import ast
import re
from dataclasses import dataclass
from pathlib import Path

# Sets without paragraphs are cut into paragraphs of as many sentences.
PARAGRAPH_SENTENCES = 10


@dataclass
class TestSet:
    name: str
    measure: str  # "boundaries" or "cases"
    texts: list  # of (language, sentences)


def read_sets(folder):
    folder = Path(folder)
    sets = [read_conllu(path) for path in sorted(folder.rglob("*.conllu"))]
    java = sorted(folder.rglob("*SentenceTokenizerTest.java"))
    if java:
        cases = [case for path in java for case in read_java(path)]
        sets.append(TestSet("LanguageTool", "cases", cases))
    for path in sorted(folder.rglob("segmenter_test.py")):
        sets.append(TestSet("syntok", "boundaries", [("en", read_syntok(path))]))
    return sets


def read_conllu(path):
    """Sentences of Universal Dependencies, joined as `SpaceAfter` and `newpar` say."""
    paragraphs, sentences, docs, count, starts = [], [], 0, 0, False
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        text = next(line[len("# text = ") :] for line in lines if line.startswith("# text = "))
        docs += any(line.startswith("# newdoc") for line in lines)
        starts = any(re.match("# new(doc|par)", line) for line in lines)
        # "Newpar" among the fields of a word: the paragraph ends inside the sentence, which is
        # rare, so it is ignored.
        if starts and sentences:
            paragraphs.append(sentences)
            sentences = []
        last = [line.split("\t") for line in lines if re.match(r"\d+(-\d+)?\t", line)][-1]
        space = "" if "SpaceAfter=No" in last[9].split("|") else " "
        sentences.append(text.strip() + space)
        count += 1
    paragraphs.append(sentences)
    if docs in (0, count):
        every = [sentence for paragraph in paragraphs for sentence in paragraph]
        starts = range(0, len(every), PARAGRAPH_SENTENCES)
        paragraphs = [every[at : at + PARAGRAPH_SENTENCES] for at in starts]
    language = path.name[:2]
    return TestSet(path.stem, "boundaries", [(language, each) for each in paragraphs])


LANGUAGES = {
    "Arabic": "ar", "Asturian": "ast", "Catalan": "ca", "Chinese": "zh", "CrimeanTatar": "crh",
    "Danish": "da", "Dutch": "nl", "English": "en", "French": "fr", "German": "de",
    "Italian": "it", "Japanese": "ja", "Lithuanian": "lt", "Malayalam": "ml", "Persian": "fa",
    "Polish": "pl", "Portuguese": "pt", "Romanian": "ro", "Russian": "ru", "Serbian": "sr",
    "Simple": "en", "Slovak": "sk", "Spanish": "es", "Swedish": "sv", "Tagalog": "tl",
    "Ukrainian": "uk", "SRX": "en",
}  # fmt: skip

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_java(path):
    """Arguments of `testSplit(...)`, whose pieces are joined to make the text."""
    name = re.match("(SRX|[A-Z][a-z]+(?:Tatar)?)", path.name)[1]
    language = LANGUAGES.get(name, "en")
    source = path.read_text(encoding="utf-8")
    source = re.sub(r"^\s*//.*$|^\s*\*.*$", "", source, flags=re.MULTILINE)
    for call in re.finditer(r"\btestSplit\s*\(", source):
        pieces = read_arguments(source, call.end())
        if pieces:
            yield language, [with_space(piece) for piece in pieces[:-1]] + pieces[-1:]


def read_arguments(source, at):
    """String arguments from `at` to the closing bracket; strings joined by `+` are one."""
    pieces, joined = [], False
    while at < len(source) and source[at] != ")":
        string = STRING.match(source, at)
        if string:
            text = unescape(string[1])
            pieces[-1:] = [pieces[-1] + text] if joined else pieces[-1:] + [text]
            joined, at = False, string.end()
            continue
        if source[at] == "+":
            joined = True
        elif not source[at].isspace() and source[at] != ",":
            if not source.startswith("new String[]", at):
                return []  # not a call with literals
            at = source.index("{", at)
        at += 1
    return pieces


def unescape(text):
    return ast.literal_eval('"' + text.replace("\\'", "'") + '"')


def with_space(piece):
    """LanguageTool also splits "One.Two."; a space is put where the test has none."""
    return piece if piece[-1:].isspace() or piece[-1:] > "\u2fff" else piece + " "


def read_syntok(path):
    """The text of syntok's main test: one sentence per line, joined by spaces."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "OSPL":
            return [line + " " for line in ast.literal_eval(node.value).split("\n")]
    return []
