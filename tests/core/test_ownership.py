"""Who runs an agent: one answer for each way in which its folder can have come."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.codec import Good, Rejected, names_plainly, read_owner, write_owner
from agiraph.core.ownership import Claim, adopted, judge, old_home, words
from agiraph.model.owner import Old, Owner, Spot

HERE = Owner(
    Spot("machine-a", "/srv/agents", "news"),
    since="2026-11-21T12:00:00.000+00:00",
    machine="tower",
)
LAST_WEEK = "2026-11-14T12:00:00.000+00:00"
MINE = replace(HERE, since=LAST_WEEK)


def of(owner: Owner, **spot: str) -> Owner:
    """The same record of another spot."""
    return replace(owner, spot=replace(owner.spot, **spot))


def claim(
    found: Owner | None, *, held: Owner | None = None, old: Old = Old.GONE
) -> Claim:
    return judge(found, here=HERE, held=held, old=old).claim


def test_an_agent_that_nobody_has_run_gets_a_record() -> None:
    found = judge(None, here=HERE, held=None, old=Old.GONE)
    assert found.claim is Claim.NEW
    assert found.owner == HERE
    assert found.write


def test_an_agent_whose_record_names_this_place_goes_on_as_it_was() -> None:
    found = judge(MINE, here=HERE, held=None, old=Old.THERE)
    assert found.claim is Claim.MINE
    assert found.owner == MINE
    assert not found.write


def test_an_agent_moved_or_renamed_on_this_machine_goes_on_under_its_new_name() -> None:
    for before in (of(MINE, agent="old"), of(MINE, place="/home/ada/agents")):
        for old in (Old.GONE, Old.OTHER, Old.SAME):
            found = judge(before, here=HERE, held=None, old=old)
            assert found.claim is Claim.MOVED
            assert found.owner == MINE
            assert found.write


def test_a_copy_beside_its_original_is_an_agent_of_its_own() -> None:
    found = judge(of(MINE, agent="old"), here=HERE, held=None, old=Old.THERE)
    assert found.claim is Claim.FORKED
    assert found.owner == HERE


def test_a_tree_copied_on_one_machine_is_not_run_twice() -> None:
    there = of(MINE, place="/home/ada/agents")
    assert claim(there, old=Old.THERE) is Claim.ELSEWHERE


def test_an_agent_of_another_machine_is_left_alone() -> None:
    for old in Old:
        assert claim(of(MINE, host="machine-b"), old=old) is Claim.ELSEWHERE


def test_who_is_at_work_gives_way_to_somebody_who_adopted_the_agent() -> None:
    theirs = replace(of(MINE, host="machine-b"), epoch=2)
    assert claim(theirs, held=MINE) is Claim.ELSEWHERE


def test_two_live_epochs_pause_and_ask() -> None:
    for epoch in (1, 2):
        theirs = replace(of(MINE, host="machine-b"), epoch=epoch)
        found = judge(theirs, here=HERE, held=replace(MINE, epoch=2), old=Old.GONE)
        assert found.claim is Claim.CONTESTED
        assert not found.claim.works
        assert "agiraph adopt news" in words(found, HERE.spot)


def test_an_older_record_that_a_sync_brings_back_does_not_undo_an_adoption() -> None:
    held = replace(MINE, epoch=3)
    found = judge(MINE, here=HERE, held=held, old=Old.GONE)
    assert found.claim is Claim.MINE
    assert found.owner == held
    assert found.write


def test_a_record_that_was_deleted_is_written_again_as_it_was() -> None:
    held = replace(MINE, epoch=3)
    assert judge(None, here=HERE, held=held, old=Old.GONE).owner == held


def test_adopting_counts_the_epoch_up_and_names_this_place() -> None:
    theirs = replace(of(MINE, host="machine-b"), epoch=4, machine="laptop")
    mine = adopted(theirs, here=HERE)
    assert mine.spot == HERE.spot
    assert mine.epoch == 5
    assert mine.since == LAST_WEEK
    assert claim(mine, held=None) is Claim.MINE


def test_the_words_say_where_it_is_run_and_how_to_move_it_here() -> None:
    theirs = replace(of(MINE, host="machine-b"), machine="laptop")
    said = words(judge(theirs, here=HERE, held=None, old=Old.GONE), HERE.spot)
    assert "/srv/agents/news on laptop (epoch 1)" in said
    assert "agiraph adopt news" in said
    assert words(judge(MINE, here=HERE, held=None, old=Old.GONE), HERE.spot) == ""


def test_a_new_agent_that_took_an_old_name_is_not_the_one_that_moved_away() -> None:
    new = replace(MINE, since="2026-11-20T12:00:00.000+00:00")
    assert old_home(MINE, new, ran=True) is Old.OTHER
    assert old_home(MINE, None, ran=False) is Old.OTHER
    assert old_home(MINE, MINE, ran=True) is Old.THERE
    assert old_home(MINE, replace(new, epoch=2), ran=True) is Old.THERE
    assert old_home(MINE, None, ran=True) is Old.THERE
    assert old_home(replace(MINE, since="long ago"), new, ran=True) is Old.THERE


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1)


@given(
    st.builds(
        Owner,
        st.builds(Spot, *[LINE.map(str.strip).filter(bool)] * 3),
        st.integers(1, 10**9),
        st.just(LAST_WEEK),
        LINE.map(str.strip),
    )
)
def test_what_is_written_is_read_again(owner: Owner) -> None:
    text = write_owner(owner)
    assert read_owner(text) == Good(owner)
    assert names_plainly(text, owner.spot)


def test_a_damaged_owner_file_is_refused_with_its_places() -> None:
    for text, key in (("", "host"), ("host: a\nplace: b\n", "agent")):
        found = read_owner(text)
        assert isinstance(found, Rejected)
        assert key in [problem.key for problem in found.problems]
    wrong = read_owner("host: a\nplace: /b\nagent: c\nepoch: none\n")
    assert isinstance(wrong, Rejected)
    assert wrong.problems[0].line == 4
