"""Does a claim say the opposite of its source? Claim and source on one line."""

# ruff: noqa: E501 - a pair a line

from pathlib import Path

import pytest

from judge.citations.support import support

OPPOSITES = """
Your landlord doesn’t have to keep the boiler in repair. | Your landlord must keep the boiler in repair.
Your landlord may keep the boiler in repair. | Your landlord must keep the boiler in repair.
Your landlord must not keep the boiler in repair. | Your landlord must keep the boiler in repair.
The landlord is not responsible for the boiler. | Your landlord is always responsible for the boiler, the heating and the wiring.
The landlord is never responsible for the boiler. | The landlord is responsible for the boiler.
You are wrong: bailiffs can enter your home by force. | Bailiffs cannot enter your home by force.
You are allowed to smoke in the flat. | You must not smoke in the flat.
You need not tell the council about a change. | You need to tell the council about a change.
You won't lose your deposit. | You will lose your deposit.
It did not rain in Leeds yesterday. | It rained in Leeds yesterday.
Your landlord must give you 12 hours' notice before visiting. | Your landlord must give you at least 24 hours' notice before visiting.
The deposit must be returned within thirty days. | The deposit must be returned within ten days of the end of the tenancy.
You can be fined £50 for littering. | You can be fined £150 for littering, but not for leaves.
Apply for settled status before 30 June 2022. | Apply for settled status before 30 June 2021.
Statutory sick pay lasts 28 days. | Statutory sick pay lasts 28 weeks.
The deposit is capped at six weeks' rent. | The deposit is capped at five weeks' rent.
The claim costs 8 per cent of the sum. | The claim costs 5% of the sum.
The hearing takes place on 4 May. | The hearing takes place on 3 May 2024.
The new rules began on 1 May 2025. | The new rules began on 1 April 2025.
The rent can be raised twice in 12 months. | The rent can be raised once in 12 months.
The rent can be raised once in any 12 months. | The rent can be raised twice in any 12 months.
Noise at night is checked between 22:00 and 06:00. | Noise at night is checked between 11pm and 7am.
A quarter of the deposit is returned on the first day. | Half of the deposit is returned on the first day.
You have to give a week's notice before a visit. | You have to give 24 hours' notice before a visit.
Twelve tenants can share the licensed house. | Ten tenants can share the licensed house.
The rest break is 20 minutes after 6 hours. | You must get a rest break of 15 minutes after 4½ hours and 30 minutes after 6 hours.
Workers on a 5-day week must get 20 days of leave. | Most workers on a 5-day week must get at least 28 days of leave.
You're entitled to a refund. | You are not entitled to a refund.
You've 28 days to appeal against the decision. | You have 14 days to appeal against the decision.
A tenant isn't required to sign the inventory. | A tenant is required to sign the inventory.
A tenant is not obliged to sign the inventory. | A tenant must sign the inventory.
You have 29 days to cancel, and another 14 days to send the goods back. | You have 14 days to cancel, and another 14 days to send the goods back.
The repair takes 8 to 10 weeks. | The repair takes 4 to 6 weeks.
The repair takes 4 to 9 weeks. | The repair takes 4 to 6 weeks.
Early conciliation lasts up to 6 weeks. | Early conciliation lasts up to 12 weeks.
The penalty is £60 per parent if paid in time. | The penalty is £80 per parent and per child if paid in time.
The charge is reduced by 50% until 20/11/2025. | The charge is reduced by 50% until 12 November 2025.
You must have worked at least 80 hours in the last 5 weeks. | You must have worked at least 40 hours in the last 5 weeks.
The pay is half a week's wage for a full year. | The pay is one and a half weeks' wage for a full year.
""".strip().splitlines()

