"""Which mounts get a rollback journal, decided from the text of a mount table."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contextspindle.store import schema
from contextspindle.store.mounts import MOUNT_TABLE, file_system, needs_rollback_journal


@pytest.fixture
def mounted(tmp_path: Path):
    """Write a mount table of (point, type) in the kernel's form, and ask it about a folder."""

    def ask(folder: str | Path, *mounts: tuple[str | Path, str]) -> str:
        def escaped(point: str | Path) -> bytes:
            found = os.fsencode(point)
            for char in b"\\ \t\n":
                found = found.replace(bytes([char]), b"\\%03o" % char)
            return found

        table = tmp_path / "mountinfo"
        table.write_bytes(
            b"".join(
                b"%d 1 0:%d / %b rw,relatime shared:%d master:2 - %b host:/share rw,vers=4\n"
                % (number, number, escaped(point), number, kind.encode())
                for number, (point, kind) in enumerate(mounts, 20)
            )
        )
        return file_system(str(folder), str(table))

    return ask


def test_the_innermost_mount_decides(mounted, tmp_path):
    mounts = ("/", "ext4"), (tmp_path, "nfs4"), (tmp_path / "local", "xfs")
    assert mounted("/etc", *mounts) == "ext4"
    assert mounted(tmp_path / "project", *mounts) == "nfs4"
    assert mounted(tmp_path / "local" / "project", *mounts) == "xfs"
    assert mounted(tmp_path, *mounts) == "nfs4"


def test_a_name_that_only_begins_alike_is_another_folder(mounted, tmp_path):
    mounts = ("/", "ext4"), (tmp_path / "share", "nfs")
    assert mounted(tmp_path / "shared" / "project", *mounts) == "ext4"


def test_a_later_mount_hides_an_earlier_one_on_the_same_point(mounted, tmp_path):
    assert mounted(tmp_path, ("/", "ext4"), (tmp_path, "nfs"), (tmp_path, "xfs")) == "xfs"
    assert mounted(tmp_path, ("/", "ext4"), (tmp_path, "xfs"), (tmp_path, "nfs")) == "nfs"


@pytest.mark.parametrize(
    "name", ["a b", "tab\there", "line\nfeed", "back\\slash\\040", "\u0085 next", "\u2028", "é日🧵"]
)
def test_a_mount_point_may_have_any_name(mounted, tmp_path, name):
    assert mounted(tmp_path / name / "project", ("/", "ext4"), (tmp_path / name, "9p")) == "9p"


def test_a_mount_point_whose_name_is_not_utf8_is_found(mounted, tmp_path):
    point = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    assert mounted(point / "project", ("/", "ext4"), (point, "nfs")) == "nfs"


def test_a_folder_is_judged_by_where_it_really_is(mounted, tmp_path):
    (tmp_path / "share").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "share")
    assert mounted(tmp_path / "alias", ("/", "ext4"), (tmp_path / "share", "cifs")) == "cifs"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"nonsense\n", b"1 2 3 4\n - \n", b"\xff\xfe\n"])
def test_a_table_that_says_nothing_gives_nothing(tmp_path, content):
    (tmp_path / "table").write_bytes(content)
    assert file_system("/", str(tmp_path / "table")) == ""
    assert file_system("/", str(tmp_path / "missing")) == ""


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "fuse.sshfs", "fuseblk"]
)
def test_network_and_pass_through_mounts_need_a_rollback_journal(kind):
    assert needs_rollback_journal(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", ""])
def test_local_mounts_and_unknown_ones_do_not(kind):
    assert not needs_rollback_journal(kind)


def test_what_is_set_wins_over_the_mount(tmp_path):
    assert schema.journal_mode(str(tmp_path), "wal") == "WAL"
    assert schema.journal_mode(str(tmp_path), "rollback") == "DELETE"


@pytest.mark.skipif(not os.path.exists(MOUNT_TABLE), reason="this system has no mount table")
def test_the_kernels_own_table_is_understood():
    assert file_system("/proc") == "proc"
