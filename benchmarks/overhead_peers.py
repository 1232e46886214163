"""Peers of `overhead.py`: FastAPI doing the same job plainly, and LlamaIndex's citation engine.

This file does not import Judge; run it with an interpreter that has the peers:

    pip install fastapi uvicorn httptools redis hiredis google-genai \
        llama-index-core llama-index-llms-google-genai
    PEER=fastapi python -m uvicorn --factory overhead_peers:app

`fastapi` detects a domain by the shipped words, looks its pages up in Redis, asks for JSON through
the SDK's default transport and checks the citations: no ranking, no quotations, no limits.
`llamaindex` keeps the pages in memory and answers with references by its CitationQueryEngine.
"""

import json
import os
import re
import sys
import tomllib
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEER = os.environ.get("PEER", "fastapi")
if PEER == "fastapi":
    sys.modules["aiohttp"] = None  # as if only google-genai were installed

from fastapi import FastAPI, HTTPException, Request  # noqa: E402
from google import genai  # noqa: E402
from google.genai import types  # noqa: E402
from pydantic import BaseModel, Field  # noqa: E402
from redis.asyncio import BlockingConnectionPool, Redis  # noqa: E402

REFERENCES = 8


class Dispute(BaseModel):
    context: str = Field(min_length=10, max_length=8000)
    query: str = Field(min_length=5, max_length=1000)


class Persona(BaseModel):
    name: str
    verdict: str
    rationale: str
    key_points: list[str]


class Verdict(BaseModel):
    paraphrase: str
    personas: list[Persona]
    summary: str


def app() -> FastAPI:
    made = FastAPI(lifespan=_plain if PEER == "fastapi" else _llama_index)
    made.post("/api/judge")(judge if PEER == "fastapi" else answer)
    return made


def _options() -> types.HttpOptions:
    return types.HttpOptions(
        base_url=os.environ["JUDGE_GEMINI_BASE_URL"], api_version="v1beta", timeout=30_000
    )


@asynccontextmanager
async def _plain(app: FastAPI):
    sources = tomllib.loads((ROOT / "config/sources.toml").read_text())
    app.state.terms = {
        term: name
        for name in sources["domains"]
        for term in tomllib.loads((ROOT / f"judge/vocabulary/domains/{name}.toml").read_text())[
            "terms"
        ]
    }
    app.state.pages = {
        name: [f"snippet:{name}:{page['url']}" for page in table.get("sources", ())]
        for name, table in sources["domains"].items()
    }
    pool = BlockingConnectionPool.from_url(os.environ["REDIS_URL"], decode_responses=True)
    app.state.redis = Redis.from_pool(pool)
    app.state.gemini = genai.Client(api_key="benchmark", http_options=_options())
    yield
    await app.state.redis.aclose()


async def judge(dispute: Dispute, request: Request) -> dict:
    state = request.app.state
    text = f"{dispute.query} {dispute.context}".lower()
    counts: dict[str, int] = {}
    for word in re.findall(r"[a-z']+", text):
        if name := state.terms.get(word):
            counts[name] = counts.get(name, 0) + 1
    domain = max(counts, key=counts.__getitem__) if counts else "default"
    found = await state.redis.mget(state.pages.get(domain) or ["none"])
    texts = [one for one in found if one][:REFERENCES]
    block = "\n".join(f"[{n}] {{1}} {one}" for n, one in enumerate(texts, 1))
    reply = await state.gemini.aio.models.generate_content(
        model="gemini-3.8-flash",
        contents=f"<REFERENCES>\n{block}\n</REFERENCES>\n<DISPUTE>\nWhat happened: "
        f"{dispute.context}\nThe question: {dispute.query}\n</DISPUTE>\n",
        config=types.GenerateContentConfig(
            system_instruction="Judge the dispute as three personas. Cite references like [1].",
            response_mime_type="application/json",
            response_json_schema=Verdict.model_json_schema(),
        ),
    )
    verdict = Verdict.model_validate_json(reply.text)
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", verdict.summary)}
    if any(not 1 <= number <= len(texts) for number in cited):
        raise HTTPException(502, "a citation out of range")
    return {**verdict.model_dump(), "domain": domain, "references": texts, "cited": list(cited)}


@asynccontextmanager
async def _llama_index(app: FastAPI):
    from llama_index.core import MockEmbedding, VectorStoreIndex
    from llama_index.core.query_engine import CitationQueryEngine
    from llama_index.core.schema import TextNode
    from llama_index.llms.google_genai import GoogleGenAI

    # It requests the limits of its model, which the fake does not have.
    limits = types.Model(name="fake", input_token_limit=32768, output_token_limit=8192)
    genai.models.Models.get = lambda *_, **__: limits
    redis = Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
    keys = [key async for key in redis.scan_iter("content:*")]
    texts = [json.loads(value)["passages"] for value in await redis.mget(keys)]
    await redis.aclose()
    nodes = [TextNode(text=" ".join(p["text"] for p in passages[:2])) for passages in texts]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=256))
    llm = GoogleGenAI(
        model="gemini-2.5-flash", api_key="benchmark", http_options=_options(), context_window=32768
    )
    app.state.engine = CitationQueryEngine.from_args(
        index, llm=llm, similarity_top_k=REFERENCES, citation_chunk_size=512
    )
    yield


async def answer(dispute: Dispute, request: Request) -> dict:
    found = await request.app.state.engine.aquery(f"{dispute.context}\n{dispute.query}")
    return {"summary": str(found), "references": [one.text for one in found.source_nodes]}
