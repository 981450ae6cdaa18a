"""What is hidden stays hidden for those who inherit it, and hiding in one thread touches no other's entries."""

from dataclasses import replace

from core.blocks import TextBlock
from core.changes import EntriesHidden
from core.commit import Commit
from core.entries import User
from core.render import BLOCKED_NOTE
from core.slice.requests import build_request
from core.spawning import lineage_here
from core.thread import Hidden
from tests.support.inputs import delivered, user
from tests.support.played import calls, says
from tests.support.threads import text
from tests.support.world import world


async def test_what_was_hidden_after_the_cutoffs_commit_is_hidden_from_a_child_too() -> None:
    one = world(says("one"))
    await one.run(user("poison"))
    manager = await one.manager()
    manager.handle_content(text("next"), "m2")
    manager.draft.record(EntriesHidden(entries=(Hidden(seq=1, what="all"),)))
    lineage = lineage_here(manager.draft, 1)
    assert isinstance(await manager.sync(), Commit)
    (entry,) = (await one.store.inherit(lineage)).entries
    assert isinstance(entry, User)
    assert entry.content == (TextBlock(text=BLOCKED_NOTE),)


async def test_a_child_that_hides_its_own_first_entry_hides_none_of_its_parents() -> None:
    one = world(calls(("spawn_thread", {"instructions": "look", "child_of": ["t1"]})), says("done"))
    await one.run(user("parents text"))
    (spawn,) = [sent for sent in one.dispatcher.internal if '"spawn"' in sent.body]
    child = replace(one, thread_id=str(spawn.group))
    one.model.play(says("blocked", stop_reason="content_filtered"), says("fine"))
    await child.run(delivered(spawn))
    assert "parents text" in str(build_request(await child.manager(), one.app.agent(), 1).messages)
