"""Measures under the names that other tools have for them.

A text of ours always has our definition. What is not ours is read as trec_eval's name if it is one; with a prefix
(``ranx:ndcg@10-l2``) it is read as that tool reads it. Either way one of our measures comes out. None of this is loaded
for our own names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module

from gainful.errors import UsageError
from gainful.measures.translations.translation import Setting, Translation
from gainful.notation import nearest

__all__ = ["TOOLS", "Setting", "Translation", "translate"]

#: The tools whose names are known, and the function that reads them: (the name, the text as it was given).
TOOLS: Mapping[str, str] = {
    "trec_eval": "trec_eval.translate",
    "pytrec_eval": "trec_eval.translate_as_pytrec_eval",
    "ir_measures": "ir_measures.translate",
    "ranx": "ranx.translate",
}

_PREFIXED = re.compile(r"\s*(?P<tool>[A-Za-z][\w.+-]*)\s*:\s*(?P<name>.*?)\s*", re.DOTALL)


def translate(text: str) -> Translation | None:
    """What another tool's name means here; None for a text without prefix that is no name of trec_eval's.

    >>> translate("ranx:ndcg@10-l2").measures, translate("P.5,10").measures
    ((nDCG(rel=2)@10,), (P@5, P@10))
    """
    match = _PREFIXED.fullmatch(text)
    if match is None:
        from gainful.measures.translations.trec_eval import translate_without_prefix

        return translate_without_prefix(text.strip())
    if match["tool"] not in TOOLS:
        raise UsageError(
            f"measure: expected {': | '.join(TOOLS)}: before another tool's name, found '{text.strip()}'",
            nearest(match["tool"], TOOLS),
        )
    if not match["name"]:
        raise UsageError(f"{match['tool']}: expected a name of a measure after the colon, found nothing")
    module, _, function = TOOLS[match["tool"]].partition(".")
    read: Callable[[str, str], Translation] = getattr(import_module(f"{__name__}.{module}"), function)
    return read(match["name"], text.strip())
