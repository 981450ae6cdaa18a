"""The scenarios of the simulation that are also played over HTTP: one of each kind that makes requests of its own."""

CHOSEN = (
    "text",
    "three_calls_on_two_workers",
    "inline_then_worker",
    "interruption_with_a_result_in_flight",
    "on_busy_queue",
    "interim_report_then_end",
    "event_with_a_child",
    "approval_given_twice",
    "compaction_that_is_waited_for",
    "supervisor_with_a_follow_up",
    "fork_during_a_slice",
    "sleep_that_runs_out",
    "long_sleep",
)
MOST_REQUESTS = (
    "three_calls_on_two_workers",
    "interim_report_then_end",
    "compaction_that_is_waited_for",
    "long_sleep",
)
"""Between them they make every request there is."""
