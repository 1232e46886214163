"""Does a claim say the opposite of its source? One line for each way to say it."""

# ruff: noqa: E501 - a pair a line

import pytest
from judge.citations.reading import read

from judge.citations.contradiction import Pairing
from judge.citations.facts import Date, Quantity, quantities
from judge.citations.support import support

OPPOSITES = """
# negation
Your landlord must keep the boiler in repair. | Your landlord doesn't have to keep the boiler in repair.
Your landlord must keep the boiler in repair. | Your landlord doesn’t have to keep the boiler in repair.
Your landlord must keep the boiler in repair. | Your landlord never has to keep the boiler in repair.
Bailiffs cannot enter your home by force. | Bailiffs can enter your home by force.
Neither parent can take the child abroad. | Both parents can take the child abroad.
The shop must refund you. | The shop can fail to refund you.
You can claim the benefit at work. | You are unable to claim the benefit at work.
Pupils with special needs must be given support. | Pupils without special needs must be given support.
A grandparent has no automatic right to see a grandchild. | A grandparent has an automatic right to see a grandchild.
No one can force you to sign a new agreement. | Your landlord can force you to sign a new agreement.
The airline owes you compensation for delays. | The airline owes you nothing for delays.
The order stops your ex from entering the home. | The order does not stop your ex from entering the home.
Your ex is prevented from entering the home. | Your ex may enter the home.
A court can stop a parent from taking the child abroad. | A court can let a parent take the child abroad.
Nobody has to sign the lease. | Everybody has to sign the lease.
The council is required not to charge you. | The council is required to charge you.
The tenant's deposit must be protected by the landlord. | The landlord's deposit must be protected by the tenant.
No tenant under 18 can sign the lease. | Tenants under 18 can sign the lease.
# said to be untrue
Your landlord must repair the boiler. | It is false that your landlord must repair the boiler.
You can leave without notice. | It is a myth that you can leave without notice.
The deposit is protected in a scheme. | It isn't the case that the deposit is protected in a scheme.
Tenants pay the letting fee themselves. | It is not true that tenants pay the letting fee themselves.
You are entitled to a refund within 14 days. | It is wrong to say that you are entitled to a refund within 14 days.
Smoking is not allowed in the flat. | It is untrue that smoking is not allowed in the flat.
You must give notice in writing. | The law does not say that you must give notice in writing.
# with words before and after that the source has not
Your landlord must keep the boiler in repair. | The guidance you were shown says that your landlord does not have to keep the boiler in repair.
You must not withhold rent to force repairs. | You may withhold rent to force repairs, and you should talk to him before going any further.
The shop must refund you for faulty goods. | No, you were not wrong: the shop need not refund you for faulty goods.
The landlord is responsible for repairs, in a reasonable time. | You are being unreasonable: the landlord is not responsible for repairs.
# two numbers, one of them another
You can appeal within 4 weeks (28 days) of the letter. | You can appeal within 4 weeks (128 days) of the letter.
# only and even
A landlord can evict a tenant only after a court order. | A landlord can evict a tenant without a court order.
You can leave until the meeting starts. | You cannot leave until the meeting starts.
# duty and leave
You get to see the child each week. | You do not get to see the child each week.
You must not withhold rent to force repairs. | You may withhold rent to force repairs.
The council must investigate complaints about noise. | The council may investigate complaints about noise.
Employers do not have to give a reference. | Employers must give a reference.
You should tell your employer that you are ill. | You should not tell your employer that you are ill.
It is illegal to leave a young child alone. | It is legal to leave a young child alone.
Homework is not compulsory in primary schools. | Homework is compulsory in primary schools.
# numbers, units, dates
You must have 24 hours' notice of a visit. | You must have 14 hours' notice of a visit.
You can appeal within 14 days of the decision. | You can appeal within 14 weeks of the decision.
You can appeal within two weeks of the decision. | You can appeal within four weeks of the decision.
The contract must last at least 2 years. | The contract must last at most 2 years.
The fine can be up to £5,000. | The fine can be up to £500.
Interest is charged at 8%. | Interest is charged at 18 per cent.
The deadline is 31 January 2025. | The deadline is 31 March 2025.
The scheme began in 2019. | The scheme began in 2021.
Gas appliances are checked every year. | Gas appliances are checked every two years.
Noise after 11pm can lead to a warning. | Noise after 9pm can lead to a warning.
A landlord can only increase the rent once a year. | A landlord can increase the rent more than once a year.
# who does what
The tenant must pay the landlord for the damage. | The landlord must pay the tenant for the damage.
The tenant must pay the landlord for the damage. | The tenant must be paid by the landlord for the damage.
The tenant must pay the landlord, whatever it is for. | The landlord must pay the tenant, whatever it is for.
You must give your landlord notice. | Your landlord must give you notice.
Your landlord is responsible for repairs. | The tenant is responsible for repairs.
The employer must give the employee a written statement. | The employee must give the employer a written statement.
The school must consult parents about uniform. | Parents must consult the school about uniform.
# opposites, shares, conditions, order
You will keep your deposit if you cancel. | You will lose your deposit if you cancel.
Contact should continue for the child. | Contact should stop for the child.
Rent can increase if you agree. | Rent can decrease if you agree.
The notice is invalid without a date. | The notice is valid without a date.
All workers get a written statement. | Some workers get a written statement.
Most employees can take time off. | Few employees can take time off.
The first meeting with the mediator is cheap. | The first meeting with the mediator is dear.
Opening a window keeps a room dry. | Opening a window keeps a room damp.
The insurer must pay the claim unless you were careless. | The insurer must pay the claim if you were careless.
Rent can increase only if both sides sign. | Rent can increase even if both sides sign.
You must get permission before cutting the hedge. | You must get permission after cutting the hedge.
Formal action should come after a talk in private. | Formal action should come before a talk in private.
The sign costs less than the fence. | The fence costs less than the sign.
The sign costs less than the fence. | The sign costs more than the fence.
The sign is cheaper than the fence. | The fence is cheaper than the sign.
Renters need more rest than owners. | Owners need more rest than renters.
The bank denied that the card was stolen. | The bank agreed that the card was stolen.
Only the owner can end the contract. | Anyone can end the contract for the owner.
The rent can rise once a year. | The rent can rise several times a year.
# what is denied, and in which words
Late payment is a ground on which a lodger may be evicted. | Late payment is no ground on which a lodger may be evicted.
Late payment is reason to evict a lodger. | Late payment is not enough to evict a lodger.
Nothing is charged for a copy of the deed. | A fee is charged for a copy of the deed.
The rota is a burden for nobody in the flat. | The rota is a burden for everybody in the flat.
The loan was interest-free. | Interest was charged on the loan.
Students are exempt from the tax. | Students pay the tax.
Early feeding is discouraged. | Early feeding is recommended.
The manager turned down the request. | The manager accepted the request.
The judge upheld the claim. | The judge dismissed the claim.
Goods bought before 28 November 2022 can be returned. | Goods bought after 28 November 2022 can be returned.
The company should then give assistance free of charge. | The company should not then give assistance free of charge.
Landlords cannot charge more than the open market rate. | Landlords can charge more than the open market rate.
You can get the allowance if you are getting a pension. | You can get the allowance if you are not getting a pension.
If posters are not removed, the council will remove them. | If posters are not removed, the council will not remove them.
The landlord can end the tenancy, as allowed under the rules. | The landlord can end the tenancy, as forbidden under the rules.
The letter does not give the owner the right to enter the cellar. | The letter gives the owner the right to enter the cellar.
There is no lawful ground for a search of the locker. | There is a lawful ground for a search of the locker.
No receipt is needed for the parcel. | A receipt is needed for the parcel.
It is not unusual for a cat to stray. | It is unusual for a cat to stray.
Where tiles were broken the owner must replace the roof. | Where tiles were broken the owner need not replace the roof.
Keeping a goat needs permission. | Keeping a goat does not need permission.
The owner has to pay at least the market rate. | The owner has to pay at most the market rate.
The lodger kept the spare key. | The lodger lost the spare key.
The upper flat pays for the roof. | The lower flat pays for the roof.
# a duty for a leave, and the one thing for the other
The ferry must carry a lifeboat for the crew. | The ferry may leave out the lifeboat for the crew.
Write to the tenant rather than phoning him. | Phone the tenant rather than writing to him.
Any guest may use the pool. | Only a guest may use the pool.
# order and ordinals
You must not swim until the guard says it is safe. | You may swim before the guard says it is safe.
The benefit is paid from the first day of the leave. | The benefit is paid from the third day of the leave.
""".strip().splitlines()

