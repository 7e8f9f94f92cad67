"""Prints, for each test set, the accuracy of each splitter.

A boundary is a number of characters, white space aside: so much text stands before it. Ends of
paragraphs are no boundaries, as every splitter is given one paragraph at a time.
"""
import argparse
import json
import subprocess
import warnings

from sets import read_sets

warnings.simplefilter("ignore")


def split_millpond(program):
    def split(language_texts):
        lines = "".join(json.dumps(text) + "\n" for _, text in language_texts)
        out = subprocess.run([program], input=lines.encode(), stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in out.stdout.splitlines()]

    return split


def split_pysbd(language_texts):
    import pysbd
    from pysbd.languages import LANGUAGE_CODES

    near = {"cs": "sk", "uk": "ru", "ca": "es", "ast": "es", "pt": "es", "ro": "it", "sv": "da"}
    segmenters = {}
    for language, text in language_texts:
        language = near.get(language, language)
        language = language if language in LANGUAGE_CODES else "en"
        if language not in segmenters:
            segmenters[language] = pysbd.Segmenter(language=language, clean=False)
        yield segmenters[language].segment(text)


def split_sentencex(language_texts):
    import sentencex

    for language, text in language_texts:
        yield list(sentencex.segment(language, text))


def split_syntok(language_texts):
    from syntok import segmenter

    for _, text in language_texts:
        yield [
            "".join(token.spacing + token.value for token in sentence)
            for paragraph in segmenter.analyze(text)
            for sentence in paragraph
        ]


def boundaries(pieces):
    """Boundaries between `pieces`."""
    found, at = set(), 0
    for piece in pieces:
        at += len("".join(piece.split()))
        found.add(at)
    return found - {0, at}


def measure(test_set, found):
    """F1 of the boundaries, or the share of texts without a wrong one, as a percentage."""
    right = wrong = missed = whole = 0
    for (_, sentences), pieces in zip(test_set.texts, found):
        expected, got = boundaries(sentences), boundaries(pieces)
        right += len(expected & got)
        wrong += len(got - expected)
        missed += len(expected - got)
        whole += expected == got
    if test_set.measure == "cases":
        return 100 * whole / len(test_set.texts)
    return 100 * 2 * right / max(1, 2 * right + wrong + missed)


def print_errors(test_set, found):
    """Prints the text around each wrong (`+`) and missed (`-`) boundary."""
    for (_, sentences), pieces in zip(test_set.texts, found):
        expected, got = boundaries(sentences), boundaries(pieces)
        text = "".join(sentences)
        ends, count = {}, 0
        for at, c in enumerate(text):
            if not c.isspace():
                count += 1
                ends[count] = at + 1
        for end in sorted(expected ^ got):
            at = ends.get(end, 0)
            sign = "+" if end in got else "-"
            before, after = text[max(0, at - 60) : at], text[at : at + 40]
            print(f"{sign} {test_set.name}: {before}¦{after}".replace("\n", "⏎"))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("folder")
    arguments.add_argument("--only", help="one splitter")
    arguments.add_argument("--errors", action="store_true", help="print each wrong boundary")
    arguments = arguments.parse_args()
    splitters = {
        "millpond": split_millpond(arguments.program),
        "pysbd": split_pysbd,
        "sentencex": split_sentencex,
        "syntok": split_syntok,
    }
    names = [arguments.only] if arguments.only else list(splitters)
    print(f"{'set':28}{'texts':>6}" + "".join(f"{name:>11}" for name in names))
    for test_set in read_sets(arguments.folder):
        language_texts = [(language, "".join(each)) for language, each in test_set.texts]
        row = f"{test_set.name:28}{len(language_texts):6}"
        for name in names:
            found = list(splitters[name](language_texts))
            row += f"{measure(test_set, found):11.1f}"
            if arguments.errors:
                print_errors(test_set, found)
        print(row, flush=True)


if __name__ == "__main__":
    main()
