"""Each format of transcripts: what it tells is read as it stands."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.data.corpora.opened import open_corpus
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms, seconds
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.runs.textgrid import textgrid

NAK = "\x15"


def only(folder: Path, form: str = "", **options: object) -> Conversation:
    corpus = open_corpus(folder, form, **options)  # type: ignore[arg-type]
    assert len(corpus.names) == 1
    return corpus.read(corpus.names[0])


def told(side: Side) -> list[tuple[str, float, float]]:
    return [(word.text, word.span.start / 1e6, word.span.end / 1e6) for word in side.words or ()]


def lines(side: Side) -> list[tuple[str, float, float]]:
    return [(one.text, one.span.start / 1e6, one.span.end / 1e6) for one in side.utterances]


def grid(path: Path, tiers: dict[str, list[tuple[float, float, str]]], encoding: str = "utf-8") -> Path:
    made = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "9", "<exists>", str(len(tiers))]
    for name, labels in tiers.items():
        made += ['"IntervalTier"', f'"{name}"', "0", "9", str(len(labels))]
        for start, end, text in labels:
            made += [str(start), str(end), '"' + text.replace('"', '""') + '"']
    path.write_bytes("\n".join(made).encode(encoding))
    return path


def test_a_textgrid_of_words_gives_words(tmp_path: Path) -> None:
    tiers: dict[str, list[tuple[float, float, str]]] = {
        "A - words": [(0, 1, "sp"), (1, 1.5, "hello"), (1.5, 2, "[laughter]")],
        "A - phones": [(1, 1.5, "h")],
        "B": [(2, 2.25, "mhm"), (2.25, 3, "")],
    }
    grid(tmp_path / "one.TextGrid", tiers)
    first, second = only(tmp_path).sides
    assert told(first) == [("hello", 1.0, 1.5)] and list(first.sounds) == [Span(seconds(1.5), seconds(2))]
    assert told(second) == [("mhm", 2.0, 2.25)]
    assert (first.name, first.speaker, second.speaker) == ("A", "A", "B")


def test_a_textgrid_of_lines_gives_lines_and_no_words(tmp_path: Path) -> None:
    grid(tmp_path / "one.TextGrid", {"Zoé": [(0, 2, 'il a dit "oui"')], "Anne": [(2, 3, "ah bon ?")]}, "utf-16")
    first, second = only(tmp_path, language="fr").sides
    assert first.words is None and lines(first) == [('il a dit "oui"', 0, 2)]
    assert lines(second) == [("ah bon?", 2, 3)]


def test_a_long_textgrid_and_a_short_one_are_one(tmp_path: Path) -> None:
    (tmp_path / "one.TextGrid").write_text("""File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2 ! a comment with 5 "numbers"
tiers? <exists>
size = 3
item []:
    item [1]:
        class = "IntervalTier"
        name = "A"
        xmin = 0
        xmax = 2
        intervals: size = 1
        intervals [1]:
            xmin = 0.5
            xmax = 1e0
            text = "d\\e'j\\a`"
    item [2]:
        class = "TextTier"
        name = "points"
        xmin = 0
        xmax = 2
        points: size = 1
        points [1]:
            number = 1
            mark = "here"
    item [3]:
        class = "IntervalTier"
        name = "B"
        xmin = 0
        xmax = 2
        intervals: size = 1
        intervals [1]:
            xmin = 1
            xmax = 2
            text = "two
lines"
""")
    first, second = only(tmp_path).sides
    assert told(first) == [("déjà", 0.5, 1.0)]
    assert lines(second) == [("two lines", 1, 2)]


EAF = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="milliseconds"><MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/x/talk.wav"/></HEADER>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="t1" TIME_VALUE="100"/><TIME_SLOT TIME_SLOT_ID="t2"/>
<TIME_SLOT TIME_SLOT_ID="t3" TIME_VALUE="900"/><TIME_SLOT TIME_SLOT_ID="t4" TIME_VALUE="1500"/></TIME_ORDER>
<TIER TIER_ID="a" PARTICIPANT="Ann"><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="t3" TIME_SLOT_REF2="t4">
<ANNOTATION_VALUE>second line</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
<ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="t1" TIME_SLOT_REF2="t2">
<ANNOTATION_VALUE>first line</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<TIER TIER_ID="b" PARTICIPANT="Bob"><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="t1" TIME_SLOT_REF2="t3">
<ANNOTATION_VALUE>oh yes</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<TIER TIER_ID="gloss" PARTICIPANT="Bob" PARENT_REF="b"><ANNOTATION><REF_ANNOTATION>
<ANNOTATION_VALUE>no</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>
<TIER TIER_ID="events"><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1="t1" TIME_SLOT_REF2="t3">
<ANNOTATION_VALUE>door</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<LANGUAGE LANG_ID="nld"/></ANNOTATION_DOCUMENT>"""


