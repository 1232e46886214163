"""Which numbers a sentence states, and when two of them agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.facts import Date, Fact, Quantity, differ, has_all, quantities

READ = """
# how much
ten tenants: 10 of tenants
2,050 people: 2050 of people
£1,234.56: 1234.56 money
£3k: 3000 money
£4bn: 4e9 money
3 million pounds: 3e6 money
5 thousand: 5000
three dozen eggs: 36 of eggs
twenty-one days: 21 days
two hundred and five: 205
one thousand two hundred pounds: 1200 money
two million five hundred thousand: 2.5e6
99 pence: 0.99 money
$5: 5 money
half of it: 50 %
a quarter of the rent: 25 %
5.5 per cent: 5.5 %
2 km: 2000 metre
3m: 3 metre
3 miles: 3 mile
90 seconds: 90 second
1.5 hours: 5400 second
3 yrs: 36 month
60db: 60 decibel
£2050: 2050 money
1850 days: 1850 days
# nothing to hold against anything
a landlord
one tenant
one of them
a week or so
28 days a year: 28 days
for an hour: 3600 second
up to a year: most 12 month
one day: 1 days
# one after another
£2,500 two years ago: 2500 money; 24 month
# from one number to another
two or three days: 2 days to 3 days
a day or two: 1 days to 2 days
£5 to £10: 5 money to 10 money
£5-10: 5 money to 10 money
1–2 weeks: 7 days to 14 days
1,000 to 2,000 pounds: 1000 money to 2000 money
5 to 10 per cent: 5 % to 10 %
9am to 5pm: 9 clock; 17 clock
12am: 0 clock
12 pm: 12 clock
# at least, at most
at least half: least 50 %
no more than an hour: most 3600 second
16 or over: least 16 of or
5 days or fewer: most 5 days
3 weeks at most: most 21 days
under 18: most 18
aged 16: least 16
before the age of 16: most 16
not before 9am: least 9 clock
never more than 5 days: most 5 days
not exceeding £50: most 50 money
exceeding £50: least 50 money
must not be under 18: least 18
within 14 calendar days: most 14 days
the maximum of 10 days: most 10 days
at most three times: most 3 time
# how often
twice a week: 2 time
several times a year: 3 time
it rose many times: 3 time
every day: 1 every
each month: 30 every
every six months: 180 every
every 3 weeks: 21 every
fortnightly: 14 every
yearly: 360 every
# when
5th of May, 2021: on 5 5 2021
May 5th: on 5 5 0
3 Mar 2020: on 3 3 2020
March 2020: on 0 3 2020
in 1999: on 0 0 1999
on or before 6 April 2024: most on 6 4 2024
since 6 April 2010: least on 6 4 2010
6 April to 5 May: on 6 4 0; on 5 5 0
""".strip().splitlines()

SAME = """
ten tenants | 10 tenants
10 tenants | 10 tenant
14 days | two weeks
28 days | one month
31 days | one month
59 days | two months
5 May | 5 May 2024
until 5 May | 5 May
at least 5 days | 5 days
at most twice | twice
2 to 3 days | 3 days
2 to 3 days | 2 days
2 to 3 days | 3 to 4 days
£0.10 | 10p
""".strip().splitlines()

OTHER = """
10 tenants | 12 tenants
27 days | one month
32 days | one month
5 May 2023 | 5 May 2024
5 May | 6 May
5 May | 5 June
in 2023 | in 2024
until 5 May | from 5 May
at least 5 days | at most 5 days
at least twice | twice
2 to 3 days | 4 days
2 to 3 days | 1 day
2 to 3 days | 4 to 5 days
2 to 3 days | 2 to 3 months
""".strip().splitlines()

UNLIKE = """
10 tenants | 12 pupils
5 miles | 5 metres
5 May | in 2024
5 May | 5 days
5 days | £5
2 to 3 days | 2 to 3 pounds
""".strip().splitlines()


def rows(lines: list[str], mark: str) -> list[tuple[str, str]]:
    parts = (line.partition(mark) for line in lines if not line.startswith("#"))
    return [(before.strip(), after.strip()) for before, _, after in parts]


def expected(told: str) -> list[Fact]:
    return [_fact(one.split()) for one in told.split("; ") if one]


def _fact(parts: list[str]) -> Fact:
    bound = parts.pop(0) if parts[0] in {"least", "most"} else ""
    if parts[0] == "on":
        day, month, year = map(int, parts[1:])
        return Date(day, month, year, bound)  # type: ignore[arg-type]
    low, _, high = " ".join(parts).partition(" to ")
    amount, unit, *noun = [*low.split(), "", ""]
    size = 86400 if unit == "days" else 1
    kind = {"days": "second", "of": ""}.get(unit, unit)
    most = float(high.split()[0]) * size if high else 0.0
    return Quantity(float(amount) * size, kind, bound, noun[0] if unit == "of" else "", most)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "told"), rows(READ, ":"))
def test_number_has_amount_unit_and_bound(text: str, told: str) -> None:
    assert quantities(text) == expected(told)


@pytest.mark.parametrize(("one", "other"), rows(SAME, "|"))
def test_same_number_in_two_notations_agrees(one: str, other: str) -> None:
    ours, theirs = quantities(one), quantities(other)
    assert has_all(ours, theirs)
    assert has_all(theirs, ours)
    assert not differ(ours, theirs)
    assert not differ(theirs, ours)


@pytest.mark.parametrize(("one", "other"), rows(OTHER, "|"))
def test_two_numbers_of_one_kind_differ(one: str, other: str) -> None:
    ours, theirs = quantities(one), quantities(other)
    assert differ(ours, theirs)
    assert differ(theirs, ours)
    assert not has_all(ours, theirs)


@pytest.mark.parametrize(("one", "other"), rows(UNLIKE, "|"))
def test_numbers_of_different_things_are_not_compared(one: str, other: str) -> None:
    ours, theirs = quantities(one), quantities(other)
    assert not differ(ours, theirs)
    assert not has_all(ours, theirs)


def test_a_bound_is_found_beyond_a_date() -> None:
    date, hours = quantities("You must not on 5 May 2024 work more than 48 hours.")
    assert isinstance(date, Date)
    assert (hours.bound, date.bound) == ("most", "")


def test_of_several_numbers_all_must_be_there() -> None:
    both, one = quantities("3 days and £4"), quantities("3 days")
    assert has_all(one, both)
    assert not has_all(both, one)
    assert not differ(both, one)
    assert differ(quantities("3 days and £5"), both)


def test_a_table_is_read_to_its_2000th_character() -> None:
    table = "x " * 999
    assert quantities(f"{table}7") == [Quantity(7.0, "")]
    assert quantities(f"{table} 17") == [Quantity(1.0, "")]


def test_two_additional_numbers_do_not_differ_but_three_do() -> None:
    source = quantities("£10")
    assert not differ(quantities("£10, £20, £30"), source)
    assert differ(quantities("£10, £20, £30, £40"), source)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("from 1.5.2024 to 3.5.2024", [1.5, 3.5]),
        ("clauses 2.3.4–2.3.7", [2.3, 2.3]),
        ("between 2.3.4 and 10 days", [2.3, 10 * 86400.0]),
        ("5 to 10.30.00", [5.0, 10.3]),
    ],
)
def test_a_number_of_several_points_ends_no_span(text: str, amounts: list[float]) -> None:
    assert [fact.amount for fact in quantities(text) if isinstance(fact, Quantity)] == amounts


@given(st.lists(st.sampled_from("0 1 24 . , - – £ % 24.5 to and or between days a".split())))
def test_no_row_of_figures_and_points_fails(parts: list[str]) -> None:
    for glue in ("", " "):
        assert all(isinstance(fact, Fact) for fact in quantities(glue.join(parts)))
