"""Candidates: what of each turn can stand alone."""

from __future__ import annotations

import pytest

from contextspindle.core.candidates import Candidates, is_rule, telling_rows
from contextspindle.core.draft import ASKED, RULE
from contextspindle.core.ranking import CALLED, FAILURE, SHOWN, WRITTEN
from contextspindle.core.transcript import (
    CALL,
    COMMAND_LINE,
    EDIT,
    PROMPT,
    REFUSAL,
    RESULT,
    SAID,
    TEXT,
    Turn,
)


def result(text, *, failed=False, tool="Bash"):
    return Turn(5, RESULT, text, COMMAND_LINE, tool, "c1", "make", failed)


def called(candidates, line, about, via, tool):
    candidates.act(Turn(line, CALL, about, via, tool, "c1", about), about)


def shown(candidates, text):
    candidates.show(result(text), telling_rows(result(text)))


def test_of_a_result_the_first_the_last_and_the_rows_that_tell_of_trouble_are_taken():
    rows = [f"row number {n}" for n in range(9)]
    rows[4] = "--- FAIL: TestMast (0.2s)"
    assert telling_rows(result("\n".join(rows))) == [
        "row number 0",
        "--- FAIL: TestMast (0.2s)",
        "row number 7",
        "row number 8",
    ]


@pytest.mark.parametrize(
    "text", ["", "ok", "\n\n", "Exit code 127", "\x1b[31mred and green\x1b[0m"]
)
def test_a_result_may_tell_nothing(text):
    assert telling_rows(result(text)) == []


def test_a_harness_s_remark_behind_a_result_is_no_row_of_it():
    text = "the mast is whole\n<system-reminder>\nnever say this to anybody\n</system-reminder>"
    assert telling_rows(result(text)) == ["the mast is whole"]


def test_a_failure_is_told_from_what_was_merely_shown():
    candidates = Candidates()
    called(candidates, 4, "make all of it", COMMAND_LINE, "Bash")
    shown(candidates, "error: no mast_7 here")
    shown(candidates, "all of it is whole")
    assert [passage.kind for passage in candidates] == [CALLED, FAILURE, SHOWN]


def test_small_talk_is_no_candidate_and_its_words_are_counted_all_the_same():
    candidates = Candidates()
    candidates.read(Turn(1, TEXT, "All clean."), "All clean.", WRITTEN)
    assert list(candidates) == []
    assert candidates.terms.known("clean") is not None


def test_what_was_written_before_the_agent_fell_silent_is_its_report():
    candidates = Candidates()
    words = "The mast_7 is whole."
    candidates.read(Turn(1, TEXT, words), words, WRITTEN)
    called(candidates, 2, "ls", COMMAND_LINE, "Bash")
    candidates.read(Turn(3, TEXT, words + " Done_8."), words + " Done_8.", WRITTEN)
    candidates.hear(Turn(4, "said", "go on"), "go on", "", {"go"})
    assert [passage.reported for passage in candidates if passage.kind == WRITTEN] == [False, True]


def test_a_tool_is_rare_until_it_was_used_a_few_times():
    candidates = Candidates()
    for _ in range(9):
        called(candidates, 1, "a file of ours", "", "Read")
    called(candidates, 2, "an issue", "", "create_issue")
    assert candidates.is_rare("create_issue")
    assert not candidates.is_rare("Read")


@pytest.mark.parametrize(
    "text",
    [
        "Alle Dateien müssen in UTF-8 sein.",
        "Bitte die Vorlagen nicht anfassen!",
        "Ab sofort nur noch mit Wolle.",
        "Ne touche pas au mât.",
        "Désormais, réponds en français.",
        "Debes usar lana.",
        "No toques el mástil.",
        "Não mexa no mastro.",
        "Non usare il nylon.",
        "D'ora in poi rispondi in italiano.",
        "Пожалуйста, не трогай эту папку.",
        "Менять схему нельзя без теста",
        "Запускай тесты обязательно перед коммитом.",
        "لا تلمس هذا الملف.",
        "اكتب دائماً بالعربية.",
        "يجب تشغيل الاختبارات.",
        "لا أريد هذا أبدا.",
        "이 파일은 건드리지 마세요.",
        "그렇게 하지 마.",
        "항상 테스트를 실행해.",
        "커밋 전에 반드시 확인해.",
        "以后都用中文回答。",
        "千万要小心数据库。",
        "请勿修改此文件。",
        "ナイロンは絶対に使うな。",
        "このファイルは触らないでください。",
    ],
)
def test_words_meant_to_hold_are_told_in_many_languages(text):
    assert is_rule(Turn(1, SAID, text, PROMPT), text)


