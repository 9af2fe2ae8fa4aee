"""A server on loopback that answers as a hostile one does, and the attacks that any client of HTTP meets.

Everything is made of a seed: `attack(random.Random("1 hub 17"), …)` is the same attack again.
"""

import gzip
import json
import random
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

MOST_BYTES = 300 << 20
"""An endless answer ends here: a client that has read so much has no bound."""
MOST_S = 30.0
"""And here."""
PIECE = b"x" * 65_536
BOMB = gzip.compress(bytes(100 << 20), 1)


@dataclass(frozen=True)
class Query:
    """A request that came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """An honest answer, before an attack."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def head(self, **changes: str) -> bytes:
        names = {"Content-Length": str(len(self.body)), "Connection": "close", **self.headers}
        names |= {name.replace("_", "-"): value for name, value in changes.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in names.items() if value)
        return f"HTTP/1.1 {self.status} Any\r\n{lines}\r\n".encode()


Pieces = Iterable[bytes | float]
"""What is sent, and seconds to wait."""
Attack = Callable[[Answer, random.Random, str], Pieces]
"""The honest answer, chance, and the address of a server that nobody may ask → what is sent in its place."""


class HostileServer:
    """Answers each request with the pieces that `respond` makes. Runs inside `with`."""

    def __init__(self, respond: Callable[[Query], Pieces]) -> None:
        self.respond = respond
        self.queries: list[Query] = []
        self.sent = 0

    def __enter__(self) -> Self:
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = 10

            def handle(self) -> None:
                with suppress(OSError):
                    outer._serve(self)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, connection: socketserver.StreamRequestHandler) -> None:
        words = connection.rfile.readline(65_536).decode("latin-1").split()
        if len(words) < 2:
            return
        headers: dict[str, str] = {}
        while line := connection.rfile.readline(65_536).strip():
            name, _colon, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = connection.rfile.read(int(headers.get("content-length", 0)))
        query = Query(words[0], words[1], headers, body)
        self.queries.append(query)
        ends, sent = time.monotonic() + MOST_S, 0
        for piece in self.respond(query):
            if isinstance(piece, float):
                time.sleep(piece)
            else:
                connection.wfile.write(piece)
                sent += len(piece)
            self.sent = max(self.sent, sent)
            if sent > MOST_BYTES or time.monotonic() > ends:
                return


def plain(answer: Answer) -> Pieces:
    return [answer.head(), answer.body]


