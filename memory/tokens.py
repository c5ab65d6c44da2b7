"""Text to index terms, and text to a count of tokens: one rule for the whole memory."""

import re

import Stemmer
from bm25s.stopwords import STOPWORDS_EN

__all__ = ["count_tokens", "tokenize"]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TERM = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]{{2,}}")
_IS_CJK = re.compile(rf"[{_CJK}]")
_PIECE = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_STOP_WORDS = frozenset(STOPWORDS_EN)
_stemmer = Stemmer.Stemmer("english")


def tokenize(text: str) -> list[str]:
    """Split text into index terms: lower-case words of two letters or more, without English stop words, stemmed.

    Scripts that are written without spaces (Chinese, Japanese, Korean) give their characters and pairs of characters.

    Example:
        >>> tokenize("She was hiking in the hills!")
        ['she', 'hike', 'hill']
        >>> tokenize("\u6444\u5f71")
        ['\u6444', '\u5f71', '\u6444\u5f71']
    """
    terms: list[str] = []
    words: list[str] = []
    for term in _TERM.findall(text.lower()):
        if _IS_CJK.match(term):
            terms += [*term, *(term[at : at + 2] for at in range(len(term) - 1))]
        elif term not in _STOP_WORDS:
            words.append(term)
    stemmed: list[str] = _stemmer.stemWords(words)
    return stemmed + terms


def count_tokens(text: str) -> int:
    """The cost of a text in tokens: its words, punctuation marks and CJK characters.

    A language model's own count is larger where it cuts words into pieces.

    Example:
        >>> count_tokens("Ada: we met, at noon.")
        8
    """
    return len(_PIECE.findall(text))