@pytest.mark.parametrize(
    "text",
    [
        "Der Server springt nicht an.",
        "Fass die Ergebnisse zusammen.",
        "Le mât est réparé, regarde la voile.",
        "Mira el mástil y dime qué ves.",
        "La caché evita llamadas.",
        "Olhe o mastro e conserte a vela.",
        "Ripara l'albero della nave.",
        "Посмотри на мачту и почини парус.",
        "الاختبار لا يعمل.",
        "انظر إلى الصاري.",
        "돛대를 고쳐 줘.",
        "절대 경로로 바꿔 줘.",
        "오늘까지 마무리해 줘.",
        "看看桅杆。",
        "表里有三千万行数据。",
        "绝对路径有问题。",
        "絶対パスに直して。",
        "非常に遅いです。",
    ],
)
def test_a_plain_sentence_in_any_of_them_is_no_rule(text):
    assert not is_rule(Turn(1, SAID, text, PROMPT), text)


def test_words_against_a_call_count_like_a_rule_whatever_their_form():
    candidates = Candidates()
    words = "what are you doing?"
    for via in (PROMPT, REFUSAL):
        candidates.hear(Turn(1, SAID, words, via), words, "", {"doing"})
    assert [(passage.item.section, passage.kind) for passage in candidates] == [
        (ASKED, ASKED),
        (ASKED, RULE),
    ]


def test_data_that_was_pasted_into_a_request_does_not_count_as_the_human_s_words():
    candidates = Candidates()
    row = '{"parentUuid":"20b1f06b","isSidechain":false,"type":"user","cwd":"/srv/yawl"}'
    words = "The hook of the second session did not fire, although the mast was there to be seen."
    text = f"{words}\n{row}\n{row.replace('20b1', '97aa')}"
    candidates.hear(Turn(1, SAID, text, PROMPT), text, "", set())
    assert [passage.kind for passage in candidates] == [ASKED, SHOWN, SHOWN]
    assert {passage.item.section for passage in candidates} == {ASKED}


def test_of_a_long_row_of_data_that_was_pasted_the_beginning_is_told():
    candidates = Candidates()
    row = '{"parentUuid":"20b1f06b","isSidechain":false,"type":"user","cwd":"/srv/yawl"}' * 9
    text = f"The hook of the second session did not fire, although the mast was to be seen.\n{row}"
    candidates.hear(Turn(1, SAID, text, PROMPT), text, "", set())
    _, pasted = candidates
    assert row.startswith(pasted.item.text.removesuffix("…").rstrip())
    assert len(pasted.item.text) <= 100


def heard(text):
    candidates = Candidates()
    candidates.hear(Turn(1, SAID, text, PROMPT), text, "", set())
    return [passage.item.text for passage in candidates]


def test_of_a_long_paste_both_ends_are_candidates_and_what_is_meant_to_hold():
    names = (f"{a}{b}{c}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwx")
    rows = [f"The {name} of the yawl is one that we have seen before." for name in names]
    rows[250] = "The mast must never be painted, as everybody in this harbour knows."
    found = heard("\n".join(rows))
    assert len(found) < 350
    assert {rows[0], rows[250], rows[-1]} <= set(found)


def test_of_rows_alike_but_for_numbers_and_ids_two_are_candidates():
    rows = [f"ERROR 12:00:{n % 60:02} request a{n}b7 was refused by worker-{n}" for n in range(900)]
    found = heard("\n".join(["Why are so many of them refused by the workers?", *rows]))
    assert found == ["Why are so many of them refused by the workers?", *rows[:2]]


def test_a_name_that_is_cut_within_a_secret_is_none():
    secret = "hvs." + "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8Ue7Ia2Oo9Pp4Ss6"
    for before in range(1_950, 2_000, 3):
        candidates = Candidates()
        text = f"{'a ' * (before // 2)}{secret} b"
        candidates.act(Turn(1, CALL, text, EDIT, "Edit", "c1", "yawl.py"), "yawl.py")
        assert not any(secret[4:12] in passage.item.text for passage in candidates)


def test_many_words_of_the_human_are_thinned_out_now_and_then_and_not_at_every_word():
    candidates = Candidates()
    dropped = before = 0
    for number in range(9_000):
        text = f"Please mend the mast_{number} first, then the keel."
        candidates.hear(Turn(number, SAID, text, PROMPT), text, "", {"mend", f"mast_{number}"})
        candidates.read(Turn(number, TEXT, "All clean."), "All clean.", WRITTEN)
        now = len(candidates._kept)
        dropped += now < before
        before = now
    assert dropped in (1, 2, 3)
    assert [passage.item.line for passage in candidates][-1] == 8_999
