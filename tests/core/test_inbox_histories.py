"""Whatever people do to `_inbox.md`, each message is delivered once.

In full, 1,000 histories of each kind:
`AGIRAPH_INBOX_HISTORIES=1000 pytest tests/core/test_inbox_histories.py`.
"""

from __future__ import annotations

import os
import random
import re
import string
from dataclasses import dataclass, field

import pytest

from agiraph.core.inbox import InboxMemory, quiet_needed, take_in

HISTORIES = int(os.environ.get("AGIRAPH_INBOX_HISTORIES", "40"))
STEPS = 30


@dataclass
class Person:
    """Somebody who types, corrects, prunes and restores, with a fixed seed."""

    dice: random.Random
    separated: bool
    file: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    memory: InboxMemory = field(default_factory=InboxMemory)
    delivered: list[str] = field(default_factory=list)

    def message(self) -> str:
        """Some lines that nobody said before."""
        lines = [
            " ".join(
                "".join(self.dice.choices(string.ascii_lowercase, k=7))
                for _ in range(6)
            )
            for _ in range(self.dice.randint(1, 3))
        ]
        return "\n".join(lines)

    def type_on(self, *, top: bool = False) -> None:
        text = self.message()
        self.said.append(text)
        self.file.insert(0 if top else len(self.file), text)
        self.save()

    def correct(self) -> None:
        at = self.dice.randrange(len(self.file))
        letters = list(self.file[at])
        spot = self.dice.choice([i for i, c in enumerate(letters) if c.isalpha()])
        letters[spot] = letters[spot].upper()
        self.file[at] = "".join(letters)
        self.save()

    def prune(self) -> None:
        first = self.dice.randrange(len(self.file))
        del self.file[first : first + self.dice.randint(1, len(self.file))]
        self.save()

    def prune_and_type_on(self) -> None:
        del self.file[self.dice.randrange(len(self.file))]
        self.type_on()

    def undo(self) -> None:
        """All goes, and all comes back."""
        if len(self.file) < 2:
            return
        before = list(self.file)
        self.file = []
        self.save()
        self.file = before
        if self.dice.random() < 0.5:
            self.type_on()
        self.save()

    def save(self) -> None:
        """The daemon looks; now and then it dies before it has recorded that."""
        text = self.text()
        quiet_needed(self.memory, text, editor_lock=False)
        messages, memory = take_in(self.memory, text, now=1000.0)
        if self.dice.random() < 0.3:
            kept = InboxMemory.from_json(self.memory.to_json())
            assert take_in(kept, text, now=1000.0) == (messages, memory)
        self.memory = memory
        said = [message.text for message in messages if message.new]
        self.delivered += [re.sub(r"\n+", "\n", text) for text in said]

    def text(self) -> str:
        glue = "\n---\n" if self.separated else "\n"
        text = glue.join(self.file) + "\n" if self.file else ""
        match self.dice.randrange(4):
            case 0:
                return text.replace("\n", " \r\n")
            case 1:
                return text.replace("\n", "\n\n")
        return text

    def act(self) -> None:
        acts = [self.type_on, self.type_on, lambda: self.type_on(top=True)]
        if self.file:
            acts += [
                self.correct,
                self.prune,
                self.prune_and_type_on,
                self.save,
                self.undo,
            ]
        self.dice.choice(acts)()


@pytest.mark.parametrize("separated", [True, False], ids=["separated", "plain"])
def test_each_message_of_any_history_is_delivered_once(*, separated: bool) -> None:
    for seed in range(HISTORIES):
        person = Person(random.Random(seed), separated)
        for step in range(STEPS):
            person.act()
            assert person.delivered == person.said, f"seed {seed}, step {step}"


@pytest.mark.parametrize("separated", [True, False], ids=["separated", "plain"])
def test_messages_that_come_together_are_all_delivered(*, separated: bool) -> None:
    for seed in range(HISTORIES):
        person = Person(random.Random(seed), separated)
        for _ in range(STEPS):
            fresh = [person.message() for _ in range(person.dice.randint(0, 3))]
            keep = [each for each in person.file if person.dice.random() < 0.8]
            person.file, person.said = keep + fresh, person.said + fresh
            person.save()
        assert "\n".join(person.delivered) == "\n".join(person.said), f"seed {seed}"


def test_plain_appending_of_the_same_few_words_is_exact() -> None:
    dice = random.Random(7)
    memory, text, delivered = InboxMemory(), "", []
    said = [dice.choice(["ok", "yes", "stop", "continue"]) for _ in range(200)]
    for words in said:
        text += words + "\n"
        messages, memory = take_in(memory, text, now=0.0)
        delivered += [message.text for message in messages if message.new]

    assert delivered == said
