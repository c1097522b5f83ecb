"""Private keys: blocks of base64 between two rules, whole or with an end cut away.

Their lines may be quoted, indented, escaped, or have something before them: the sign of a
difference, the number of a line, the name of a file.
"""

from __future__ import annotations

from .secret_forms import BASE64, DIGITS, SHORTEST, UPPER, is_random, places, run, run_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .secret_forms import Span

_BEGIN, _END, _RULE = "-----BEGIN ", "-----END ", "-----"
_HEADERS = ("Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Charset:", "Hash:")
_BETWEEN = " \t\r\n\"'+,|>"
_HEAD = 6  # lines of headers at most
_BLOCK = 64_000  # the most characters of a key block
_FULL = 40  # characters of a line of it that is not its last one, at least
_LINE = 200  # the most characters of a line of it
_ESCAPED = ("\\n", "\\r", "\\t")


def key_blocks(text: str) -> Iterator[Span]:
    """Private keys with their frame: whole, or with the one end of it that was not cut away."""
    if "Private-Lines:" in text:
        yield from _putty_lines(text)
    if "PRIVATE KEY" not in text:
        return
    done = 0
    closed = -1  # the next end of a frame, looked for once
    ends = set()  # those of whole blocks
    begins = [*places(text, _BEGIN)]
    for at, behind in zip(begins, [*begins[1:], len(text)]):
        opened = _end_of_frame(text, at + len(_BEGIN))
        if at < done or "PRIVATE KEY" not in text[at:opened]:
            continue
        if closed < opened:
            closed = text.find(_END, opened)
            closed = closed if closed >= 0 else len(text)
        if closed < behind and closed - opened < _BLOCK:
            ends.add(closed)
            done = _end_of_frame(text, closed + len(_END))
            if _has_key(text[opened:closed]):
                yield at, done
            continue
        end = _key_end(text, opened, behind)
        if end > opened:  # else the frame is only spoken of
            done = end
            yield at, end
    done = 0
    for at in places(text, _END):
        closed = _end_of_frame(text, at + len(_END))
        if at not in ends and "PRIVATE KEY" in text[at:closed]:
            start = _key_start(text, at, done)
            if start < at:
                yield start, closed
        done = closed


def _end_of_frame(text: str, at: int) -> int:
    closed = text.find(_RULE, at, at + 50)
    return closed + len(_RULE) if closed >= 0 else at


def _has_key(body: str) -> bool:
    for escaped in _ESCAPED:
        body = body.replace(escaped, " ")
    for word in body.split():
        bare = word.strip(_BETWEEN + "\\")
        if len(bare) >= 6 and is_random(bare) and not bare.strip(BASE64):
            return True
        # Behind the number of a line, a file's name, a sign of a difference.
        apart = "".join(c if c in BASE64 else " " for c in bare[:_LINE])
        if any(len(one) >= SHORTEST and _is_of_key(one) for one in apart.split()):
            return True
    return False


def _is_of_key(run: str) -> bool:
    return all(any(c in some for c in run) for some in (DIGITS, UPPER, UPPER.lower()))


def _key_end(text: str, at: int, limit: int) -> int:
    """Where the lines of base64 that begin at ``at`` end, however they are broken; else ``at``."""
    return max(_plain_end(text, at), _marked_end(text, at, min(limit, at + _BLOCK)))


def _key_start(text: str, at: int, limit: int) -> int:
    """Where the lines of base64 that end before ``at`` begin; else ``at``."""
    return min(_plain_start(text, at), _marked_start(text, at, max(limit, at - _BLOCK)))


def _parts(line: str) -> tuple[str, int, int]:
    """What stands before the base64 at the end of ``line``, but for its digits and blanks; where
    that ends; and how long it is.  Nothing before it, if words stand there."""
    bare = line.rstrip(_BETWEEN)
    start = run_back(bare, len(bare), BASE64, 4_096)
    mark = "".join(c for c in bare[:start] if c not in DIGITS + " \t")
    last = bare[start:]
    if " " in bare[:start].strip() or (len(last) >= _FULL and not _is_of_key(last)):
        mark = ""
    return mark, len(bare), len(last)


def _marked_end(text: str, at: int, limit: int) -> int:
    """The same of lines that all have the same before the base64, but for numbers."""
    end, here, mark = at, at, ""
    for number, line in enumerate(text[at:limit].replace("\\n", "\n ").split("\n")):
        before, here = here, here + len(line) + 1
        if not number or any(header in line for header in _HEADERS):
            continue
        found, length, long = _parts(line)
        if end == at and long < _FULL and number < _HEAD:
            continue  # the empty line behind the headers
        if not found or (end == at and long < _FULL) or (end > at and found != mark):
            break
        mark, end = found, before + length
        if long < _FULL:
            break  # a short last line
    return end


def _marked_start(text: str, at: int, limit: int) -> int:
    """The same of such lines that end before ``at``."""
    lines = text[limit:at].replace("\\n", "\n ").split("\n")
    start, here, mark = at, at - len(lines.pop()) - 1, ""
    for number, line in enumerate(reversed(lines)):
        found, _, long = _parts(line)
        if not found or (number and (found != mark or long < _FULL)):
            break
        mark = found
        here -= len(line)
        start = here if long >= _FULL else start
        here -= 1
    return start


def _plain_end(text: str, at: int) -> int:
    end = here = at
    while here - at < _BLOCK:
        start = here
        while start < len(text):
            if text[start] in _BETWEEN:
                start += 1
            elif text.startswith(_ESCAPED, start):
                start += 2
            else:
                break
        stop = run(text, start, BASE64, 4_096)
        if stop - start >= SHORTEST:
            end = here = stop
        elif end == at and text.startswith(_HEADERS, start):
            ends = (text.find("\n", start), text.find("\\n", start))
            here = min((one for one in ends if one >= 0), default=len(text))
        else:
            broken = "\n" in text[here:start] or "\\n" in text[here:start]
            if end > at and broken and text[stop : stop + 1] in ("", "\n", "\r", "\\", '"', "'"):
                end = stop  # a short last line
            break
    return end


def _plain_start(text: str, at: int) -> int:
    start = here = at
    while at - here < _BLOCK:
        stop = here
        while stop > 0:
            if text[stop - 1] in _BETWEEN:
                stop -= 1
            elif text.startswith(_ESCAPED, stop - 2):
                stop -= 2
            else:
                break
        begin = run_back(text, stop, BASE64, 4_096)
        if text.startswith(_ESCAPED, begin - 1):  # the letter of an escape is none of the key
            begin += 1
        short = here == at and stop > begin  # the last line of a block may be short
        if stop - begin < SHORTEST and not short:
            break
        if stop - begin >= SHORTEST:
            start = begin
        here = begin
    return start


def _putty_lines(text: str) -> Iterator[Span]:
    for at in places(text, "Private-Lines:"):
        start = run(text, at + len("Private-Lines:"), DIGITS + " ", 8)
        end = _plain_end(text, start)
        if end > start:
            yield start, end
