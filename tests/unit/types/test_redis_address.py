"""Which values of REDIS_URL are valid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.settings import Settings
from judge.types.redis_address import parse_redis_url

SCHEMES = st.sampled_from(["redis", "rediss", "redis+cluster", "redis+sentinel", "http", ""])
SECRET = "geheim"


@given(SCHEMES, st.text("ab:1@/?#,[]%=. ", max_size=20))
def test_any_text_is_parsed_or_refused_without_the_password(scheme: str, rest: str):
    try:
        address = parse_redis_url(f"{scheme}://:{SECRET}@{rest}")
    except ValueError as error:
        assert SECRET not in str(error)  # noqa: PT017 - most texts raise nothing
    else:
        assert all(url.startswith(("redis://", "rediss://")) for url in address.urls)


def test_login_and_options_apply_to_every_host():
    address = parse_redis_url("rediss+cluster://me:pw@a:1,[::1]:2?ssl_cert_reqs=none")
    assert address.urls == (
        "rediss://me:pw@a:1/?ssl_cert_reqs=none",
        "rediss://me:pw@[::1]:2/?ssl_cert_reqs=none",
    )


def test_invalid_setting_is_refused_with_an_example():
    with pytest.raises(ValidationError, match="names no service; write it as redis"):
        Settings(REDIS_URL="redis+sentinel://a:26379")
