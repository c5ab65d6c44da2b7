"""One rule for time: float seconds since 1970-01-01 UTC; a time without a zone is UTC, never the local zone."""

import math
import re
from datetime import UTC, date, datetime
from typing import TypeAlias

__all__ = ["TimeLike", "from_timestamp", "to_timestamp"]

TimeLike: TypeAlias = float | int | str | date | datetime

_LONG_DATE = re.compile(r"^(\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})$")
_SHORT_DATE = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})$")


def to_timestamp(value: TimeLike) -> float:
    """Turn a time in any accepted form into seconds since the epoch, UTC.

    Args:
        value: Epoch seconds; a `datetime` or `date`; ISO 8601 text; `2026-1-5`; or `10 January, 2026`.
            A value without a time zone is read as UTC; a date alone is its midnight.

    Returns:
        Seconds since 1970-01-01T00:00:00Z.

    Raises:
        ValueError: The text is in none of these forms, or the number is not finite.

    Example:
        >>> to_timestamp("1970-01-02")
        86400.0
        >>> to_timestamp("10 January, 1970") == to_timestamp("1970-1-10T00:00:00+00:00".replace("-1-", "-01-"))
        True
    """
    if isinstance(value, bool):
        raise ValueError(f"time {value!r} is a bool; give epoch seconds, a datetime or ISO 8601 text")
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise ValueError(f"time {value!r} is not finite; give epoch seconds, a datetime or ISO 8601 text")
        return float(value)
    if isinstance(value, str):
        value = _parse(value.strip())
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return value.timestamp()


def _parse(text: str) -> datetime:
    if short := _SHORT_DATE.match(text):
        year, month, day = (int(part) for part in short.groups())
        return datetime(year, month, day, tzinfo=UTC)
    if long := _LONG_DATE.match(text):
        for form in ("%d %B %Y", "%d %b %Y"):
            try:
                return datetime.strptime(" ".join(long.groups()), form).replace(tzinfo=UTC)
            except ValueError:
                continue
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"time {text!r} is not understood; give epoch seconds, ISO 8601 ('2026-01-10T09:00:00Z'), "
            "'2026-01-10' or '10 January, 2026'"
        ) from None


def from_timestamp(seconds: float) -> datetime:
    """The UTC datetime of `seconds` since the epoch."""
    return datetime.fromtimestamp(seconds, tz=UTC)
