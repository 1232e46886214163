"""Quotations and addresses that stand in nothing are found, and honest ones are not."""

from judge.citations.claims import made_up_addresses, made_up_quotations
from judge.citations.marks import find_marks

KNOWN = (
    (
        "Private renting\nYour landlord must keep the boiler, heating and hot water in working "
        "order. Repairs must be carried out within a reasonable time once you have reported them. "
        "Call Shelter on 0808 800 4444, and the board on (01) 702 8100.\nhttps://www.gov.uk/private-renting/your-landlord"
    ),
    "The council can inspect a rented home that is cold, damp or unsafe.",
    (
        "He told me: “I will come on Tuesday morning with a new pump”. My number is +44 7700 900123"
        ". He says I'm far too impatient. I'll get it when his brother is back. Why wait for him?"
    ),
    "https://www.samaritans.org 116 123",
)
MADE_UP = """
The guidance says "landlords must pay compensation for every day" [1].
According to the page, ‘you can stop paying rent at once’ [1].
“Tenants may leave without any notice”, says the guidance [1].
The rules say “you may withhold all rent until then” [1].
Under [1] landlords ‘have to mend it within 24 hours’.
As the page puts it, «the landlord must provide heaters free of charge» [1].
Im Gesetz steht „dass der Vermieter sofort zahlen muss“ [1].
『landlords have to pay for everything』 is what it says [1].
The guidance is clear, saying “landlords pay for all hotels” [1].
The guidance tells you to “ask a judge for an injunction now” [1].
The guidance goes on to say “stop all payments right now” [1].
It says “repairs must be carried out within two days once you have reported them” [1].
He said “I will never mend it for you” [1].
The guidance says ”you may withhold all rent until then” [1].
The guidance says ＂you may withhold all rent until then＂ [1].
The guidance says ❝you may withhold all rent until then❞ [1].
The guidance says &ldquo;you may withhold all rent until then&rdquo; [1].
The guidance says <q>you may withhold all rent until then</q> [1].
The guidance says ``you may withhold all rent until then'' [1].
As the page puts it, “[r]epairs must be paid for by the council” [1].
[1] says landlords face “fines of up to £30,000 a week”.
The guidance says: “You may withhold all rent. You may do it today.” [1] So wait.
If the guidance says “you may withhold all rent”, do so [1].
The “landlords have to pay for all of it” rule is in the guidance [1].
""".strip().splitlines()
HONEST = """
It says “Repairs must be carried out within a reasonable time” [1].
It says “your landlord must keep the boiler … in working order” [1].
He promised “I will come on Tuesday morning with a new pump”, and the duty stands [1].
The council calls this “cold, damp or unsafe” [2].
The so-called “reasonable time” is short, and the page “Private renting” says so [1].
Tell him: “Please repair the boiler by Friday, as the law asks” [1].
Send him this: “Repairs are due within days and the fault was reported” [1].
Consider writing “repairs are overdue since the third of May” [1].
Keep it short: “The boiler is broken. The repair is due.” [1]
You could write, “The boiler has been broken for three weeks” [1].
Send a text such as “The boiler is still not working today” and keep it [1].
A calm “I would like a date for the repair” helps more [1].
The '90s boiler can't be the tenants' problem, and it isn't theirs' [1].
The guidance says “you may withhold all rent until then”. Repairs are due [1].
As the page puts it, “[r]epairs must be carried out within a reasonable time” [1].
It says “your landlord must keep the boiler . . . in working order” [1].
A 32" radiator and a 40" one must both work [1].
Wait 'til he has read the tenants' letters, since repairs are due [1].
Let him know: “The repair was reported three weeks ago” [1].
The message could read “The boiler has been off since the third of May” [1].
A short script: “The boiler is off. Repairs are overdue.” [1]
Your landlord says “you are far too impatient”, but repairs are due [1].
His “you'll get it when my brother is back” is no date, and repairs are due [1].
“Why wait for me?” is a fair question, since repairs are due [1].
The shop's “no refunds, sold as seen” sign changes nothing, and repairs are due [1].
A “use it or lose it” rule does not end a duty, and repairs are due [1].
If he answers “the plumber is on holiday”, repairs are still due [1].
He said “no” and then you wrote again, and “no” came back, but repairs are due [1].
""".strip().splitlines()
UNKNOWN_ADDRESSES = (
    "https://www.gov.uk/made-up", "www.shelter.org/legal", "help@council.example",
    "citizensadvice.org.uk/foo", "http://192.0.2.1/x", "0300 123 4567", "020-7946-0000",
    "(020) 7946 0999", "+44 20 7946 0958", "0161.496.0000", "call 555-0199", "text 88833",
    "(617) 555-0199", "1-800-555-0199", "617.555.0199", "1300 555 019", "1800-555-019",
    "0800\u00a0555\u00a00199", "0800 555 0199 (24 hours)", "tenancy.govt.nz/forms",
    "ontario.ca/cold", "tribunal.vic.gov.au/cold",
    "0300 800 4444", "+44 300 800 4444", "+353 1 800 4444", "(866) 702 8100", "1-866-702-8100",
    "https://www.gov.uk/private-rent", "gov.uk/private-renting/your", "maritans.org",
)  # fmt: skip
NO_UNKNOWN_ADDRESS = """
See gov.uk/private-renting/your-landlord, GOV.UK or samaritans.org.
Call 0808 800 4444 24 hours a day.
Call (01) 702 8100, 01 702 8100 or +353 1 702 8100, and from abroad +44 808 800 4444.
Call 08088004444, 0808 800 4444 or 07700 900123, and 116 123 or 999 in danger.
On 01.04.2025 at 9, from 01/04/2025 to 01/05/2025, between 1990 and 2000.
It cost £1,500,000, 0.5 per cent or 0.25 0.125, in 2024-2025, for 0 10 20 30 40 50 people.
Open 09.00–17.30; call him between 10.30–12.30, or text at 17.30-18.00.
Your phone bill of 2024 (12 months), text message 1 (2024) and the call log 2023-2024 help.
The phone call of 3 May 2024 10:15 took 12 minutes.
Call Shelter on 0808 800 4444 (24 hours a day), or 0808\u00a0800\u00a04444 – 24 hours a day.
Call Samaritans on 116 123 (24 hours a day, 7 days a week), or 101 (24 hours).
The sort code 04-00-04, account 01234567, ISBN 978-0-19-852663-6 and 1300 of 1800 tenants.
The page (https://www.gov.uk/private-renting/your-landlord)[1] is short—it is.
The pages above it are gov.uk/private-renting/ and www.gov.uk/private-renting.
See `https://www.gov.uk/private-renting/your-landlord` or samaritans.org[1].
See https://www.gov.uk/private-renting/your-landlord—it is short.
Phone him 3 times, at 10 on Monday; a.m. or p.m., e.g. with letter.pdf, under section 21(1)(a).
""".strip().splitlines()


def test_quotation_of_four_words_must_stand_in_what_is_known() -> None:
    found = {said: list(made_up_quotations(said, find_marks(said), KNOWN)) for said in MADE_UP}
    assert [said for said, quotations in found.items() if len(quotations) != 1] == []
    assert all(quotation in said for said, [quotation] in found.items())


def test_honest_quotations_and_words_to_say_are_not_made_up() -> None:
    found = {said: list(made_up_quotations(said, find_marks(said), KNOWN)) for said in HONEST}
    assert {said: quotations for said, quotations in found.items() if quotations} == {}


def test_address_or_number_must_stand_in_what_is_known() -> None:
    for address in UNKNOWN_ADDRESSES:
        assert len(list(made_up_addresses(f"So {address}.", KNOWN))) == 1, address
    for said in NO_UNKNOWN_ADDRESS:
        assert list(made_up_addresses(said, KNOWN)) == [], said