def _redirect(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    host, _colon, port = foreign.removeprefix("http://").partition(":")
    target = chance.choice(
        [
            f"{foreign}/taken",
            f"//{host}:{port}/taken",
            f"http://localhost:{port}/taken",
            f"http://[::ffff:127.0.0.1]:{port}/taken",
            f"http://huggingface.co@{host}:{port}/taken",
            f"http://www.youtube.com@{host}:{port}",
            f"http://0x7f.1:{port}/",
            f"http://2130706433:{port}/",
            f"http://{host}:{port}#@huggingface.co",
            f"http://{host}:{port}\\@huggingface.co/",
            f"HTTP://{host}.:{port}/",
            f"https://{host}:{port}/",
            "file:///etc/passwd",
            "http://[::1",
            "http://:80/",
            "ftp://127.0.0.1/",
            "",
            "?again",
            "\x01",
            "//",
        ]
    )
    status = chance.choice([301, 302, 303, 307, 308])
    return plain(Answer(status, {"Location": target}, b""))


def _circle(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    return plain(Answer(302, {"Location": "?" + str(chance.random())}, b""))


def _status(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    status = chance.choice([100, 204, 206, 300, 304, 400, 401, 403, 404, 408, 416, 429, 500, 502, 503, 599, 700, 99])
    headers = {"Retry-After": chance.choice(["", "0", "-1", "9" * 400, "x", "Fri, 31 Dec 9999 23:59:59 GMT"])}
    body = chance.choice([b"", answer.body, b"<html>no</html>", b'{"status": {"error": "\x1b[31mno"}}', b"\xff" * 999])
    return plain(Answer(status, headers, body))


def _half(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    return [answer.head(), answer.body[: chance.randrange(len(answer.body) + 1) // 2]]


def _nothing(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    return [
        chance.choice([b"", b"HTTP/1.1", b"\r\n\r\n", b"SSH-2.0-x\r\n", b"\x16\x03\x01" * 50, b"HTTP/9.9 x y\r\n\r\n"])
    ]


def _length(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    length = chance.choice(["-1", "abc", "9" * 30, "9" * 5000, "0x10", str(len(answer.body) + 9), "1, 2", "1"])
    return [answer.head(Content_Length=length), answer.body]


def _endless(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    start = chance.choice([answer.body, b"", b"[" * 9, b'{"result": "'])
    yield answer.head(Content_Length="") + start
    while True:
        yield PIECE


def _large(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    size = 100 << 20
    yield answer.head(Content_Length=str(size))
    for _piece in range(size // len(PIECE)):
        yield chance.choice([PIECE, b" " * len(PIECE), b"[" * len(PIECE)])


def _drip(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    yield answer.head()
    for at in range(len(answer.body)):
        yield answer.body[at : at + 1]
        yield 0.05


def _late(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    return [MOST_S, answer.head()]


def _headers(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    yield answer.head()[:-2]
    for number in range(chance.choice([200, 20_000])):
        yield f"X-{number}: {'y' * 99}\r\n".encode()
    yield b"\r\n" + answer.body


def _bomb(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    times = chance.choice([1, 2, 9])
    body = BOMB
    for _time in range(times - 1):
        body = gzip.compress(body, 1)
    coding = chance.choice([", ".join(["gzip"] * times), "gzip", "deflate", "br", "zstd", "x"])
    return plain(Answer(answer.status, {**answer.headers, "Content-Encoding": coding}, body))


def _chunks(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    body = chance.choice([b"zz\r\n", b"-1\r\nx", b"f" * 99 + b"\r\n", b"5\r\nab", b"0\r\n\r\n", b"1;" + b"x" * 99_999])
    return [answer.head(Content_Length="", Transfer_Encoding="chunked"), body]


def _noise(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    body = bytearray(answer.body or b"x")
    for _change in range(chance.randint(1, 9)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return plain(Answer(answer.status, answer.headers, bytes(body)))


def _other(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    """A body that is of another kind."""
    body = chance.choice(
        [
            b"",
            b"<!DOCTYPE html><html><title>Log in</title></html>",
            b"null",
            b"0",
            b'""',
            b"[]",
            b"{}",
            b"NaN",
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b"9" * 10_000,
            b"\xef\xbb\xbf{}",
            b"\xff\xfe{\x00}\x00",
            b'{"result": null, "status": "ok", "time": 0}',
            b'{"result": [], "status": "ok", "time": 0}',
            b'{"result": {}, "status": "ok", "time": 0}',
            b'"\\ud800"',
        ]
    )
    return plain(Answer(answer.status, answer.headers, body))


def _values(answer: Answer, chance: random.Random, foreign: str) -> Pieces:
    """JSON whose values are changed."""
    try:
        value = json.loads(answer.body)
    except ValueError:
        return _noise(answer, chance, foreign)
    for _change in range(chance.choice([1, 1, 1, 2, 5])):
        value = changed(value, chance)
    return plain(
        Answer(
            answer.status,
            answer.headers,
            json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass"),
        )
    )


ATTACKS: dict[str, Attack] = {
    "redirect": _redirect,
    "circle": _circle,
    "status": _status,
    "half": _half,
    "nothing": _nothing,
    "length": _length,
    "endless": _endless,
    "large": _large,
    "drip": _drip,
    "late": _late,
    "headers": _headers,
    "bomb": _bomb,
    "chunks": _chunks,
    "noise": _noise,
    "other": _other,
    "values": _values,
}
WEIGHTS = {
    "values": 8,
    "other": 4,
    "redirect": 4,
    "status": 2,
    "noise": 2,
    "large": 0.3,
    "endless": 0.3,
    "late": 0.3,
    "drip": 0.5,
}


ENDLESS = frozenset({"endless", "large", "drip", "late", "bomb"})
"""Attacks that a user's patience ends, where a library reads the answers."""


def chosen(chance: random.Random, without: frozenset[str] = frozenset()) -> str:
    """The name of an attack; what is quick comes more often."""
    names = [name for name in ATTACKS if name not in without]
    return chance.choices(names, [WEIGHTS.get(name, 1.0) for name in names])[0]


class Attacked:
    """A server some of whose honest answers become attacks."""

    def __init__(self, honest: Callable[[Query], Answer], without: frozenset[str] = frozenset()) -> None:
        self.honest, self._without = honest, without
        self.foreign = ""
        """The address of a server that nobody may ask."""
        self.name = ""
        """Of the attack; empty: all answers are honest."""
        self._numbers, self._seen, self._chance = range(0), 0, random.Random(0)

    def aim(self, chance: random.Random, firsts: Sequence[int]) -> str:
        """Attack from one of these answers on, one of them or all, and tell how."""
        self.name, first = chosen(chance, self._without), chance.choice(firsts)
        last = chance.choice([first, 99])
        self._numbers, self._seen, self._chance = range(first, last + 1), 0, chance
        return f"{self.name} from {first} to {last}"

    def respond(self, query: Query) -> Pieces:
        answer = self.honest(query)
        self._seen += 1
        if not self.name or self._seen - 1 not in self._numbers:
            return plain(answer)
        return ATTACKS[self.name](answer, self._chance, self.foreign)


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1 << 63,
    1 << 200,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "../../x",
    "/etc/passwd",
    "config.json",
    "a\x00.json",
    "\x1b]0;title\x07\x1b[2J",
    "\u202eabc\ud800",
    "한" * 3000,
    "x" * 100_000,
    "00000000-0000-0000-0000-000000000000",
    "2.99.0",
    [],
    {},
    [[]],
    {"": None},
    [0] * 10_000,
)


def changed(value: Any, chance: random.Random) -> Any:
    """The value with one of its parts, at any depth, replaced, left out or doubled."""
    paths = list(_places(value, ()))
    path = chance.choice(paths)
    if not path:
        return chance.choice(JUNK)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    key, kind = path[-1], chance.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.3 and isinstance(holder, list):
        holder += [holder[key]] * chance.choice([1, 3, 2000])
    else:
        holder[key] = chance.choice(JUNK)
    return value


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(items)[:50]:
        yield from _places(each, (*path, key))
