"""Ask Judge from Python with httpx, and print the answer with its references.

JUDGE_URL says where it is; JUDGE_API_KEY is sent when it is set.
"""

import os
import sys

import httpx

DISPUTE = {
    "context": "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
    "query": "Am I being unreasonable to ask for part of the rent back?",
}


def main() -> int:
    key = os.getenv("JUDGE_API_KEY")
    with httpx.Client(
        base_url=os.getenv("JUDGE_URL", "http://127.0.0.1:8000"),
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=60,  # a model takes its time
    ) as client:
        reply = client.post("/api/judge", json=DISPUTE)
    if reply.is_error:
        # Problem details (RFC 9457): `type` is for programs, `detail` for people.
        problem = reply.json()
        print(f"{problem['title']}: {problem['detail']}", file=sys.stderr)
        return 1
    show(reply.json())
    return 0


def show(verdict: dict) -> None:
    print(verdict["summary"], end="\n\n")
    for persona in verdict["personas"]:
        print(f"{persona['name']}: {persona['verdict'] or 'no verdict'}")
        print(f"  {persona['rationale']}")
    for reference in verdict["references"]:
        if reference["cited"]:
            print(f"[{reference['number']}] {reference['title']} {reference['url']}")
    if verdict["evidence"] == "not_applicable":
        print("None of the pages that were looked at bears on this.")
    for warning in verdict["warnings"]:
        print(f"Note: {warning}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