def test_elan_s_tiers_are_their_participants_and_an_unplaced_annotation_is_loose(tmp_path: Path) -> None:
    (tmp_path / "talk.eaf").write_text(EAF)
    conversation = only(tmp_path)
    bob, ann = conversation.sides
    assert conversation.language == "nl"
    assert (ann.speaker, bob.speaker) == ("Ann", "Bob")
    assert lines(ann) == [("second line", 0.9, 1.5)] and lines(bob) == [("oh yes", 0.1, 0.9)]
    assert [(one.text, one.within) for one in ann.loose] == [("first line", Span(ms(100), ms(900)))]
    assert Span(ms(100), ms(900)) in list(ann.sounds)
    assert any("no times" in remark for remark in conversation.remarks)


CHA = f"""@UTF8
@Begin
@Languages:\tfra, eng
@Participants:\tA Adult, B Adult
@Media:\ttalk, audio
*A:\tbonjour (.) ça va ? {NAK}100_1500{NAK}
%wor:\tbonjour {NAK}100_500{NAK} ça {NAK}700_900{NAK} va {NAK}900_1400{NAK} ?
*B:\tmhm . {NAK}1500_1800{NAK}
%wor:\tmhm {NAK}1510_1790{NAK} .
*B:\toui &=rit et puis
\ton verra . {NAK}2000_4000{NAK}
*A:\tsans temps .
*A:\tfin . {NAK}5000_5500{NAK}
%wor:\tfin {NAK}5000_5400{NAK} .
@End
"""


def test_chat_gives_the_words_of_wor_as_its_main_line_spells_them(tmp_path: Path) -> None:
    (tmp_path / "talk.cha").write_text(CHA)
    conversation = only(tmp_path)
    first, second = conversation.sides
    assert conversation.language == "fr"
    assert told(first)[:3] == [("bonjour", 0.1, 0.5), ("ça", 0.7, 0.9), ("va?", 0.9, 1.4)]
    assert lines(first)[0] == ("bonjour ça va?", 0.1, 1.5)
    # A line whose words have no times is no silence, and one without any times was said between its neighbours.
    assert Span(seconds(2), seconds(4)) in list(second.sounds)
    assert [(one.text, one.within) for one in first.loose] == [("sans temps.", Span(seconds(4), seconds(5)))]


def test_chat_s_bullets_are_read_without_their_own_sign_too(tmp_path: Path) -> None:
    (tmp_path / "talk.cha").write_text(CHA.replace(NAK, ""))
    assert len(told(only(tmp_path).sides[0])) == 4


def test_fisher_s_sides_are_its_channels(tmp_path: Path) -> None:
    (tmp_path / "fe_03_00001.txt").write_text(
        "# fe_03_00001.sph\n# Transcribed\n\n3.00 4.00 B: hi my (( name ))\n\n1.50 2.50 A: [laughter] hello th- there\n"
    )
    first, second = only(tmp_path).sides
    assert first.speaker == "A" and lines(first) == [("hello th- there", 1.5, 2.5)]
    assert lines(second) == [("hi my name", 3, 4)] and first.words is None


