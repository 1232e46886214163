"""The deployment files agree with Kubernetes schemas, image, settings and metrics."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from judge.adapters.metrics import COUNTERS, GAUGES
from judge.bootstrap.sources import compile_knowledge
from judge.entrypoints.api.server import SHUTDOWN_MARGIN_S
from judge.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
BY_KIND = {one["kind"]: one for one in map(yaml.safe_load, (p.read_text() for p in MANIFESTS))}
POD = BY_KIND["Deployment"]["spec"]["template"]["spec"]
[CONTAINER] = POD["containers"]

DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}
RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{
        f"{title} {target['refId']}": target["expr"]
        for title, panel in PANELS.items()
        for target in panel["targets"]
    },
}
SELECTOR = re.compile(r"\b(judge_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')


LATENCY = "judge_http_request_seconds"
SAMPLES = {
    **{f"{name}_total": frozenset(labels) for name, (_, *labels) in COUNTERS.items()},
    **{name: frozenset() for name in GAUGES},
    **{LATENCY + suffix: frozenset({"route"}) for suffix in ("_sum", "_count")},
    f"{LATENCY}_bucket": frozenset({"route", "le"}),
}
"""The labels of each metric sample, by its name."""


def events() -> Iterator[str]:
    """The journal events in the code: literal first arguments, forwarded ones too."""
    for path in sorted((ROOT / "judge").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in {"note", "_note"} and node.args:
                yield from texts_in(node.args[0])
            elif name in {"log_error", "MeteredModel"}:
                passed = [word.value for word in node.keywords if word.arg == "event"]
                yield from (text for value in passed for text in texts_in(value))
                yield from () if passed else ("http.error",)


def texts_in(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and re.fullmatch(r"[a-z_]+\.[a-z_]+", str(part.value)):
            yield str(part.value)


EVENTS = sorted(set(events()))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("version", ["1.31", kubernetes_validate.latest_version()])
def test_every_manifest_fits_the_schema_of_kubernetes(path: Path, version: str):
    kubernetes_validate.validate(yaml.safe_load(path.read_text()), version, strict=True)


def test_termination_grace_period_covers_requests_in_flight():
    waiting_s = CONTAINER["lifecycle"]["preStop"]["sleep"]["seconds"]
    deadline_s = float(BY_KIND["ConfigMap"]["data"].get("JUDGE_DEADLINE_S", 30))
    needed_s = waiting_s + deadline_s + 2 * SHUTDOWN_MARGIN_S
    assert POD["terminationGracePeriodSeconds"] > needed_s
    ready = CONTAINER["readinessProbe"]
    assert waiting_s >= ready["periodSeconds"] * ready["failureThreshold"]


def test_pod_runs_as_the_user_of_the_image():
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert f"--uid {POD['securityContext']['runAsUser']} " in dockerfile
    assert f"EXPOSE {CONTAINER['ports'][0]['containerPort']}\n" in dockerfile
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"] is True


def test_settings_and_sources_are_valid(monkeypatch: pytest.MonkeyPatch):
    data = {p.stem: yaml.safe_load(p.read_text()).get("data") for p in MANIFESTS}
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    assert set(data["configmap"]) <= known
    for name, value in data["configmap"].items():
        monkeypatch.setenv(name, value)
    assert Settings().sources == "/etc/judge/sources.toml"
    [domain] = [
        one
        for one in compile_knowledge(data["sources"]["sources.toml"]).catalog.domains
        if one.sources
    ]
    assert domain.name == "tenancy"


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_dashboards_and_alerts_use_existing_metrics(name: str):
    selectors = SELECTOR.findall(EXPRESSIONS[name])
    assert selectors
    for sample, labels in selectors:
        assert sample in SAMPLES
        used = LABEL.findall(labels)
        assert {label for label, _, _ in used} <= SAMPLES[sample]
        named = [value for label, _, value in used if label == "event"]
        assert set("|".join(named).split("|")) - {""} <= set(EVENTS)


def test_every_metric_is_on_the_dashboard():
    shown = {sample for expression in EXPRESSIONS.values()
             for sample, _ in SELECTOR.findall(expression)}  # fmt: skip
    families = {re.sub(r"_(bucket|sum|count)$", "", sample) for sample in SAMPLES}
    assert families == {re.sub(r"_(bucket|sum|count)$", "", sample) for sample in shown}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_names_a_part_of_the_runbook_that_exists(rule: dict[str, Any]):
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.MULTILINE)
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings
    }
    assert anchor in anchors


def test_exactly_the_events_of_the_code_are_explained():
    section = OPERATIONS.partition("## What each event means")[2].partition("\n## ")[0]
    explained = re.findall(r"^\| `([a-z_.]+)` \| .+ \|$", section, re.MULTILINE)
    assert sorted(explained) == EVENTS
