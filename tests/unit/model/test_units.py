# SPDX-License-Identifier: Apache-2.0
"""Typed units: what people write, and what is printed."""

from __future__ import annotations

import random

import pytest

from quiclab.model.units import Bitrate, ByteCount, Duration, Share


@pytest.mark.parametrize(
    ("text", "ns"),
    [("20 ms", 20_000_000), ("1.5s", 1_500_000_000), ("250 us", 250_000), ("250µs", 250_000), ("2 min", 120 * 10**9),
     ("0 ns", 0), ("-3 ms", -3_000_000), (" .5 ms ", 500_000), ("1e3 ms", 10**9)],
)  # fmt: skip
def test_durations_are_whole_nanoseconds(text: str, ns: int) -> None:
    """Every unit of time is exact."""
    assert Duration.parse(text) == Duration(ns)


@pytest.mark.parametrize(
    ("text", "bit_per_s"),
    [("10 Mbit/s", 10**7), ("10mbit", 10**7), ("1.5 Gbit/s", 15 * 10**8), ("64 kbit/s", 64_000), ("9600 bit/s", 9600),
     ("10 Mbps", 10**7)],
)  # fmt: skip
def test_rates_are_bits_per_second(text: str, bit_per_s: int) -> None:
    """The spellings of a rate mean powers of 1000 bits."""
    assert Bitrate.parse(text) == Bitrate(bit_per_s)


@pytest.mark.parametrize(
    ("text", "size"),
    [("100 KB", 100_000), ("100 kB", 100_000), ("1 MB", 10**6), ("1 MiB", 2**20), ("1 KiB", 1024), ("0 B", 0)],
)
def test_sizes_tell_decimal_from_binary(text: str, size: int) -> None:
    """KB is 1000 bytes and KiB is 1024."""
    assert ByteCount.parse(text) == ByteCount(size)


@pytest.mark.parametrize(("text", "value"), [("1 %", 0.01), ("0.1%", 0.001), ("100 %", 1.0), ("0 %", 0.0)])
def test_shares_are_written_in_per_cent(text: str, value: float) -> None:
    """A share is kept as a proportion."""
    assert Share.parse(text) == Share(value)


@pytest.mark.parametrize("text", ["120 %", "-1 %", "0.01", "1 ms", ""])
def test_a_share_is_within_0_and_100_per_cent(text: str) -> None:
    """Anything else is refused, also a bare number."""
    with pytest.raises(ValueError):
        Share.parse(text)


@pytest.mark.parametrize("text", ["１０ ms", "٣ ms", "1e１ ms", "1.٣ ms"])
def test_digits_are_ascii(text: str) -> None:
    """Others look like what they are not, and nothing else that reads a spec knows them."""
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(text)


@pytest.mark.parametrize("exponent", ["99", "999999999", "9" * 30, "-" + "9" * 30])
def test_an_exponent_may_be_out_of_range(exponent: str) -> None:
    """However long it is."""
    with pytest.raises(ValueError, match="is out of range for a duration"):
        Duration.parse(f"1e{exponent} ms")


@pytest.mark.parametrize(
    ("unit", "text"),
    [(Duration, "20"), (Duration, "20 Mbit/s"), (Duration, "ms"), (Bitrate, "10 MB/s"), (Bitrate, "ten Mbit/s"),
     (ByteCount, "10 Mbit"), (ByteCount, "1 0 KB"), (ByteCount, "1,5 MB")],
)  # fmt: skip
def test_a_quantity_needs_its_own_unit(unit: type[Duration | Bitrate | ByteCount], text: str) -> None:
    """The error repeats the text and names units that exist."""
    with pytest.raises(ValueError, match="write a number and one of") as caught:
        unit.parse(text)
    assert repr(text) in str(caught.value)


def test_nothing_finer_than_the_smallest_unit_is_kept() -> None:
    """Half a nanosecond is refused and not rounded."""
    with pytest.raises(ValueError, match="finer"):
        Duration.parse("0.5 ns")


@pytest.mark.parametrize(
    ("quantity", "text"),
    [(Duration(20_000_000), "20 ms"), (Duration(1_500_000_000), "1.5 s"), (Duration(0), "0 ns"),
     (Duration(120 * 10**9), "120 s"), (Bitrate(10**7), "10 Mbit/s"), (ByteCount(48_000), "48 KB"),
     (Share(0.01), "1 %"), (Share(0.001), "0.1 %")],
)  # fmt: skip
def test_quantities_print_as_people_write_them(quantity: Duration | Bitrate | ByteCount | Share, text: str) -> None:
    """The largest unit that stays short."""
    assert str(quantity) == text


@pytest.mark.parametrize("unit", [Duration, Bitrate, ByteCount])
def test_what_is_printed_reads_back_exactly(unit: type[Duration | Bitrate | ByteCount]) -> None:
    """Printing loses nothing, whatever the magnitude."""
    draw = random.Random(1)
    for _ in range(2000):
        quantity = unit(draw.randrange(10 ** draw.randrange(1, 14)))
        assert unit.parse(str(quantity)) == quantity


def test_rate_and_time_and_size_agree() -> None:
    """10 Mbit/s carries 25,000 bytes in 20 ms and needs 1.2 ms for a packet; an odd size rounds up."""
    rate = Bitrate(10**7)
    assert rate.bytes_in(Duration.parse("20 ms")) == ByteCount(25_000)
    assert rate.time_for(ByteCount(1500)) == Duration.parse("1.2 ms")
    assert Bitrate(3).time_for(ByteCount(1)) == Duration(2_666_666_667)


def test_durations_add_and_compare() -> None:
    """Sums stay durations, and order is by length."""
    assert Duration(1) + Duration(2) == Duration(3)
    assert Duration.from_s(0.02) == Duration.parse("20 ms")
    assert Duration.parse("20 ms").ms == 20.0
    assert Duration.parse("999 us") < Duration.parse("1 ms")
