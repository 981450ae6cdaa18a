"""`spawn_thread`: checked against who asks and every limit, before anything is spent (invariant *safe spawn*)."""

from collections.abc import Mapping
from typing import Any

from core.entries import ToolCall
from core.ids import child_thread_id
from core.outbox import SendSpawn
from core.slice.builtin.caller import MAX_TEXT_BYTES, Caller, Told, done, failed, is_too_long
from core.spawning import child_of, lineage_here, open_child, played_by
from core.supervisor import least_credit
from core.thread import ThreadState


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:
    """Spawn a child, or tell the model why not."""
    stack, draft = caller.thread_stack, caller.manager.draft
    if (refused := _refusal(caller, arguments)) is not None:
        return refused
    thread_id = child_thread_id(stack[0], call.call_id)
    spawn = SendSpawn(
        thread_id=thread_id,
        call_id=call.call_id,
        child_kind="spawned",
        agent=arguments["agent"] or played_by(draft.state, caller.agent),
        credit=caller.spawn_credit,
        lineage=lineage_here(draft) if arguments["inherit"] else (),
    )
    open_child(draft, spawn, child_of(spawn))
    return done(thread_id=thread_id, credit_tokens=caller.spawn_credit)


def _refusal(caller: Caller, arguments: Mapping[str, Any]) -> Told | None:
    stack, name = list(caller.thread_stack), arguments["agent"]
    if arguments["child_of"] != stack:
        return failed(
            f"child_of must be your own thread stack, which is {stack}. What another thread of your history was about "
            f"to spawn is not yours to spawn."
        )
    if not arguments["instructions"].strip() or is_too_long(arguments["instructions"]):
        return failed(f"instructions must not be empty, nor longer than {MAX_TEXT_BYTES:,} bytes as JSON.")
    if name is not None and name not in caller.agents:
        return failed(f"There is no agent {name!r}. The agents there are: {', '.join(caller.agents)}.")
    return _limit(caller, caller.manager.state, least_credit(caller.agents.get(name or "", caller.agent)))


def _limit(caller: Caller, state: ThreadState, least_credit: int) -> Told | None:
    limits = caller.agent.limits
    open_children = sum(child.kind == "spawned" for child in state.children)
    if len(caller.thread_stack) > limits.spawn_depth:
        return failed(
            f"Limit reached: threads nest at most {limits.spawn_depth} deep. Do it yourself.", "limit"
        )
    if open_children >= limits.open_children:
        return failed(
            f"Limit reached: {open_children} children are open. Wait for their reports or close one.", "limit"
        )
    if caller.spawn_credit < least_credit:
        return failed(
            f"Limit reached: {max(0, state.credit or 0)} tokens are left, too few to give a child the {least_credit} "
            f"that one answer may take. Do it yourself, or answer with what there is.",
            "limit",
        )
    return None