NO_OPPOSITES = """
You have two weeks to appeal against the decision. | You have 14 days to appeal against the decision.
You have a month to appeal against the decision. | You have 30 days to appeal against the decision.
Half the deposit comes back on day one. | 50 per cent of the deposit comes back on the first day.
The visit takes a day or two. | The visit takes 24 to 48 hours.
The hearing takes place on 3 May. | The hearing takes place on 3 May 2024.
You can appeal within 14 days of the letter. | You can appeal within 28 days of the decision.
The scheme has 5 steps for landlords. | The scheme has 5 miles of road for landlords.
You can vote in general elections. | You cannot vote in general elections if you are under 18.
You do not have to keep the lease. | You can keep the lease.
You must not enter the flat without notice. | You can enter the flat with notice.
A landlord who doesn't answer must keep the boiler in repair. | Landlords must keep the boiler in repair.
You must pay. | You must not pay.
It takes over 7 days to return the deposit. | It takes 8 days to return the deposit.
A room must have about 6.5 square metres. | A room must have 6.51 square metres.
The rent can be raised one time a year. | The rent can be raised once a year.
The inspection takes 1 hour 30 minutes. | The inspection takes 90 minutes.
The helpline is open 08:00 to 18:00, Monday to Friday. | The helpline is open Monday to Friday, 8am to 6pm.
The helpline is open 8 to 6pm, Monday to Friday. | The helpline is open Monday to Friday, 8am to 6pm.
Noise at night is checked between 11:00pm and 7:00am. | Noise at night is checked between 11pm and 7am.
The council pays two thirds of the cost of a repair. | The council pays 67% of the cost of a repair.
The council pays 25% of the cost of a repair. | The council pays a quarter of the cost of a repair.
A court can order one to three times the deposit. | A court can order up to 3 times the deposit.
With savings of £18,400 you cannot get Universal Credit. | If you have savings of more than £16,000 you cannot get Universal Credit.
If you have savings of £9,500 your payment is reduced. | Savings between £6,000 and £16,000 reduce your payment by £4.35 for every £250.
The delay is 6 hours, so you can choose not to travel. | If the delay is 5 hours or more, you can choose not to travel.
Meters may not be fitted by force where someone is 81. | Meters may not be fitted by force where someone is over 75, or where there is a child under 2.
The yearly rent is £13,200, so the deposit is capped at 5 weeks' rent. | Your deposit is capped at 5 weeks' rent if your yearly rent is less than £50,000, or 6 weeks' rent if it is more.
Councils can serve a warning notice about noise at 1.30am. | Councils can serve a warning notice about noise between 11pm and 7am.
A court can order your landlord to pay you twice the deposit. | A court can order your landlord to pay you between 1 and 3 times the deposit.
Your employer must give you at least six weeks' notice. | Your employer must give you at least one week's notice for each year you have worked.
You earn £400, so your payment goes down by £220. | For every £1 you earn, your payment goes down by 55p.
Someone working 2 days a week must get 11.2 days of leave. | Someone working 3 days a week must get 16.8 days of leave.
For 10 days of leave the notice period is 21 days. | The notice period for leave is twice as long as the leave, plus 1 day.
Sick leave is paid up to €110 a day, so up to €550. | Sick leave is paid at 70% of normal pay up to €110 a day, for 5 days.
You have one month and two days to appeal against it. | You have one month to appeal against the decision.
The charge is reduced by 50% until 12/11/2025. | The charge is reduced by 50% until November 12, 2025.
Overtime pay is 1.5 times the regular rate. | Overtime pay is at least one and one-half times the regular rate.
Bailiffs must not enter the home. | The council should call bailiffs before they enter the home.
""".strip().splitlines()

PARAPHRASES = Path(__file__).parents[3] / "benchmarks" / "paraphrases.txt"


def contradicts(claim: str, *sentences: str) -> bool:
    return support(claim, sentences).contradicts


@pytest.mark.parametrize("pair", OPPOSITES)
def test_opposite_in_the_same_words_is_a_contradiction(pair: str) -> None:
    claim, source = pair.split(" | ")
    assert contradicts(claim, source)
    assert not contradicts(claim, source, claim)
    assert not contradicts(claim, claim)


@pytest.mark.parametrize("pair", NO_OPPOSITES)
def test_what_may_be_true_beside_its_source_is_none(pair: str) -> None:
    claim, source = pair.split(" | ")
    assert not contradicts(claim, source)


def test_number_of_another_sentence_is_no_contradiction() -> None:
    said, other = "Refunds take 28 days at the shop.", "Returned goods are kept for 28 days."
    assert contradicts(said, "Refunds take 14 days at the shop.")
    assert not contradicts(said, "Refunds take 14 days at the shop.", other)
    leaves_it_open = "Returned goods are kept for at least 21 days."
    assert contradicts(said, "Refunds take 14 days at the shop.", leaves_it_open)


def test_at_most_one_in_a_hundred_faithful_paraphrases_is_flagged() -> None:
    _, *pairs = PARAPHRASES.read_text(encoding="utf-8").strip().split("\n\n")
    flagged = [pair for pair in pairs if contradicts(*reversed(pair.split("\n")))]
    assert len(pairs) >= 300
    assert len(flagged) <= len(pairs) / 100, flagged
