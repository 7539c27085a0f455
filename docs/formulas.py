"""Typeset the formulas of measures as MathML, which browsers draw without a script or a font of their own.

Docstrings have them as text: `ERR = sum over ranks i of 1/i * S[i]`. Words are prose and single letters are variables.
Operators are surrounded by blanks; without blanks, `/` and `*` bind more tightly.
"""

from __future__ import annotations

import re
from html import escape

#: A word or a variable; an article is read with the next word.
_NAME = r"(?:a (?=[a-z-]{2}))?[^\W\d][\w@#']*(?:[-.][\w@#]+)*(?:[+-](?=[ )]|$))?"
_TOKEN = re.compile(rf", divided by | (?:<=|>=|[-+*/=<>]) |[,;] |\.\.\.|\d*\.?\d+|{_NAME}|\S| +")
#: Operators between blanks, the loosest first.
_LEVELS = ((" = ", ", ", "; "), (", divided by ",), (" + ", " - "), (" * ", " / "))
_SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "-": "−", "...": "…", "alpha": "α", "beta": "β", "gamma": "γ"}
_BLANK = '<mspace width="0.28em"/>'
_FENCE = '<mo fence="true" lspace="0" rspace="0">%s</mo>'


def typeset(text: str) -> str:
    """The lines of a formula as display math; a line without an equals sign continues the one before."""
    joined = re.sub(r"\n *([^=\n]+)(?=\n|$)", r" \1", text.strip())
    parts = [part for line in joined.splitlines() for part in re.split(r" {3,}", line.strip())]
    return "\n".join(f'<math display="block">{_Formula(part).read()}</math>' for part in parts)


class _Formula:
    """Reads the tokens of one formula; each method returns one element of MathML."""

    def __init__(self, text: str) -> None:
        self.tokens = [*_TOKEN.findall(text), ""]
        self.in_parentheses: dict[str, str] = {}

    def read(self, level: int = 0) -> str:
        """Read a chain of operators of one level and their operands."""
        if level == len(_LEVELS):
            return self._factors()
        left = self.read(level + 1)
        while self.tokens[0] in _LEVELS[level]:
            left = self._joined(left, self.tokens.pop(0), self.read(level + 1))
        return left

    def _joined(self, left: str, sign: str, right: str) -> str:
        is_fraction = sign in ("/", " / ", ", divided by ")
        return (
            f"<mfrac>{self._bare(left)}{self._bare(right)}</mfrac>" if is_fraction else _row([left, _sign(sign), right])
        )

    def _bare(self, element: str) -> str:
        return self.in_parentheses.get(element, element)

    def _factors(self) -> str:
        """Words and factors side by side, and comparisons among them."""
        pieces, ends = [], ("", ")", "]", *sum(_LEVELS, ()))
        while self.tokens[0] not in ends and (self.tokens[0] != "|" or not pieces or pieces[-1] == _BLANK):
            if self.tokens[0] in ("sum", "mean") and self.tokens[2] == "over":
                pieces += [self._over(), _BLANK, self.read(len(_LEVELS) - 1)]
            elif self.tokens[0].strip() in ("<", ">", "<=", ">=", "-", "=", "!", ""):
                pieces.append(_sign(self.tokens.pop(0)))
            else:
                pieces.append(self._factor())
        return _row(pieces)

    def _over(self) -> str:
        """Read a sum or mean with its index set below. The term is the first symbol after "of", if there is one: in
        "sum over ranks i of judged documents of p^i" the term is p^i."""
        ends = [i for i, token in enumerate(self.tokens) if token == "of" and i > 3]
        end = next((i for i in ends if not re.fullmatch("[a-z-]{2,}", self.tokens[i + 2])), ends[0])
        sign = "∑" if self.tokens[0] == "sum" else self.tokens[0]
        below = "".join(self.tokens[4 : end - 1])
        del self.tokens[: end + 2]
        return f"<munder>{_sign(sign)}{_Formula(below).read()}</munder>"

    def _factor(self) -> str:
        token = self.tokens.pop(0)
        if token in ("(", "[", "|"):
            inner = self.read()
            result = f"<mrow>{_FENCE % token}{inner}{_FENCE % self.tokens.pop(0)}</mrow>"
            self.in_parentheses[result] = inner if token == "(" else result
        else:
            result = _name(token)
        while self.tokens[0] in ("(", "[", "^", "/", "*"):
            if self.tokens[0] in "([":
                inside = self._factor()
                result = f"<msqrt>{self._bare(inside)}</msqrt>" if token == "sqrt" else _row([result, inside])
            elif self.tokens[0] == "^":
                self.tokens.pop(0)
                result = f"<msup>{result}{self._bare(self._factor())}</msup>"
            else:
                result = self._joined(result, self.tokens.pop(0), self._factor())
        return result


def _row(pieces: list[str]) -> str:
    return pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>"


def _sign(token: str) -> str:
    sign = token.strip()
    element = f"<mo>{escape(_SIGNS.get(sign, sign))}</mo>" if sign else ""
    return element + (_BLANK if sign in ("", ",", ";") else "")


def _name(token: str) -> str:
    """A number, a variable, perhaps with an index or a cutoff, or a word."""
    if re.fullmatch(r"[\d.]+", token):
        return f"<mn>{_SIGNS.get(token, token)}</mn>"
    indexed = re.fullmatch(r"(log|[a-zA-Z])(\d|[+-])|(log|[a-z])_(\w+)", token)
    if indexed:
        base, index = (each for each in indexed.groups() if each)
        kind = "msup" if index in "+-" else "msub"
        return f"<{kind}>{_name(base)}<mi>{_SIGNS.get(index, index)}</mi></{kind}>"
    measure, at, cutoff = token.partition("@")
    return _row([f"<mi>{measure}@</mi>", _name(cutoff)]) if at else f"<mi>{escape(_SIGNS.get(token, token))}</mi>"
