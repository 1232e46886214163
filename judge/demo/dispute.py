"""The dispute that `judge demo --once` judges, and the settings under which nothing is needed."""

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

SITE_MARK = "http://example-site"
"""Stands in our sources file for the address, which is known only when the site runs."""


DEADLINE_S = 300.0
"""For a model on a machine like this one, which may write a few words a second."""


def demo_settings(site: str, folder: Path, chosen: DemoSettings | None = None) -> Settings:
    """Settings for a demo with the example pages at *site*; what it writes goes to *folder*.

    A demo does the same on every machine, but that of what is *chosen* a model behind `openai:`
    judges, and the origins may call it.
    """
    sources = folder / "sources.toml"
    template = files("judge.demo").joinpath("sources.toml").read_text(encoding="utf-8")
    sources.write_text(template.replace(SITE_MARK, site), encoding="utf-8")
    given = chosen.model_dump() if chosen else {}
    if not given.get("model", "").startswith(OPENAI):
        given["model"] = EXTRACTIVE
    return Settings.model_construct(
        **given,
        deadline_s=DEADLINE_S,
        sources=str(sources),
        data_dir=str(folder / "data"),
        trusted_hosts=(urlsplit(site).netloc,),
    )
