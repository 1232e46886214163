"""Ask Judge from Python with httpx, and follow the judgement while it goes on.

JUDGE_URL says where it is; JUDGE_API_KEY is sent when it is set.
"""

import json
import os
import sys
from collections.abc import Iterator

import httpx

DISPUTE = {
    "context": "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
    "query": "Am I being unreasonable to ask for part of the rent back?",
}


def main() -> int:
    key = os.getenv("JUDGE_API_KEY")
    base_url = os.getenv("JUDGE_URL", "http://127.0.0.1:8000")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with (
        # A sign of life comes at least every 10 s, so a longer silence is a broken line.
        httpx.Client(base_url=base_url, headers=headers, timeout=20) as client,
        client.stream("POST", "/api/judge/stream", json=DISPUTE) as reply,
    ):
        if reply.is_error:
            reply.read()
            return fail(reply.json())
        for name, data in events(reply.iter_lines()):
            match name:
                case "domain":
                    print(f"It is about: {data['domain']}")
                case "references":
                    print(f"References: {len(data['references'])}")
                case "attempt":
                    print(f"Asking the model, attempt {data['number']}")
                case "field":
                    print(f"Written and checked: {data['name']}")
                case "restart":
                    print("Asked again; what is written so far no longer holds")
                case "verdict":
                    print(data["summary"])
                    return 0
                case "error":
                    return fail(data)
    return fail({"title": "The line broke", "detail": "Try again."})


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict]]:
    """Each event's name and data; comments, which keep the line alive, are passed over."""
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def fail(problem: dict) -> int:
    print(f"{problem['title']}: {problem['detail']}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
