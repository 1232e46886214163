"""The dispute that `judge demo --once` judges, and settings that need no key and no network."""

from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from judge.settings import EXTRACTIVE, OPENAI, DemoSettings, Settings

CONTEXT = (
    "The boiler in my rented flat in Leeds broke down three weeks ago, so there is no heating "
    "and no hot water. I told my landlord the same day, in writing, and twice since. He answers "
    "that he is busy, that an electric heater will do, and that I am making a fuss."
)
QUERY = "Am I being unreasonable to expect my landlord to repair the boiler now?"

SITE_PLACEHOLDER = "http://example-site"
"""The placeholder in sources.toml for the site's address, which is known only when it runs."""

DEADLINE_S = 300.0
"""Enough for a model on the user's machine that writes a few words per second."""


def demo_settings(site: str, folder: Path, chosen: DemoSettings) -> Settings:
    """Settings for a demo with the example pages at *site*; its files are written to *folder*.

    Few of the *chosen* settings matter, so that a demo is the same on every machine: an `openai:`
    model with its server and thinking, the deadline, and the CORS origins.
    """
    sources = folder / "sources.toml"
    template = files("judge.demo").joinpath("sources.toml").read_text(encoding="utf-8")
    sources.write_text(template.replace(SITE_PLACEHOLDER, site), encoding="utf-8")
    model = chosen.model if chosen.model.startswith(OPENAI) else EXTRACTIVE
    deadline_s = chosen.deadline_s if "deadline_s" in chosen.model_fields_set else DEADLINE_S
    return Settings.model_construct(
        **chosen.model_dump() | {"model": model, "deadline_s": deadline_s},
        sources=str(sources),
        data_dir=str(folder / "data"),
        trusted_hosts=(urlsplit(site).netloc,),
    )