SAME = """
# said to be untrue
You do not have to pay for fair wear and tear. | It is not true that you have to pay for fair wear and tear.
You can leave without notice. | It is a myth that you cannot leave without notice.
Your landlord must repair the boiler. | It is not false that your landlord must repair the boiler.
A court order is not needed. | It is untrue that a court order is needed.
Your landlord must keep the boiler in repair. | The landlord has to keep your boiler in good repair.
Bailiffs cannot enter your home by force. | Bailiffs aren't allowed to enter your home by force.
You do not have to answer questions from the bailiff. | You needn't answer the bailiff's questions.
Your employer must accept your request. | Your employer cannot refuse your request.
You can be evicted if you do not pay the rent. | You can be evicted unless you pay the rent.
Your data can only be shared with your consent. | Without your consent your data cannot be shared.
A court order is needed to evict a tenant. | Without a court order, a landlord cannot evict a tenant.
You cannot work more than 48 hours a week. | You can't work over 48 hours a week.
You must pay within 14 days of the letter. | You have to pay within two weeks of the letter.
You must pay within 14 days of the letter. | You have to pay within a fortnight of the letter.
The term is at least 12 months. | The term is one year or more.
Insurance must be at least £2 million. | Insurance of £2m or more is required.
The landlord must be paid by the tenant. | The tenant must pay the landlord.
If the tenant leaves, the landlord must return the deposit. | The landlord must return the deposit if the tenant leaves.
It is against the law to discriminate because of age. | Discriminating because of age is illegal.
Tenants cannot be evicted in winter. | No tenant can be evicted in winter.
No tenant under 18 can sign the lease. | Tenants under 18 cannot sign the lease.
You get to see the child each week. | You may see the child each week.
Schools must consult parents before changing the uniform. | Before it changes the uniform, a school must consult parents.
You may claim not only the fare but a meal. | You may claim the fare and a meal.
The notice is invalid if the deposit was not protected. | If the deposit wasn't protected, the notice isn't valid.
Payments are checked every year by the bank. | Payments are checked annually by the bank.
The scheme began in April 2019. | The scheme began in 2019.
The deadline for tax is 31 January. | The deadline for tax is 31 January 2025.
The deadline for tax is 31 January 2025. | The tax deadline is January 31, 2025.
A lodger cannot be evicted for late payment. | Late payment is no ground on which a lodger may be evicted.
The sign costs less than the fence. | The fence costs more than the sign.
The sign is cheaper than the fence. | The fence is dearer than the sign.
People who are not married have fewer rights than married people. | Married people have more rights than those who are not married.
Renters prefer a notice to a quarrel. | Renters would rather have a notice than a quarrel.
The bank denied that the card was stolen. | According to the bank, the card was not stolen.
Students do not pay council tax. | Council tax does not have to be paid by students.
Your landlord must give you notice. | A tenant must be given notice.
Owners must clear up after a dog. | Clearing up after a dog is a duty for its owner.
The request was turned down by the manager. | The manager refused the request.
Only the owner can end the contract. | Nobody but the owner can end the contract.
You get at least 28 days' paid leave a year. | Paid leave is 28 days a year or more.
Lodgers share a kitchen with the owner. | The owner shares a kitchen with lodgers.
The surgery discourages home visits. | Home visits are discouraged by the surgery.
Cold water prevents the stain from setting. | The stain will not set if you use cold water.
It is impossible to evict a tenant without a court order. | Evicting a tenant requires an order of the court.
If you have no income, you may claim the allowance. | You may claim the allowance if you have no income.
The ban applies to cars as well as vans. | Vans and cars alike are banned.
You should shop around for the best value. | You ought to shop around for the best value.
You must provide the legal minimum. | You have to provide the legal minimum.
If you do not do what it says, you could get a sanction. | You could get a sanction if you do not do what it says.
Goods bought before 28 November 2022 can be returned. | Goods bought by 28 November 2022 can be returned.
If they do not reply, the council can charge them. | The council can charge them if they do not reply.
If they do not, you can take them to court. | You can take them to court if they do not.
If you appeal after the deadline, it may be refused. | It may be refused if you appeal after the deadline.
You cannot have more than £16,000 in savings. | You are not able to have more than £16,000 in savings.
Working hours cannot be averaged out if you are under 18. | If you are under 18, working hours are not able to be averaged out.
You can avoid paying more than you owe by calling. | It is possible for you to avoid paying more than you owe by calling.
# not without, not unless, not until: only with
Freeholders are entitled to charge ground rent only if the lease says so. | Unless your lease provides for it, the freeholder cannot ask for ground rent.
Only a person with parental responsibility can consent to the trip. | Nobody without parental responsibility can consent to the trip.
Your flatmate has no right to enter your room without asking. | Your flatmate must ask before going into your room.
You need the permission of everyone with parental responsibility before moving abroad with a child. | You cannot move abroad with your child unless all who have parental responsibility agree.
You must attend a mediation meeting before applying to court. | You cannot apply to court until you have been to a mediation meeting.
Interest is added unless you pay within 30 days. | Pay within 30 days or interest is added.
You do not need a receipt to return faulty goods. | Faulty goods can be returned without a receipt.
# a denial and an order, a bound or a share that is turned too
Do not sign before you have read the contract. | Read the contract before you sign.
You must give at least one week's notice after a month in the job. | After a month in the job, leaving with less than a week's notice is not an option.
Rent can only be increased once a year. | The rent may not go up more than once a year.
You can only claim if your flight was delayed by more than 3 hours. | A delay of two hours is too short for a claim.
Most families disagree about chores at some point. | Few families never argue about chores.
Small claims are usually cheaper and quicker than going to the county court. | Going to the county court is slower and dearer than a small claim.
Verbal contracts are harder to prove than written ones. | Written contracts are easier to prove than verbal ones.
# what is denied
A repair must be done in a reasonable time. | You are not being unreasonable: a repair must be done in a reasonable time.
You are not liable for your partner's debts unless you signed for them. | Your partner's debts are not yours if you never signed for them.
There is no legal right to a smoking break. | The law gives nobody a right to a smoking break.
Flexible hours are a benefit for the staff and a burden for nobody. | Staff gain from flexible hours and no one is burdened.
Neighbours cannot object to a plan just because it spoils their view. | Losing a view is not a valid reason for objecting to a plan.
You are not allowed to burn household waste that causes pollution. | Burning household waste that pollutes is prohibited.
The landlord must ask the tenant for permission before entering. | Your landlord needs your permission before coming in.
Workers under 18 cannot work more than 8 hours a day. | Workers under 18 may work no longer than eight hours a day.
A bonus is not something that the firm has to pay. | The firm does not have to pay a bonus.
Not every tree is protected. | Some trees are not protected.
A late fee is no reason for the bank to close the account. | The bank may not close the account because of a late fee.
The bus has to let prams in. | Prams must be allowed on the bus.
The owner must pay at least the market rate. | The owner may not pay less than the market rate.
You need no permit for a shed under 3 metres. | Sheds lower than 3 metres need no permit.
You need not go to court if you can agree about the child. | Parents who agree can stay out of court.
The seller bears the cost of the van. | The van is not at the buyer's cost.
Bailiffs must not enter if only children under 16 are at home. | When only children under 16 are at home, bailiffs cannot enter.
Smoking is banned. | You have to smoke outside.
# a duty in a condition, and whose it is
Give written notice if you think you'll need to refer to it later. | Put it in writing so you can refer to it later.
Employers must keep their employees’ personal data safe, secure and up to date. | Employers have to keep their staff's personal data safe and secure.
""".strip().splitlines()

