"""Which numbers a sentence states, and when two of them agree."""

import pytest

from judge.citations.facts import Date, Quantity, differ, quantities

DAY = 86400.0
READ = {
    "ten tenants": [Quantity(10, "", "tenants")],
    "£1,234.56": [Quantity(1234.56, "pound")],
    "£3k": [Quantity(3000, "pound")],
    "£4bn": [Quantity(4e9, "pound")],
    "3 million pounds": [Quantity(3e6, "pound")],
    "twenty-one days": [Quantity(21 * DAY, "second")],
    "two hundred and five": [Quantity(205, "")],
    "one thousand two hundred pounds": [Quantity(1200, "pound")],
    "two million five hundred thousand": [Quantity(2.5e6, "")],
    "5.5 per cent": [Quantity(5.5, "%")],
    "2 km": [Quantity(2000, "metre")],
    "3m": [Quantity(3, "metre")],
    "1.5 hours": [Quantity(5400, "second")],
    "14 calendar days": [Quantity(14 * DAY, "second")],
    "twice": [Quantity(2, "time")],
    "£2050": [Quantity(2050, "pound")],
    "2050 miles": [Quantity(2050, "mile")],
    "within a week": [Quantity(7 * DAY, "second")],
    "£2,500 two years ago": [Quantity(2500, "pound"), Quantity(24, "month")],
    "two or three days": [Quantity(2 * DAY, "second"), Quantity(3 * DAY, "second")],
    "a day or two": [Quantity(DAY, "second"), Quantity(2 * DAY, "second")],
    "£5 to £10": [Quantity(5, "pound"), Quantity(10, "pound")],
    "1–2 weeks": [Quantity(7 * DAY, "second"), Quantity(14 * DAY, "second")],
    "9am to 5pm": [Quantity(9, "clock"), Quantity(17, "clock")],
    "12am": [Quantity(0, "clock")],
    "9:30 a.m. – 5.15pm": [Quantity(9.5, "clock"), Quantity(17.25, "clock")],
    "9:00 to 17:00": [Quantity(9, "clock", "am or pm"), Quantity(17, "clock")],
    "9 to 5pm": [Quantity(9, "clock", "am or pm"), Quantity(17, "clock")],
    "12 noon, midnight or 24:00": [*(Quantity(hour, "clock") for hour in (12, 0, 0))],
    "at 1:10:30": [Quantity(1, ""), Quantity(10, ""), Quantity(30, "")],
    "one to three times": [Quantity(3, "time")],
    "a day's notice": [Quantity(DAY, "second")],
    "it takes an hour": [Quantity(3600, "second")],
    "it takes an hour and a half": [Quantity(5400, "second")],
    "10 business days": [Quantity(10 * DAY, "second")],
    "1 Apr. 2020 and Sept 2023": [Date(1, 4, 2020), Date(0, 9, 2023)],
    "once in any year": [Quantity(1, "time")],
    "two\nweeks": [Quantity(14 * DAY, "second")],
    "5th of May, 2021": [Date(5, 5, 2021)],
    "May 5th": [Date(5, 5, 0)],
    "3 Mar 2020": [Date(3, 3, 2020)],
    "March 2020": [Date(0, 3, 2020)],
    "6 April to 5 May": [Date(6, 4, 0), Date(5, 5, 0)],
    "a landlord": [],
    "one of them": [],
    "28 days a year": [Quantity(28 * DAY, "second")],
    "clause 2.3.4": [],
    "1 hour and 30 minutes": [Quantity(5400, "second")],
    "2 years, 6 months": [Quantity(30, "month")],
    "an hour and thirty minutes": [Quantity(5400, "second")],
    "1hr 30min": [Quantity(5400, "second")],
    "once a year": [Quantity(1, "time")],
    "once a landlord knows": [],
    "two and a half years": [Quantity(30, "month")],
    "4½ hours": [Quantity(16200, "second")],
    "5h 10m late": [Quantity(18600, "second")],
    "6wks, 18 mths or 2yrs 3mths": [
        Quantity(42 * DAY, "second"),
        Quantity(18, "month"),
        Quantity(27, "month"),
    ],
    "€400 or 1.500 €": [Quantity(400, "euro"), Quantity(1.5, "euro")],
    "25-30 quid, 2 grand": [Quantity(25, "pound"), Quantity(30, "pound"), Quantity(2000, "pound")],
    "at 7.30 or from 9.15": [
        Quantity(7.5, "clock", "am or pm"),
        Quantity(9.25, "clock", "am or pm"),
    ],
    "from 5.25% to 4.75%, at 6.50 a pint": [
        Quantity(5.25, "%"),
        Quantity(4.75, "%"),
        Quantity(6.5, ""),
    ],
    "£28k or 45k pa": [Quantity(28000, "pound"), Quantity(45000, "", "pa")],
    "two one-hour visits": [Quantity(2, "", "one"), Quantity(3600, "second")],
    "over 75, or under 2": [Quantity(75, ""), Quantity(2, "")],
    "£50,000, or 6 weeks": [Quantity(50000, "pound"), Quantity(42 * DAY, "second")],
    "by 28/11/2025 or 1.5.24": [Date(28, 11, 2025), Date(1, 5, 2024)],
    "£1 500 or $12 000": [Quantity(1500, "pound"), Quantity(12000, "dollar")],
    "£1 in 2 000 cases": [Quantity(1, "pound"), Quantity(2, "", ""), Quantity(0, "", "cases")],
}

SAME = """
ten tenants | 10 tenant
14 days | two weeks
28 days | one month
31 days | one month
5 May | 5 May 2024
3/11/2025 | November 3, 2025
3/11/2025 | March 11, 2025
2 to 3 days | 3 days
£0.10 | 10p
9am | 09:00
9 a.m. | 9:00
5.30pm | 17:30
11:00pm | 23:00
midnight | 12am
""".strip().splitlines()

OTHER = """
10 tenants | 12 tenants
27 days | one month
32 days | one month
5 May 2023 | 5 May 2024
5 May | 6 May
5 May | 5 June
in 2023 | in 2024
2 to 3 days | 4 days
9am | 9pm
9am | 09:30
5:00 | 17:30
""".strip().splitlines()

UNLIKE = """
10 tenants | 12 pupils
5 miles | 5 metres
5 May | in 2024
5 May | 5 days
£50 | €50
5 days | £5
""".strip().splitlines()


@pytest.mark.parametrize("text", READ)
def test_numbers_and_dates_are_read(text: str) -> None:
    assert quantities(text) == READ[text]


@pytest.mark.parametrize(
    ("pairs", "agree", "conflict"), [(SAME, True, False), (OTHER, False, True), (UNLIKE, 0, 0)]
)
def test_two_numbers_agree_differ_or_are_about_something_else(
    pairs: list[str], agree: bool, conflict: bool
) -> None:
    for pair in pairs:
        one, other = map(quantities, pair.split(" | "))
        assert all(any(map(fact.agrees, one)) for fact in other) == agree, pair
        assert differ(other, one) == conflict, pair
