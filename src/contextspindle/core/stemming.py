"""Stems of English words, by the algorithm of M. F. Porter ("for suffix stripping", 1980).

A word and its inflections share a stem ("deploying", "deployed": "deploy"), so that a question
finds an answer in other words.  Other languages, and words with digits, are left as they are.
"""

from __future__ import annotations

_VOWELS = frozenset("aeiou")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_ENDS_2, _ENDS_3 = tuple(_STEP_2), tuple(_STEP_3)
_STEP_4 = tuple(
    "ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou".split()
)
_ENDS = ("s", "ed", "ing", "y", "e", "ll", *_STEP_2, *_STEP_3, *_STEP_4)
"""What a word ends with that is not its own stem already."""


def stem(word: str) -> str:
    """The stem of a lower-case word: itself, unless it is three or more of the letters a to z."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    if not word.endswith(_ENDS):
        return word
    word = _plurals(word)
    word = _past(word)
    if word[-1] == "y" and _has_vowel(word, len(word) - 1):
        word = word[:-1] + "i"
    word = _mapped(word, _STEP_2, _ENDS_2)
    word = _mapped(word, _STEP_3, _ENDS_3)
    word = _last_suffix(word)
    if word[-1] == "e":
        measure = _measure(word, len(word) - 1)
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word, len(word) - 1) > 1:
        word = word[:-1]
    return word


def _plurals(word: str) -> str:
    if word[-1] != "s":
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word, len(word) - 3) > 0 else word
    for suffix in ("ed", "ing"):
        end = len(word) - len(suffix)
        if word.endswith(suffix) and _has_vowel(word, end):
            return _mended(word[:end])
    return word


def _mended(word: str) -> str:
    """What an "ed" or "ing" was taken from, with the ending that it had before."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "lsz" and _consonant(word, -1):
        return word[:-1]
    if _measure(word, len(word)) == 1 and _ends_short(word):
        return word + "e"
    return word


def _mapped(word: str, suffixes: dict[str, str], all_of_them: tuple[str, ...]) -> str:
    if not word.endswith(all_of_them):
        return word
    for size in (7, 6, 5, 4, 3):
        replacement = suffixes.get(word[-size:]) if len(word) > size else None
        if replacement is not None:
            end = len(word) - size
            return word[:end] + replacement if _measure(word, end) > 0 else word
    return word


def _last_suffix(word: str) -> str:
    if not word.endswith(_STEP_4):
        return word
    for suffix in _STEP_4:
        if word.endswith(suffix):
            end = len(word) - len(suffix)
            if suffix == "ion" and word[end - 1 : end] not in ("s", "t"):
                return word
            return word[:end] if _measure(word, end) > 1 else word
    return word


def _consonant(word: str, at: int) -> bool:
    char = word[at]
    if char in _VOWELS:
        return False
    if char != "y":
        return True
    at %= len(word)
    return at == 0 or not _consonant(word, at - 1)


def _has_vowel(word: str, end: int) -> bool:
    return any(not _consonant(word, at) for at in range(end))


def _measure(word: str, end: int) -> int:
    """How often a consonant follows a vowel before ``end``: Porter's m."""
    count = 0
    before = word[:1] in _VOWELS  # a "y" that begins a word is a consonant
    for char in word[1:end]:
        vowel = char in _VOWELS or (char == "y" and not before)
        if before and not vowel:
            count += 1
        before = vowel
    return count


def _ends_short(word: str) -> bool:
    """Whether the word ends consonant, vowel, consonant, the last one no w, x or y."""
    return (
        len(word) > 2
        and _consonant(word, len(word) - 3)
        and not _consonant(word, len(word) - 2)
        and _consonant(word, len(word) - 1)
        and word[-1] not in "wxy"
    )
