"""Check the citations of an answer against its sources, from Python with httpx.

JUDGE_URL says where it is; JUDGE_API_KEY is sent when it is set.
"""

import os
import sys

import httpx

ANSWER = (
    "Your landlord must keep the boiler in working order [1]. "
    "The deposit must be returned within thirty days [2]. "
    "The council can fine landlords who ignore repairs."
)
SOURCES = [
    {"title": "Repairs", "text": "Your landlord must keep the boiler in working order."},
    {"title": "Lease", "text": "The deposit must be returned within ten days."},
]


def main() -> int:
    key = os.getenv("JUDGE_API_KEY")
    reply = httpx.post(
        f"{os.getenv('JUDGE_URL', 'http://127.0.0.1:8000')}/api/check",
        json={"answer": ANSWER, "sources": SOURCES},
        headers={"Authorization": f"Bearer {key}"} if key else {},
    )
    if reply.is_error:
        problem = reply.json()
        print(f"{problem['title']}: {problem['detail']}", file=sys.stderr)
        return 1
    checked = reply.json()
    for mark in checked["marks"]:
        opposite = ", CONTRADICTED" if mark["contradicts"] else ""
        print(f"[{mark['number']}] support {mark['support']}{opposite}: {mark['sentence']}")
    for claim in checked["uncited"]:
        print(f"cites nothing: {ANSWER[claim['start'] : claim['end']]}")
    print(checked["verdict"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
