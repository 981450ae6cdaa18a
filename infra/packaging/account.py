"""Where a deployment goes: the region, and the account behind the credentials that are here. Asked before the build,
which takes longer.
"""

import os
from dataclasses import dataclass

import boto3
from botocore.exceptions import NoCredentialsError

from core.errors import SettingsError
from infra.aws_errors import AWS_FAILURES

_ADVICE = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure` or `aws sso login`"


@dataclass(frozen=True, slots=True)
class Account:
    """An AWS account, or an emulator's."""

    number: str
    region: str


def account(region: str | None) -> Account:
    """Region: the given one, else the environment's or the profile's. Raises SettingsError."""
    try:
        session = boto3.session.Session(region_name=region or os.environ.get("AWS_REGION") or None)
        if not session.region_name:
            raise SettingsError("no region is chosen: REGION=…, or AWS_REGION, or one in the profile")
        who = session.client("sts").get_caller_identity()
    except NoCredentialsError as error:
        raise SettingsError(f"there are no AWS credentials here: {_ADVICE}") from error
    except AWS_FAILURES as error:
        raise SettingsError(f"AWS does not know who asks: {error}; {_ADVICE}") from error
    return Account(who["Account"], session.region_name)