TOLD_BESIDE = """
Your deposit protection scheme offers a free dispute resolution service if you disagree with your landlord about how much of it should be returned. | In the UK a deposit scheme offers free dispute resolution, which isn't compulsory and needs both sides to agree.
You must give your landlord 28 days' notice if you want to change the date. | You didn't give enough warning, since a change of the date needs 28 days' notice to your landlord.
If your dog is near the limit of weight and you have been a member for more than 3 months (but less than one year), you can enter the show. | Although you've been here less than a year, after more than three months you can enter the show if your dog is close to the limit of weight.
A claim is open to you once your job has lasted 2 years. | Your job lasted eighteen months, and a claim is open to you once it has lasted two years.
""".strip().splitlines()


KINDS = """
number | You must have 24 hours' notice of a visit. | You must have 14 hours' notice of a visit.
order | You must get permission before cutting the hedge. | You must get permission after cutting the hedge.
order | Renters need more rest than owners. | Owners need more rest than renters.
roles | The tenant's deposit must be protected by the landlord. | The landlord's deposit must be protected by the tenant.
roles | Your landlord is responsible for repairs. | The tenant is responsible for repairs.
share | All workers get a written statement. | Some workers get a written statement.
share | Only the owner can end the contract. | Anyone can end the contract for the owner.
modality | The council must investigate complaints about noise. | The council may investigate complaints about noise.
condition | Rent can increase only if both sides sign. | Rent can increase even if both sides sign.
contrary | The guide is for pupils. | The guide is for teachers.
sign | The shop must refund you. | The shop can fail to refund you.
""".strip().splitlines()


