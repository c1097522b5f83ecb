"""Files are whole from the moment that they appear, whatever lies beside them."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from contextspindle.store.backup import back_up
from contextspindle.store.private import write_pieces


def test_what_a_killed_export_or_backup_of_the_same_number_left_is_in_nobodys_way(
    sqlite_store, tmp_path_factory
):
    tmp_path = tmp_path_factory.mktemp("elsewhere")
    number = os.getpid()
    for place in ("e", "b"):
        for left in (f"{place}.{number}.part", f"{place}.{number}.0.part"):
            (tmp_path / left).write_bytes(b"half")
    assert write_pieces(str(tmp_path / "e"), [b"a", b"b"]) == 2
    assert (tmp_path / "e").read_bytes() == b"ab"
    back_up(sqlite_store, str(tmp_path / "b"), tool="t", now=1)
    assert (tmp_path / "b" / "manifest.json").exists()
    assert len(list(tmp_path.glob("*.part"))) == 4


def test_an_export_is_whole_where_no_file_can_have_two_names(tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "e"
    assert write_pieces(str(target), [b"a"]) == 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_pieces(str(target), [b"b"])
    assert (os.listdir(tmp_path), target.read_bytes()) == (["e"], b"a")
