#!/bin/sh
# Ask Judge with curl. JUDGE_URL says where it is; JUDGE_API_KEY is sent when it is set.
set -eu

curl --silent --show-error --fail-with-body \
  --header 'Content-Type: application/json' \
  ${JUDGE_API_KEY:+--header "Authorization: Bearer $JUDGE_API_KEY"} \
  --data @- "${JUDGE_URL:-http://127.0.0.1:8000}/api/judge" <<'JSON'
{
  "context": "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
  "query": "Am I being unreasonable to ask for part of the rent back?"
}
JSON
