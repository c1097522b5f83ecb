"""Whether a memory is sound, and a fresh one made of what can still be read of a damaged one."""

from __future__ import annotations

import os

from ..core.memory import FULL, GIST, Item, Note, Rebuilt, entry_of
from ..core.terms import Lexicon, wordless
from ..core.text import size
from ..core.value import Value
from ..errors import MemoryNotFound, SchemaTooNew, SpindleError
from . import private
from .driver import driver
from .lock import Lock
from .memory import MemoryStore, clear, make
from .memory_pages import BUCKETS, GRAMS, WORDS, mark
from .memory_read import MISREAD, MemoryRead, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def findings(store: MemoryStore) -> list[str]:
    """What is wrong with a memory; empty if all of it fits together.  Nothing is written.

    SchemaTooNew, MemoryNotFound: there is nothing to say of a file that cannot be looked at.
    """
    found: list[str] = []
    try:
        with store.read() as txn:
            found += _of_pages(txn)
            found += _of_items(txn)
    except SpindleError as error:
        if isinstance(error, (MemoryNotFound, SchemaTooNew)) or error.exit_status != 7:
            raise
        found.append(error.message)
    return found


def _of_pages(txn: MemoryRead) -> Iterator[str]:
    for (line,) in txn.connection.execute("PRAGMA quick_check(10)").fetchall():
        if line != "ok":
            yield f"database: {line}"
    for key, data, kept in txn.connection.execute("SELECT key, data, mark FROM pages"):
        if type(data) is not bytes or mark(key, data) != kept:
            yield f"page {key:x} is damaged"
    (pages,) = txn.connection.execute(
        "SELECT count(*) FROM pages WHERE key BETWEEN ? AND ? OR key BETWEEN ? AND ?",
        (WORDS, WORDS + BUCKETS - 1, GRAMS, GRAMS + BUCKETS - 1),
    ).fetchone()
    if pages != 2 * BUCKETS:
        yield f"the dictionaries have {pages} pages instead of {2 * BUCKETS}"


def _of_items(txn: MemoryRead) -> Iterator[str]:
    items = gists = pinned = bytes_ = terms = 0
    records = txn.records()
    lexicon = Lexicon()
    for item in txn.everything():
        items += 1
        gists += item.tier != FULL
        pinned += item.pinned
        bytes_ += size(item.text)
        entry = entry_of(item, lexicon)
        terms += entry.length
        if records[item.slot][0] != item.seq:
            yield f"{item.id}: its slot is another's"
        for term, places in entry.terms.items():
            here = [one & 0xFFFFFF for one in txn.postings(term) if one >> 24 == item.slot]
            if sorted(here) != sorted(places) and not (
                term == wordless(item.text) and _was_found_by_nothing(txn, item)
            ):
                yield f"{item.id}: the index does not find it by {term!r}"
                break
    state = txn.state
    names = ("items", "gists", "pinned", "bytes", "terms")
    for name, counted in zip(names, (items, gists, pinned, bytes_, terms)):
        if state[name] != counted:
            yield f"{name}: {counted} were found, {state[name]} are recorded"


def _was_found_by_nothing(txn: MemoryRead, item: Item) -> bool:
    """Whether a version wrote a text without a word that did not make it findable."""
    from ..core import canon

    (entry,) = txn.connection.execute(
        "SELECT entry FROM items WHERE seq = ?", (item.seq,)
    ).fetchone()
    return wordless(item.text) not in canon.decode(entry)["terms"]


def rebuild(store: MemoryStore) -> Rebuilt:
    """A fresh memory with what could be read of the present one, which is kept aside.

    MemoryNotFound if there is none.  Items keep their ids; what the index said is made anew.
    """
    path = store.path
    private.refuse_link(path)
    folder = os.path.dirname(path)
    if not os.path.lexists(path):
        raise store.absent()
    with Lock(path + ".lock"):
        _refuse_newer(store)
        found = _salvaged(path)
        fresh = path + ".new"
        try:
            make(fresh, folder, store.wanted_journal)
            kept = _fill(fresh, found)
            if kept:
                raise kept
            aside = _aside(path)
            store.close()
            try:
                os.link(path, aside)
            except OSError:
                os.rename(path, aside)  # a file system without hard links
            for tail in ("-wal", "-shm", "-journal"):
                if os.path.exists(path + tail):
                    os.rename(path + tail, aside + tail)
            os.rename(fresh, path)
        except driver.Error as error:
            raise said(error, path) from error
        except OSError as error:
            raise private.translated(error, path) from error
        finally:
            clear(fresh, surely=False)
        private.sync_folder(folder)
    return Rebuilt(len(found.items), found.lost, aside)


