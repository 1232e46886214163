"""Seven calls for help in six languages: the model names the rule, and its lines come first.

Written before the words of `safety.toml` were read. In English words find most of them too; in the
other languages there is only the model, and without one the emergency lines.
"""

import json
from pathlib import Path

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.errors import ModelUnavailable
from judge.golden.replay import ReplayFetcher
from judge.types.requests import JudgeRequest
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.verdicts.replies import good_reply

ROOT = Path(__file__).parents[3]
KNOWN = compile_knowledge((ROOT / "config" / "sources.toml").read_text())
TITLES = {rule.name: rule.help[0].title for rule in KNOWN.catalog.safety}
EMERGENCY = {line.title for line in KNOWN.catalog.country.emergency}

SAID = {
    "self-harm": (
        "i cant do this anymore and nobody would miss me",
        "ya no puedo más y nadie me echaría de menos",
        "لم أعد أحتمل ولن يفتقدني أحد",
        "alla i ddim gwneud hyn ddim mwy a fyddai neb yn fy ngholli",
        "अब मुझसे नहीं होता और किसी को मेरी कमी महसूस नहीं होगी",
        "nie daję już rady i nikt by za mną nie tęsknił",
    ),
    "child-at-risk": (
        "my dad comes into my room at night and i dont like it",
        "mi padre entra en mi cuarto por la noche y no me gusta",
        "أبي يدخل غرفتي ليلا ولا يعجبني ذلك",
        "mae dad yn dod i fy stafell yn y nos a dwi ddim yn ei hoffi",
        "पापा रात को मेरे कमरे में आते हैं और मुझे अच्छा नहीं लगता",
        "tata przychodzi w nocy do mojego pokoju i nie podoba mi się to",
    ),
    "forced-marriage": (
        "booked a flight to Pakistan, they want me married",
        "han reservado un vuelo a Pakistán, quieren casarme",
        "حجزوا رحلة إلى باكستان ويريدون تزويجي",
        "maen nhw wedi bwcio awyren i Bacistan, maen nhw am fy mhriodi",
        "पाकिस्तान का टिकट कट गया है, वे मेरी शादी कराना चाहते हैं",
        "zarezerwowali lot do Pakistanu, chcą mnie wydać za mąż",
    ),
    "adult-at-risk": (
        "My carer shouts at me and hides my phone",
        "Mi cuidadora me grita y me esconde el teléfono",
        "مقدمة الرعاية تصرخ في وجهي وتخفي هاتفي",
        "Mae fy ngofalwr yn gweiddi arna i ac yn cuddio fy ffôn",
        "मेरी देखभाल करने वाली मुझ पर चिल्लाती है और मेरा फ़ोन छिपा देती है",
        "Opiekunka krzyczy na mnie i chowa mi telefon",
    ),
    "sexual-violence": (
        "manager keeps putting his hand on my leg",
        "el encargado no para de ponerme la mano en la pierna",
        "المدير يضع يده على ساقي باستمرار",
        "mae'r rheolwr yn rhoi ei law ar fy nghoes o hyd",
        "मैनेजर बार-बार मेरे पैर पर हाथ रखता है",
        "kierownik ciągle kładzie mi rękę na nodze",
    ),
    "violence": (
        "my husband hits me",
        "mi marido me pega",
        "زوجي يضربني",
        "mae fy ngŵr yn fy nharo i",
        "मेरा पति मुझे मारता है",
        "mąż mnie bije",
    ),
    "exploitation": (
        "boss took my passport and i sleep in the shop",
        "el jefe me quitó el pasaporte y duermo en la tienda",
        "أخذ صاحب العمل جواز سفري وأنام في المتجر",
        "aeth y bos â fy mhasbort a dwi'n cysgu yn y siop",
        "मालिक ने मेरा पासपोर्ट ले लिया और मैं दुकान में सोता हूँ",
        "szef zabrał mi paszport i śpię w sklepie",
    ),
}


async def help_for(said: str, model: ScriptedModel) -> list[str]:
    clock, journal = FakeClock(), RecordingJournal()
    retriever = text_retriever(ReplayFetcher({}), clock, journal)
    pipeline = build_pipeline(KNOWN, retriever, model, None, clock=clock, journal=journal)
    request = JudgeRequest(context=said, query="¿Y ahora?", domain="default")
    try:
        lines = (await pipeline.judge(request, request_id="r")).help
    except ModelUnavailable as error:
        lines = list(error.help_lines)
    return [line.title for line in lines]


@pytest.mark.parametrize("rule", SAID)
async def test_what_the_model_names_brings_its_lines_in_any_language(rule: str) -> None:
    body = good_reply(summary="You are not.", references_help=False, quotes=[])
    reply = json.dumps({**body, "care": [rule]})
    for said in SAID[rule]:
        assert TITLES[rule] in await help_for(said, ScriptedModel(reply)), said


@pytest.mark.parametrize("rule", SAID)
async def test_without_a_model_the_emergency_lines_are_there(rule: str) -> None:
    for said in SAID[rule][1:]:
        assert set(await help_for(said, ScriptedModel())) >= EMERGENCY, said
