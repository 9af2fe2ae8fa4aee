"""Answers of a Qdrant server: their bounds in size and time, and what of them is believed.

The functions that read raise one of `FOREIGN` for an answer that is not one of Qdrant's.
"""

import math
import re
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from subtitle_rag.retrieval.index import Hit, Point, SparseVector, Vector, VectorSearch
from subtitle_rag.retrieval.index_rules import check_payload, check_vector, read_numbers

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]
MAX_BYTES = 64 << 20
"""Maximum size of an answer; a page of points with their vectors has a fifth."""
MAX_COUNT = 1 << 53
FOREIGN = (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
"""What reading raises if the answer is not one of Qdrant's, here and in the client."""
LAST_MEMBER = "last_library"
"""Payload key: the library that was the last to note itself."""
MEMBER_PREFIX = "library_"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def bound(response: "httpx.Response", seconds: float) -> None:
    """Let the body of a response be read within bounds; httpx calls this before it reads.

    Compressed bodies were not asked for, and a few of their bytes can be gigabytes.
    """
    import httpx

    stream = cast("httpx.SyncByteStream", response.stream)
    coding = response.headers.get("Content-Encoding", "identity")

    class BoundStream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            size, deadline = 0, time.monotonic() + seconds
            if coding != "identity":
                raise httpx.DecodingError("a compressed answer")
            for piece in stream:
                size += len(piece)
                if size > MAX_BYTES:
                    raise httpx.ReadError(f"an answer of more than {MAX_BYTES >> 20} MB")
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the answer takes too long")
                yield piece

        def close(self) -> None:
            stream.close()

    response.stream = BoundStream()


def read_records(value: Any, wanted: Collection[str] | None = None) -> list[Json]:
    """Return the records of points, of the `wanted` ids alone; each has a valid id and payload, and vectors by name."""
    if not isinstance(value, list):
        raise ValueError("no list of points")
    records: dict[str, Json] = {}
    for record in value:
        point_id = record["id"]
        _check_id(point_id)
        payload, vectors = record.get("payload") or {}, record.get("vector") or {}
        if not isinstance(payload, dict) or not isinstance(vectors, dict):
            raise ValueError("no payload")
        if wanted is None or point_id in wanted:
            records.setdefault(point_id, {"id": point_id, "payload": payload, "vector": vectors})
    return list(records.values())


def _check_id(value: Any) -> None:
    """Raise ValueError unless this is a point id; quicker than `check_id`, for every hit of every key."""
    if not (isinstance(value, str) and _ID.fullmatch(value)):
        raise ValueError("no point id")


def read_page(value: Any, after: str | None) -> tuple[list[Json], str | None]:
    """Return a page's records, all behind the id `after`, and the id with which the next page begins.

    A server that turns in a circle would be read for ever.
    """
    records, offset = read_records(value["points"]), value.get("next_page_offset")
    ids = [record["id"] for record in records]
    if ids != sorted(ids) or (after is not None and ids[:1] < [after] and ids):
        raise ValueError("a page that is not in order")
    if offset is not None:
        _check_id(offset)
        if (after is not None and offset <= after) or (ids and offset <= ids[-1]):
            raise ValueError("a page that leads back")
    return records, offset


def scene_payload(record: Json) -> Json:
    """Return the payload of a point without the keys of libraries."""
    payload = record.get("payload") or {}
    return {key: value for key, value in payload.items() if key != LAST_MEMBER and not key.startswith(MEMBER_PREFIX)}


def read_point(record: Json) -> Point:
    """Return a point with its vectors."""
    payload = scene_payload(record)
    check_payload(record["id"], payload)
    vectors: dict[str, Vector] = {}
    for name, value in record["vector"].items():
        vector = (
            read_numbers(value)
            if isinstance(value, list)
            else SparseVector(tuple(value["indices"]), tuple(value["values"]))
        )
        check_vector(name, vector)
        vectors[name] = vector
    return Point(record["id"], vectors, payload)


def read_count(value: Any) -> int:
    count = value["count"]
    if type(count) is not int or not 0 <= count < MAX_COUNT:
        raise ValueError("no count")
    return count


def read_hits(search: VectorSearch, answers: Sequence[Any]) -> list[Hit]:
    """Return the best hits, ties by id, of the answers to the queries of `ServerIndex`."""
    if not answers:
        return []
    found, *others = [read_records(answer) for answer in answers]
    scores = {point["id"]: point["score"] for point in answers[0]}
    for score in scores.values():
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError("a score that is no number")
    best = sorted((-float(scores[point["id"]]), str(point["id"])) for point in found)[: search.limit]
    if search.required is not None:
        required = {point["id"] for point in others.pop(0)}
        best = [(score, id) for score, id in best if id in required]
    payloads = {point["id"]: scene_payload(point) for point in others[0]} if search.with_shared else {}
    return [Hit(id, -score, payloads.get(id, {})) for score, id in best]