def _refuse_newer(store: MemoryStore) -> None:
    """SchemaTooNew for a sound file of a newer program: it is not for us to take apart."""
    try:
        with store.read():
            return
    except SchemaTooNew:
        raise
    except SpindleError:
        return


class _Salvaged(Value):
    """What of a memory is as it was written."""

    items: list[dict[str, Any]]
    """In their order."""
    prints: dict[int, str]
    """By the number of a gist, the fingerprint of the text that it was made of."""
    taken: set[int]
    lost: int
    """Items that are not."""
    state: dict[str, Any]


def _salvaged(path: str) -> _Salvaged:
    from ..core import canon

    found: dict[int, dict[str, Any]] = {}
    taken: set[int] = set()
    state: dict[str, Any] = {}
    lost = 0
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        db = driver.connect(f"file:{name}?mode=ro", uri=True, isolation_level=None)
    except driver.Error:
        return _Salvaged([], {}, set(), 0, {})
    try:
        for which in ("ASC", "DESC"):
            # From both ends: a page that cannot be read ends the walk.
            try:
                rows = db.execute(
                    f"SELECT seq, data, mark FROM items ORDER BY seq {which}"  # noqa: S608
                )
                for seq, data, kept in rows:
                    if type(data) is bytes and mark(seq, data) == kept:
                        found[seq] = canon.decode(data)
                    elif which == "ASC":
                        lost += 1
            except (driver.Error, *MISREAD):
                lost += which == "ASC"
            try:
                sql = f"SELECT mark FROM taken ORDER BY mark {which}"  # noqa: S608 (one of two words)
                marks = db.execute(sql)
                taken.update(one for (one,) in marks)
            except driver.Error:
                continue
        # Apart from the items: what an entry needs of the file may be damaged where they are not.
        prints = {
            seq: _print_of(db, seq) for seq, document in found.items() if document["tier"] == GIST
        }
        try:
            data, kept = db.execute("SELECT data, mark FROM state").fetchone()
            if mark(0, data) == kept:
                state = canon.decode(data)
        except (driver.Error, *MISREAD):
            state = {}
    finally:
        db.close()
    if state:
        lost = max(state["items"] - len(found), 0)
    return _Salvaged([found[seq] for seq in sorted(found)], prints, taken, lost, state)


def _print_of(db: driver.Connection, seq: int) -> str:
    """The fingerprint that stands in the index for an item; empty if it cannot be read."""
    from ..core import canon

    try:
        row = db.execute("SELECT entry, entry_mark FROM items WHERE seq = ?", (seq,)).fetchone()
        sound = type(row[0]) is bytes and mark(seq, row[0]) == row[1]
        return str(canon.decode(row[0])["print"]) if sound else ""
    except (driver.Error, *MISREAD):
        return ""


def _fill(path: str, found: _Salvaged) -> Exception | None:
    from ..core.memory import item_of

    store = MemoryStore(path)
    try:
        with store.write() as txn:
            for row in found.items:
                item: Item = item_of(row)
                note = Note(
                    item.text, item.by, item.at, item.session, item.source, item.labels, item.key,
                    item.pinned,
                )  # fmt: skip
                txn.state["next"] = item.seq
                # The print of a gist is that of the whole, which is told from it no more.
                whole = found.prints.get(item.seq, "") if item.tier == GIST else ""
                added = txn.add(note, item.last, whole)
                txn.restore(added, item)
            for one in sorted(found.taken):
                txn.take(one)
            txn.state["next"] = max(txn.state["next"], found.state.get("next", 1))
            for name in ("seen", "merged", "shrunk", "dropped"):
                txn.state[name] = max(txn.state[name], found.state.get(name, 0))
        txn.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (driver.Error, SpindleError) as error:
        return error
    finally:
        store.close()
        for tail in ("-wal", "-shm", ".lock"):
            if os.path.lexists(path + tail):
                os.unlink(path + tail)
    return None


def _aside(path: str) -> str:
    stem = path.removesuffix(".sqlite3")
    number = 1
    while os.path.lexists(f"{stem}.kept-{number}.sqlite3"):
        number += 1
    return f"{stem}.kept-{number}.sqlite3"
