"""A talk in which each task of Full-Duplex-Bench has its item: where each lies is said beside it."""

from __future__ import annotations

from pathlib import Path

from tests.making.talked import Person, write_ms98

from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.making.doubts import cut_of
from fullduplex.making.harvest.fdb.floor import floor_of
from fullduplex.making.harvest.fdb.places import Place
from fullduplex.making.harvest.fdb.rules import FDB_RULES, FdbRules
from fullduplex.making.harvest.fdb.survey import FINDERS
from fullduplex.making.harvest.tokens import tokens_of

V10 = FDB_RULES["fdb-1.0"]


def partners() -> tuple[Person, Person]:
    """Return a talk of 24 s; every word lasts 0.25 s."""
    a, b = Person("A"), Person("B")
    a.at(1.0, f"{'ga ' * 12} (0.6) {'go ' * 12}")  # 1.0 to 7.6, with a pause from 4.0 to 4.6
    b.at(7.8, "ba " * 20)  # an answer 0.2 s later, to 12.8
    a.at(13.0, "gu " * 24)  # another, to 19.0
    b.at(15.0, "uh-huh")  # a backchannel in it
    b.at(20.0, "bo " * 16)  # to 24.0
    a.at(22.0, "no wait please stop that now")  # an interruption, to 23.5
    return a, b


def kept(task: str, a: Person | Side, b: Person | Side, rules: FdbRules = V10, language: str = "en") -> list[Place]:
    """Return the places of a task that every check keeps."""
    return [place for place, why in judged(task, a, b, rules, language) if not why]


def judged(
    task: str, a: Person | Side, b: Person | Side, rules: FdbRules = V10, language: str = "en", *, doubted: bool = False
) -> list[tuple[Place, str]]:
    """Return the places of a task, each with why it is dropped. ``doubted``: it is looked whether turns were cut."""
    sides = tuple(one.side() if isinstance(one, Person) else one for one in (a, b))
    talk = Conversation("talk", (sides[0], sides[1]), language)
    floor = floor_of(talk, rules, tokens_of(language), cut_of(talk) if doubted else "")
    finder = FINDERS[task]
    return [
        (place, next((why for _, check in finder.checks if (why := check(place, rules))), ""))
        for user, partner in floor.pairs()
        for place in finder.places(floor, user, partner, rules)
    ]


def write_corpus(folder: Path, talks: int = 1, *, sound: bool = True) -> Path:
    """Write a corpus of such talks, as Switchboard has them."""
    for n in range(talks):
        write_ms98(folder, 4000 + n, *partners(), sound=sound)
    for path in folder.glob("*-da.csv"):
        path.unlink()  # nobody gave these talks acts
    return folder
