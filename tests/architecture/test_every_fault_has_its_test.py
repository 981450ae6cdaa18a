"""Every fault that Torpor must withstand has a test that carries its words."""

import ast

import pytest

from tests.architecture.sources import sources

CRASHES: dict[str, tuple[str, ...]] = {
    "after receive, after load, while streaming": ("after_receive_after_load_while_streaming",),
    "between rounds of a slice": ("between_rounds_of_a_slice",),
    "the commit times out but was applied": ("the_commit_times_out_but_was_applied",),
    "the commit loses the race for its number": ("the_commit_loses_the_race_for_its_number",),
    "after the commit": (
        "after_the_commit_before_during_or_after_dispatch_before_the_markers_or_the_acknowledgement",
        "the_invocation_dies",
    ),
    "a partly failed batch send": ("a_partly_failed_batch_send",),
    "an old invocation wakes up": ("an_old_invocation_wakes_up_after_its_successor_committed",),
    "a worker dies": ("a_worker_dies_before_during_or_after_running_the_tool", "a_worker_dies"),
    "a child's first message": ("a_childs_first_message_is_lost_or_doubled",),
    "a report": ("a_report_is_lost_or_doubled",),
    "a timer is lost or doubled": ("a_timer_is_lost_or_doubled",),
    "a compaction result is lost or doubled": ("a_compaction_result_is_lost_or_doubled",),
    "the store": ("the_store_throttles", "the_store_returns_part_of_a_batch", "a_read_fails"),
    "a request, over HTTP": ("a_request_fails_over_http_before_or_after_it_took_effect",),
    "a function, deployed": ("functions_die_at_random_and_every_message_is_answered_once",),
    "the model, for now": (
        "the_model_throttles_or_disconnects_in_mid_stream",
        "is_too_slow_for_the_time_left",
    ),
    "the model refuses": ("the_model_refuses_the_request_for_good",),
    "the input exhausts its retries": ("the_input_exhausts_its_retries",),
    "a thread is erased, or expires": (
        "a_thread_is_erased_while_something_still_works_on_it",
        "a_thread_expires_while_something_still_works_on_it",
    ),
    "a dispatch": ("a_dispatch_that_can_never_succeed", "a_dispatch_that_does_not_succeed_for_hours"),
}

INPUT: dict[str, tuple[str, ...]] = {
    "redelivered": ("redelivered_re_batched_or_sent_twice_by_the_producer_now_or_days_later",),
    "results": ("results_out_of_order_doubled_late_or_for_an_unknown_closed_or_interrupted_call",),
    "reports and events": ("reports_and_events_whose_call_was_compacted_away",),
    "a result with an interruption": ("a_result_arriving_at_the_same_moment_as_the_users_interruption",),
    "malformed": ("malformed_body_unknown_type_or_version_wrong_field_types_ids_outside_the_alphabet",),
    "text": ("text_with_nul_escape_codes_lone_surrogates_non_characters",),
    "numbers": ("numbers_nan_infinities_2_63_and_0_1_in_tool_arguments_and_results",),
    "images and documents": (
        "images_and_documents_too_large_of_a_wrong_type_or_not_base64",
        "the_same_name_twice",
        "a_model_that_takes_no_media",
    ),
    "a guardrail": ("a_user_text_that_a_guardrail_blocked",),
    "huge results": ("huge_results",),
    "model output": ("model_output_of_any_kind",),
    "a tool": (
        "a_tool_that_raises_returns_what_cannot_be_serialised_or_hangs",
        "a_tool_that_returns_after_its_deadline",
    ),
    "a model without end": (
        "a_model_that_loops_for_ever",
        "a_model_that_spawns_for_ever",
        "a_model_that_spends_for_ever",
    ),
    "two threads": ("two_threads_in_one_warm_process",),
    "records": ("records_written_by_an_older_version", "records_written_by_a_newer_version"),
    "a deployment": (
        "a_deployment_between_two_slices_that_removes_a_tool",
        "a_deployment_between_two_slices_that_adds_or_changes_a_tool",
        "a_deployment_between_two_slices_that_changes_the_model",
        "a_deployment_between_two_slices_with_the_agent_gone",
        "a_deployment_between_two_slices_that_changes_the_state_type",
    ),
}


def _names() -> set[str]:
    nodes = [node for source in sources("tests") for node in source.tree.body]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {node.name for node in functions if node.name.startswith("test_")}


@pytest.mark.parametrize("row", [*CRASHES, *INPUT])
def test_a_fault_has_its_test(row: str) -> None:
    names = _names()
    missing = [words for words in (CRASHES | INPUT)[row] if not any(words in name for name in names)]
    assert missing == []
