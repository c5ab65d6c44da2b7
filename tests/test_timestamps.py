import os
import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from memory.timestamps import to_timestamp


def test_one_rule_in_any_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
    forms = [
        datetime(2026, 1, 5, 12),
        datetime(2026, 1, 5, 20, tzinfo=timezone(timedelta(hours=8))),
        "2026-01-05T12:00:00",
        "2026-01-05T12:00:00Z",
        "2026-01-05 20:00:00+08:00",
        noon,
        int(noon),
    ]
    for zone in ("UTC", "Asia/Shanghai", "America/New_York"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        time.tzset()
        assert {to_timestamp(form) for form in forms} == {noon}
        assert to_timestamp(date(2026, 1, 5)) == to_timestamp("2026-1-5") == noon - 12 * 3600
    monkeypatch.undo()
    time.tzset()


def test_dates_order_in_time_not_as_text() -> None:
    texts = ["2026-1-5", "10 January, 2026", "2026-02-10", "2026-11-01"]
    assert sorted(texts, key=to_timestamp) == texts


@pytest.mark.parametrize("value", ["yesterday", "", "2026-13-01", float("nan"), float("inf"), True])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"time|month"):
        to_timestamp(value)  # type: ignore[arg-type]