def contradicts(claim: str, sentences: list[str]) -> bool:
    return support(claim, sentences).contradicts


def pairs(lines: list[str]) -> list[tuple[str, str]]:
    return [tuple(map(str.strip, line.split("|"))) for line in lines if "|" in line]  # type: ignore[misc]


@pytest.mark.parametrize(("source", "claim"), pairs(OPPOSITES))
def test_opposite_contradicts_its_source_and_has_less_support(source: str, claim: str) -> None:
    found = support(claim, [source])
    assert found.contradicts
    assert found.score is None or found.score < 0.5


@pytest.mark.parametrize("row", KINDS)
def test_disagreement_has_its_kind(row: str) -> None:
    kind, source, claim = map(str.strip, row.split("|"))
    assert set(Pairing.of(read(claim), read(source)).disagreements) == {kind}


@pytest.mark.parametrize(("source", "claim"), pairs(SAME))
def test_paraphrase_does_not_contradict(source: str, claim: str) -> None:
    assert not contradicts(claim, [source])


@pytest.mark.parametrize(("source", "claim"), pairs(TOLD_BESIDE))
def test_statement_about_the_story_does_not_contradict(source: str, claim: str) -> None:
    assert not contradicts(claim, [source])


@pytest.mark.parametrize(("source", "claim"), pairs(SAME))
def test_source_does_not_contradict_its_paraphrase(source: str, claim: str) -> None:
    assert not contradicts(source, [claim])


