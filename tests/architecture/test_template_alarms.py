"""What must not go unnoticed has an alarm: inputs that wait, records that die, bodies kept for people, functions that
crash or get no concurrency. A record that fails is no error of its function, so errors alone would not show it.
"""

import json
import re
from typing import Any

import pytest

from core.facts import MessageLeft, Settled
from handlers.batch import KEPT_FOR_PEOPLE
from handlers.numbers import SliceNumbers
from handlers.telemetry import Telemetry
from tests.architecture.template import (
    GIVEN,
    dead_letters_of,
    event_sources,
    functions,
    kept_for_people,
    queues,
    resources,
)

ALARMS = resources("CloudWatch::Alarm")
FILTERS = resources("Logs::MetricFilter")
TAKE_INPUTS = ("AgentFunction", "DeadLettersFunction")
"""The functions that refuse and park."""
ERROR_LINES = {
    "ParkedBodies": (TAKE_INPUTS, KEPT_FOR_PEOPLE),
    "ForbiddenInputs": (TAKE_INPUTS, {"forbidden"}),
    "SweepFailures": (("SweeperFunction",), {"fail"}),
}
"""Who logs the lines that a metric counts, and their actions."""


def watched(metric: str, dimension: str) -> dict[str, Any]:
    """The alarms on a metric, by the queue or function that they watch."""
    return {
        str(alarm["Dimensions"][0]["Value"]).removesuffix(".QueueName"): alarm
        for alarm in ALARMS.values()
        if alarm["MetricName"] == metric and alarm["Dimensions"][0]["Name"] == dimension
    }


def filters_of(metric: str) -> list[Any]:
    return [found for found in FILTERS.values() if found["MetricTransformations"][0]["MetricName"] == metric]


def test_every_queue_whose_messages_are_to_be_taken_has_an_alarm_on_how_long_they_wait() -> None:
    ages = watched("ApproximateAgeOfOldestMessage", "QueueName")
    dead = {dead_letters_of(name) for name in queues()} | kept_for_people()
    assert set(ages) == set(queues()) - dead
    timeouts = {function.name: function.properties["Timeout"] for function in functions()}
    for source in event_sources():
        if source.queue in ages:
            longest = queues()[source.queue]["VisibilityTimeout"] + timeouts[source.function]
            assert ages[source.queue]["Threshold"] > longest, "one lost invocation is no alarm"


def test_every_dead_letter_queue_has_an_alarm_when_something_comes() -> None:
    came = watched("NumberOfMessagesReceived", "QueueName")
    kept = watched("ApproximateNumberOfMessagesVisible", "QueueName")
    read = {source.queue for source in event_sources() if source.function == "DeadLettersFunction"}
    assert (set(came), set(kept)) == (read, {"WebhookDeadLetterQueue"} | kept_for_people())


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_every_function_has_an_alarm_on(metric: str) -> None:
    assert set(watched(metric, "FunctionName")) == {function.name for function in functions()}


@pytest.mark.parametrize("metric", ERROR_LINES)
def test_a_metric_counts_lines_wherever_they_are_logged_and_has_an_alarm(metric: str) -> None:
    loggers, actions = ERROR_LINES[metric]
    groups = {f.properties["LoggingConfig"]["LogGroup"] for f in functions() if f.name in loggers}
    assert {found["LogGroupName"] for found in filters_of(metric)} == groups
    for found in filters_of(metric):
        assert set(re.findall(r'\$\.action = "(\w+)"', found["FilterPattern"])) == actions
        (counted,) = found["MetricTransformations"]
        (alarm,) = (alarm for alarm in ALARMS.values() if alarm["MetricName"] == metric)
        assert alarm["Namespace"] == counted["MetricNamespace"]
        assert (counted["MetricValue"], alarm["Statistic"], alarm["Threshold"]) == ("1", "Sum", 1)


def test_an_alarm_on_a_metric_of_the_agents_own_is_on_one_that_it_writes() -> None:
    (alarm,) = (alarm for alarm in ALARMS.values() if alarm["MetricName"] == "UndeliverableMessages")
    numbers = SliceNumbers(0.0)
    numbers.hear(Settled(1, {}, (MessageLeft("o", "output", "Gone", carried=False),)), 1.0)
    numbers.end(1.0, failed=False)
    written = Telemetry.read({"TORPOR_STACK": "${AWS::StackName}"}, "agent", {}).lines
    (line,) = map(json.loads, written.of_slice(numbers))
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    ((dimension,),) = directive["Dimensions"]
    assert alarm["Dimensions"] == [{"Name": dimension, "Value": line[dimension]}]
    assert (directive["Namespace"], line[alarm["MetricName"]]) == (alarm["Namespace"], [1])


@pytest.mark.parametrize("alarm", ALARMS.values(), ids=ALARMS)
def test_an_alarm_tells_the_topic_soon_and_rests_while_there_is_nothing_to_measure(alarm: Any) -> None:
    """The first thing that is wrong is told, and in five minutes; a wait within the hour."""
    assert alarm["AlarmActions"] == [GIVEN["AlarmTopicArn"]]
    assert (alarm["TreatMissingData"], alarm["ComparisonOperator"]) == (
        "notBreaching",
        "GreaterThanOrEqualToThreshold",
    )
    lasts = alarm["MetricName"].startswith("Approximate")
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (300, 1)
    assert alarm["Statistic"] == ("Maximum" if lasts else "Sum")
    assert alarm["Threshold"] < 3600 if "Age" in alarm["MetricName"] else alarm["Threshold"] == 1


def test_without_a_topic_alarms_have_no_action() -> None:
    assert not any("AlarmActions" in alarm for alarm in resources("CloudWatch::Alarm", default=True).values())
