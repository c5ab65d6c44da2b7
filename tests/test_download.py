"""Downloads, against a real server on this machine."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments.download import SOURCES, Source, fetch, main

CONTENT = b"ten conversations" * 10_000


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "data.json").write_bytes(CONTENT)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture
def source(server: str) -> Source:
    return Source(f"{server}/data.json", hashlib.sha256(CONTENT).hexdigest(), "locomo/data.json", "MIT")


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once_and_then_recognised(source: Source, tmp_path: Path):
    folder = tmp_path / "data"
    assert fetch(source, folder)
    assert (folder / source.path).read_bytes() == CONTENT
    assert not fetch(source, folder)
    assert files_in(folder) == [source.path]


def test_a_file_right_in_the_folder_is_recognised(source: Source, tmp_path: Path):
    (tmp_path / "data.json").write_bytes(CONTENT)
    assert not fetch(source, tmp_path)
    assert not (tmp_path / source.path).exists()


def test_another_file_than_the_published_one_is_not_kept(source: Source, tmp_path: Path):
    folder = tmp_path / "data"
    with pytest.raises(ValueError, match="sha256"):
        fetch(source._replace(sha256="0" * 64), folder)
    assert files_in(folder) == []


def test_a_file_of_the_users_is_left_alone(source: Source, tmp_path: Path):
    target = tmp_path / source.path
    target.parent.mkdir()
    target.write_bytes(b"my own notes")
    with pytest.raises(FileExistsError, match="move it away"):
        fetch(source, tmp_path)
    assert target.read_bytes() == b"my own notes"


@pytest.mark.parametrize("path", ["/missing.json", None])
def test_no_file_and_no_server_end_in_one_line(
    server: str, path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    # Port 9 discards; nobody listens there.
    url = f"{server}{path}" if path else "http://127.0.0.1:9/data.json"
    monkeypatch.setitem(SOURCES, "locomo", SOURCES["locomo"]._replace(url=url))
    assert main(["locomo", "--data-dir", str(tmp_path / "data")]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "locomo" in shown.err
    assert files_in(tmp_path / "data") == []


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exit_:
        main(["loco"])
    assert exit_.value.code == 2
    assert "choose from" in capsys.readouterr().err