def test_possible_reversal_has_less_support_without_a_contradiction() -> None:
    source = ["A lodger can be asked to leave with reasonable notice."]
    said = "Reasonable notice is enough to make a lodger go."
    turned = "A lodger cannot be made to go, whatever notice is given."
    assert support(turned, source).score < support(said, source).score
    assert not contradicts(turned, source)


@pytest.mark.parametrize(
    ("source", "said", "turned"),
    [
        (
            "Your landlord must repair the heating within a reasonable time.",
            "A broken radiator has to be mended by the owner before long.",
            "A broken radiator can be left as it is by the owner.",
        ),
        (
            "Nobody else has a key to the cellar.",
            "None of the other residents can get downstairs.",
            "The other residents get downstairs with ease.",
        ),
    ],
    ids=["duty and leave", "denied and not"],
)
def test_duty_and_permission_are_distinguished_in_other_words(
    source: str, said: str, turned: str
) -> None:
    assert support(turned, [source]).score < support(said, [source]).score
    assert not contradicts(turned, [source])


@pytest.mark.parametrize(
    ("source", "said", "turned"),
    [
        (
            "A lodger may keep the key.",
            "The key can stay with whoever lodges.",
            "The key never stays with whoever lodges.",
        ),
        (
            "Sellers pay the tax.",
            "The tax is paid by those who sell.",
            "The tax is paid by those who sell, whatever they sell.",
        ),
    ],
    ids=["leave and denied", "no exception"],
)
def test_stronger_or_weaker_claim_has_less_support(source: str, said: str, turned: str) -> None:
    assert support(turned, [source]).score < support(said, [source]).score