TRS = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE Trans SYSTEM "trans-14.dtd">
<Trans audio_filename="talk" xml:lang="fr">
<Speakers><Speaker id="s1" name="Noël"/><Speaker id="s2" name="Eve"/></Speakers>
<Episode><Section><Turn speaker="s1 s2" startTime="0" endTime="1.5"><Sync time="0"/><Who nb="1"/> ça va ? <Who nb="2"/>
ouais . </Turn><Turn speaker="s1" startTime="1.5" endTime="4"><Sync time="1.5"/> oui <Event desc="rire"/> bon
<Sync time="3"/><Event desc="i"/></Turn><Turn startTime="4" endTime="5"><Sync time="4"/></Turn></Section></Episode>
</Trans>
"""


def test_transcriber_s_turns_are_divided_by_sync_and_by_who(tmp_path: Path) -> None:
    (tmp_path / "talk.trs").write_bytes(TRS.encode("latin-1"))
    conversation = only(tmp_path)
    noel, eve = conversation.sides
    assert (noel.speaker, eve.speaker, conversation.language) == ("Noël", "Eve", "fr")
    assert lines(noel) == [("ça va?", 0, 1.5), ("oui bon", 1.5, 3)] and noel.utterances[1].unclear
    assert lines(eve) == [("ouais.", 0, 1.5)]
    assert list(noel.sounds) == [Span(seconds(3), seconds(4))]


def test_a_dialogue_of_media_is_found_in_a_file_of_several(tmp_path: Path) -> None:
    sem = '<semAnnotation withContext="{}"><sem><transcription>{}</transcription></sem></semAnnotation>'
    turn = '<turn speaker="spk" startTime="2" endTime="4">' + sem.format("false", 'je <Sync time="3"/>voudrais')
    turn += sem.format("true", "je voudrais") + "</turn>"
    other = '<turn speaker="Compere" startTime="0" endTime="2"><transcription>bonjour</transcription></turn>'
    body = "".join(f'<dialogue id="{n}">{other}{turn}</dialogue>' for n in (7, 8))
    (tmp_path / "media_lot1.xml").write_text(f"<corpus>{body}</corpus>")
    corpus = open_corpus(tmp_path)
    assert (corpus.format, corpus.names) == ("media", ("7", "8"))
    first, second = corpus.read("8").sides
    assert lines(first) == [("bonjour", 0, 2)] and lines(second) == [("je", 2, 3), ("voudrais", 3, 4)]


def test_conllu_s_words_are_what_spaces_bound(tmp_path: Path) -> None:
    rows = [("1", "d'", "ADP", "0", "100", "|SpaceAfter=No"), ("2", "autres", "ADJ", "100", "400", "|SpaceAfter=No"),
            ("3", ",", "PUNCT", "900", "100", ""), ("4", "oui", "INTJ", "500", "700", "")]  # fmt: skip
    text = "# speaker = L1\n"
    text += "".join(f"{n}\t{w}\t_\t{p}\t_\t_\t0\t_\t_\tAlignBegin={b}|AlignEnd={e}{x}\n" for n, w, p, b, e, x in rows)
    text += "\n# speaker = L2\n1\tmh\t_\tINTJ\t_\t_\t0\t_\t_\tAlignBegin=900|AlignEnd=1000\n"
    text += "2\tlost\t_\tNOUN\t_\t_\t0\t_\t_\tAlignBegin=0|AlignEnd=0\n\n"
    (tmp_path / "a.conllu").write_text(text)
    conversation = only(tmp_path, language="fr")
    first, second = conversation.sides
    assert told(first) == [("d'autres,", 0, 0.4), ("oui", 0.5, 0.7)]
    assert told(second) == [("mh", 0.9, 1.0)]
    assert any("no times that can be meant" in remark for remark in conversation.remarks)


def test_rttm_tells_when_and_not_what(tmp_path: Path) -> None:
    (tmp_path / "all.rttm").write_text(
        "SPEAKER x.wav 1 0.5 1.0 <NA> <NA> ann <NA> <NA>\n;; comment\nSPEAKER y 1 0 1 <NA> <NA> ann <NA>\n"
        "SPEAKER x.wav 1 1.5 0.25 <NA> <NA> bob <NA>\nSPKR-INFO x.wav 1 <NA> <NA> <NA> unknown ann <NA>\n"
    )
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("x", "y")
    first, second = corpus.read("x").sides
    assert first.words is None and lines(first) == [("", 0.5, 1.5)]
    assert first.speech is not None and list(first.speech) == [Span(ms(500), ms(1500))]
    assert second.speaker == "bob"


def test_rttm_with_lexemes_gives_words_and_sounds(tmp_path: Path) -> None:
    (tmp_path / "x.rttm").write_text(
        "SPEAKER x 1 0 1 <NA> <NA> ann <NA>\nLEXEME x 1 0.1 0.2 hello lex ann 0.9\n"
        "NON-LEX x 1 0.5 0.2 <NA> laugh ann <NA>\n"
        "SPEAKER x 2 1 1 <NA> <NA> bob <NA>\nLEXEME x 2 1.1 0.2 yes lex bob <NA>\n"
    )
    first, _ = only(tmp_path).sides
    assert told(first) == [("hello", 0.1, 0.3)] and Span(ms(500), ms(700)) in list(first.sounds)
    assert (first.words or ())[0].confidence == 0.9


def test_ctm_s_words_are_their_channel_s_and_the_first_alternative_is_taken(tmp_path: Path) -> None:
    (tmp_path / "x.ctm").write_text(
        ";; comment\n2347 B 16.5 0.5 UH-HUH\n2347 A 0.25 0.25 THEY 0.8\n2347 A * * <ALT_BEGIN>\n2347 A 1 0.5 IT\n"
        "2347 A * * <ALT>\n2347 A 1 0.5 AT\n2347 A * * <ALT_END>\n2347 A 2 0.5 HOME\n"
    )
    first, second = only(tmp_path).sides
    assert told(first) == [("THEY", 0.25, 0.5), ("IT", 1, 1.5), ("HOME", 2, 2.5)] and told(second)[0][0] == "UH-HUH"


def test_stm_s_labels_and_alternatives_are_not_said(tmp_path: Path) -> None:
    (tmp_path / "x.stm").write_text(
        '2347 a ann 1.0 3.0 <O,WA> { um / uh } as { -a / @ } far\n2347 b bob 3.0 4.0\n;; CATEGORY "0"\n'
        "2347 b bob 4.0 5.0 <o,f0,unknown> IGNORE_TIME_SEGMENT_IN_SCORING\n2347 b bob 5.0 6.0 (uh) yes\n"
    )
    first, second = only(tmp_path).sides
    assert lines(first) == [("um as -a far", 1, 3)] and lines(second) == [("uh yes", 5, 6)]
    assert list(second.sounds) == [Span(seconds(4), seconds(5))]


def test_a_table_of_many_conversations_is_read_by_their_rows(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(
        'conversation,speaker,start_ms,end_ms,utterance\nx,A,0,1000,"hello,\nthere"\ny,A,0,1,no\nx,B,1000,1500,oui\ny,B,1,2,no\n'
    )
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("x", "y")
    first, second = corpus.read("x").sides
    assert lines(first) == [("hello, there", 0, 1)] and lines(second) == [("oui", 1, 1.5)]


def test_a_table_with_decimal_commas_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("speaker;start;duration;word\nA;0,5;0,25;déjà\nB;1,0;0,5;ah\n")
    assert told(only(tmp_path).sides[0]) == [("déjà", 0.5, 0.75)]


def test_talkr_s_tables_are_in_milliseconds(tmp_path: Path) -> None:
    head = "uid,source,participant,begin,end,utterance\n"
    rows = ["1,/dutch2/D1,s1,1681.0,3705.0,oké nou", "2,/dutch2/D1,s2,4000,4500,ja hè", "3,/dutch2/D2,s1,0,1,ja"]
    (tmp_path / "a.csv").write_text(head + "\n".join(rows))
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("dutch2-D1", "dutch2-D2")
    assert lines(corpus.read("dutch2-D1").sides[0]) == [("oké nou", 1.681, 3.705)]


@pytest.mark.parametrize(
    "value",
    [
        [{"word": "hi", "start": 1, "end": 1.5, "speaker": "A"}, {"word": "yes", "start": 2, "end": 3, "speaker": "B"}],
        {"segments": [
            {"text": " hi", "start": 1, "end": 1.5, "speaker": "A", "words": [{"word": " hi", "start": 1, "end": 1.5}]},
            {"text": "yes", "start": 2, "end": 3, "speaker": "B", "words": [{"word": "yes", "start": 2, "end": 3}]}]},
        {"words": [{"text": "hi", "timestamp": [1, 1.5], "channel": 0},
                   {"text": "yes", "timestamp": [2, 3], "channel": 1}]},
        {"results": {"channel_labels": {"channels": [
            {"channel_label": f"ch_{n}", "items": [{"start_time": start, "end_time": end, "type": "pronunciation",
                                                    "alternatives": [{"content": word, "confidence": "0.9"}]}]}
            for n, (word, start, end) in enumerate([("hi", "1.0", "1.5"), ("yes", "2.0", "3.0")])]}}},
    ],
    ids=["list", "segments", "channels", "amazon"],
)  # fmt: skip
def test_json_of_recognisers_gives_words(tmp_path: Path, value: object) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(value))
    first, second = only(tmp_path).sides
    assert told(first) == [("hi", 1, 1.5)] and told(second) == [("yes", 2, 3)]


def test_json_lines_are_read(tmp_path: Path) -> None:
    rows = [
        {"speaker": "A", "start": 0, "end": 1, "text": "so I said"},
        {"speaker": "B", "start": 1, "end": 2, "text": "oh"},
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert lines(only(tmp_path).sides[1]) == [("oh", 1, 2)]


def test_candor_s_words_are_by_channel_and_named_by_its_map(tmp_path: Path) -> None:
    folder = tmp_path / "0a1b" / "transcription"
    folder.mkdir(parents=True)
    (tmp_path / "0a1b" / "processed").mkdir()
    (tmp_path / "0a1b" / "processed" / "channel_map.json").write_text('{"L": "u9", "R": "u1"}')
    head = "turn_id,speaker,start,stop,utterance,interval,delta\n"
    (folder / "transcript_audiophile.csv").write_text(head + "0,u1,0.5,1.0,Yeah,0.1,0\n1,u9,1.5,3.0,I think so,0,0\n")
    corpus = open_corpus(tmp_path)
    assert (corpus.format, corpus.names) == ("candor", ("0a1b",))
    first, second = corpus.read("0a1b").sides
    assert (first.speaker, second.speaker) == ("u9", "u1") and lines(first) == [("I think so", 1.5, 3)]
    item = {"start_time": "0.5", "end_time": "0.9", "type": "pronunciation", "alternatives": [{"content": "Yeah"}]}
    stop = {"type": "punctuation", "alternatives": [{"content": "."}]}
    channels = [{"channel_label": "ch_0", "items": []}, {"channel_label": "ch_1", "items": [item, stop]}]
    (folder / "transcribe_output.json").write_text(json.dumps({"results": {"channel_labels": {"channels": channels}}}))
    # u1 is on the right channel, the second.
    assert told(open_corpus(tmp_path).read("0a1b").sides[1]) == [("Yeah.", 0.5, 0.9)]


def test_a_file_s_name_is_the_same_however_its_accents_were_typed(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "Zoé")
    grid(tmp_path / "t.TextGrid", {name: [(0, 1, "oui non")], "B": [(1, 2, "ah bon")]})
    composed = unicodedata.normalize("NFC", name)
    assert only(tmp_path, speakers=(composed, "B")).sides[0].speaker == composed


def test_what_this_package_exports_as_textgrid_is_read_back(tmp_path: Path) -> None:
    def track(*words: tuple[str, int, int]) -> Track:
        spoken = tuple(Word(text, Span(ms(start), ms(end))) for text, start, end in words)
        return Track(spoken, Timeline(word.span for word in spoken), duration=seconds(4))

    user = track(("déjà", 100, 400), ('"so"', 500, 900), ("over", 700, 1200))
    system = track(("mhm", 800, 1000))
    trial = Trial(Item("t", ()), user, system, ())
    (tmp_path / "t.TextGrid").write_text(textgrid(trial), encoding="utf-8")
    first, second = only(tmp_path).sides
    assert (first.speaker, second.speaker) == ("user", "system")
    assert (first.words, second.words) == (user.words, system.words)
