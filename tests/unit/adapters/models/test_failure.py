"""What a failed call means: whether to ask again, and what the operator is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.failure import (
    CURRENT_MODEL,
    GOOGLE_HINTS,
    MAX_RETRY_AFTER_S,
    failure_of,
)
from judge.settings import DEFAULT_MODEL

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def google(status: str, message: str = "", reason: str = "", **detail: object) -> dict:
    details = [{"reason": reason, **detail}] if reason or detail else []
    return {"error": {"status": status, "message": message, "details": details}}


def failed(status, error, retry_after=""):
    return failure_of(status, error, retry_after, GOOGLE_HINTS)


def quota(name: str, message: str = "") -> dict:
    return google("RESOURCE_EXHAUSTED", message, violations=[{"quotaId": name}])


@pytest.mark.parametrize("status", [408, 429, 499, 500, 502, 503, 504, 529])
def test_transient_errors_are_retryable(status):
    assert failed(status, {}, "7").retry_after_s == 7.0


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (400, google("INVALID_ARGUMENT"), "check JUDGE_MODEL"),
        (400, google("INVALID_ARGUMENT", reason="API_KEY_INVALID"), "the key was refused"),
        (
            400,
            google("FAILED_PRECONDITION", "User location is not supported for the API use."),
            "does not serve this location without billing",
        ),
        (401, google("UNAUTHENTICATED"), "the key was refused"),
        (401, google("UNAUTHENTICATED", reason="ACCESS_TOKEN_TYPE_UNSUPPORTED"), "wrong kind"),
        (403, google("PERMISSION_DENIED", "Your API key was reported as leaked."), "leaked"),
        (403, google("PERMISSION_DENIED", reason="SERVICE_DISABLED"), "not enabled"),
        (403, google("X", reason="API_KEY_HTTP_REFERRER_BLOCKED"), "referrer"),
        (403, google("X", reason="API_KEY_IP_ADDRESS_BLOCKED"), "IP addresses"),
        (404, google("NOT_FOUND"), "retired"),
        (400, google("INVALID_ARGUMENT", "API key expired. Renew it."), "the key was refused"),
        (400, google("INVALID_ARGUMENT", "API Key not found. Pass one."), "the key was refused"),
        (400, google("FAILED_PRECONDITION", "No free tier in your country."), "location"),
        (403, google("X", "The API has not been used in project 1 before."), "not enabled"),
        (403, google("X", reason="BILLING_DISABLED"), "billing is not enabled"),
        (403, google("X", reason="CONSUMER_SUSPENDED"), "suspended"),
        (403, google("X", reason="API_KEY_ANDROID_APP_BLOCKED"), "other programs"),
        (403, google("X", "Your project has been denied access."), "suspended"),
        (302, None, "leads to a redirect"),
    ],
)
def test_refusal_is_final_and_says_what_to_do(status, error, hint):
    failure = failed(status, error)

    assert not failure.may_retry
    assert hint in failure.hint


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (402, None),
        (429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "Please retry in 2s.")),
        (429, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "limit: 0, model: x")),
        (429, google("RESOURCE_EXHAUSTED", "monthly spending cap")),
        (429, {"error": {"code": "insufficient_quota"}}),
        (429, google("RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.")),
        (429, {"error": {"message": "Your account balance is too low, please recharge"}}),
        (429, {"error": {"message": "You have reached your monthly usage limit"}}),
        (400, {"error": {"message": "Your credit balance is too low to access the API"}}),
        (403, {"error": {"code": "AllocationQuota.FreeTierOnly", "message": "Used up."}}),
        (403, {"error": {"message": "Key limit exceeded (monthly limit)."}}),
        (403, {"error": "Your team doesn't have any credits yet. You can purchase them."}),
        (412, {"error": {"message": "Suspended, possibly at the monthly spending limit."}}),
        (400, {"error": {"message": "Budget has been exceeded! Max budget: 10.0"}}),
        (400, {"error": {"message": "User over budget.", "type": "budget_exceeded"}}),
        (403, {"message": "Out of call volume quota. Quota will be replenished in 10.02:13:14."}),
        (429, {"error": {"message": "Rate limit exceeded: free-models-per-day."}}),
        (429, {"error": {"message": "Rate limit of 50 per 86400s exceeded for UserByModelByDay."}}),
    ],
)
def test_quota_that_lasts_is_final(status, error):
    failure = failed(status, error)

    assert not failure.may_retry
    assert "quota" in failure.hint
    assert "billing" in failure.hint


@pytest.mark.parametrize(
    "error",
    [
        quota("GenerateRequestsPerMinutePerProjectPerModel", "check your plan and billing details"),
        google("RESOURCE_EXHAUSTED", "Too many requests this minute."),
        {"error": {"message": "Exceeded: free-models-per-min. Add credits to unlock more."}},
        {"error": {"message": "Rate limit of 10 per 60s exceeded for UserByModelByMinute."}},
        {"error": {"message": "Limit: 3 requests per min. Add a payment method at x.com/billing"}},
    ],
)
def test_quota_of_a_minute_is_worth_another_try(error):
    assert failed(429, error, "1").may_retry


def test_the_model_that_is_named_is_the_default():
    assert CURRENT_MODEL == DEFAULT_MODEL


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("Thu, 01 Jan 2970 00:01:00 GMT", MAX_RETRY_AFTER_S),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("999999", MAX_RETRY_AFTER_S),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, wait_s):
    assert failed(503, None, header).retry_after_s == wait_s


def test_retry_delay_in_the_details_counts_without_a_header():
    error = google("UNAVAILABLE", retryDelay="3s")

    assert failed(503, error).retry_after_s == 3.0
    assert failed(503, error, "5").retry_after_s == 5.0


@given(st.integers(0, 999), JSON_VALUES, st.text())
def test_every_error_is_a_failure_with_a_bounded_wait(status, error, header):
    failure = failed(status, error, header)

    assert failure.retry_after_s is None or 0 <= failure.retry_after_s <= MAX_RETRY_AFTER_S
    assert failure.may_retry == (failure.hint == "")