def test_negation_without_an_apostrophe_is_recognised() -> None:
    claim = "Your landlord doesn't have to keep the boiler in repair.".replace("'", "")
    assert contradicts(claim, ["Your landlord must keep the boiler in repair."])


def test_a_number_that_the_source_has_elsewhere_is_not_contradicted() -> None:
    source = ["The first letter gives you 14 days to pay.", "The last letter gives you 7 days."]
    assert not contradicts("The first letter gives you 7 days to pay.", source)


def test_of_two_equally_close_sentences_the_agreeing_one_counts() -> None:
    source = ["Tenants can keep a dog in the flat.", "Tenants cannot keep a dog in the flat."]
    found = support("A tenant must not keep a dog in the flat.", source)
    assert (found.contradicts, found.sentence) == (False, 1)


def test_doubt_costs_less_in_a_longer_sentence() -> None:
    short = "Your landlord should mend the boiler within a reasonable time."
    told = "after your letter about the heating, the hot water and the damp in the small room"
    left = []
    for source in (short, f"{short[:-1]} {told}."):
        said = support("The owner must mend a broken heater in time.", [source]).score
        turned = support("The owner need not mend a broken heater in time.", [source])
        assert not turned.contradicts
        left.append(turned.score / said)
    assert left[0] < left[1] < 1


def test_a_sentence_on_something_else_does_not_contradict() -> None:
    assert not contradicts("You cannot keep a dog in the flat.", ["You can paint the flat white."])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two weeks", Quantity(14 * 86400, "second")),
        ("a fine of £1,200.50", Quantity(1200.5, "money")),
        ("£2m", Quantity(2e6, "money")),
        ("one hundred and fifty pounds", Quantity(150, "money")),
        ("at least 3 working days", Quantity(3 * 86400, "second", "least")),
        ("cancelled for a month", Quantity(1, "month")),
        ("no more than 3 months", Quantity(3, "month", "most")),
        ("3 months or less", Quantity(3, "month", "most")),
        ("cannot work more than 48 hours", Quantity(48 * 3600, "second", "most")),
        ("half of it", Quantity(50, "%")),
        ("8 per cent", Quantity(8, "%")),
        ("every two weeks", Quantity(14, "every")),
        ("12pm", Quantity(12, "clock")),
        ("the 6th of April 2024", Date(6, 4, 2024)),
        ("April 6, 2024", Date(6, 4, 2024)),
        ("in Sept 2024", Date(0, 0, 2024)),
        ("since 1998", Date(0, 0, 1998, "least")),
    ],
)
def test_a_number_is_read_with_its_unit_and_its_bound(text: str, expected: object) -> None:
    assert quantities(text) == [expected]


@pytest.mark.parametrize("text", ["one of them", "a day off", "no one"])
def test_text_that_resembles_a_number_is_not_a_number(text: str) -> None:
    assert quantities(text) == []
