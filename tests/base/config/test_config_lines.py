import tomllib

import pytest

from subtitle_rag.base.config.config_lines import line_of, with_setting, without_setting
from tests.support.cases import cases

WHOLE = '''# [not.this]
language = "ko" # search.limit = 3

[search]
limit = 5
"remember" = true
[ players . "두 번째" ]   # [no]
command = [
  "a", # ]
  'b [c] = d',
  """
[e]
f = 1""",
]
[keys]
"app.library" = "f8"
scene.copy = "x = 1"
youtube = { rest = 3, tabs = ["videos"] }
themes.a.primary = """
"quoted" = \\""" ]
"""
last = \'\'\'it\'s
"""\'\'\'
end = 1
[[more]]
x = 1
'''


def test_each_name_has_its_line() -> None:
    tomllib.loads(WHOLE)
    expected = {
        "language": 2,
        "search": 4,
        "search.limit": 5,
        "search.remember": 6,
        "players.두 번째": 7,
        "players.두 번째.command": 8,
        "keys": 15,
        "keys.app.library": 16,
        "keys.scene.copy": 17,
        "keys.themes.a.primary": 19,
        "keys.last": 22,
        "keys.end": 24,
        "more": 25,
        "more.x": 26,
    }
    assert {name: line_of(WHOLE, name) for name in expected} == expected


@cases(
    ("name", "line"),
    [("search.limit", 5), ("search.other", 4), ("keys.youtube.rest", 18), ("player.lead_in", None), ("", None)],
)
def test_what_is_not_named_has_the_line_of_the_table_around_it(name: str, line: int | None) -> None:
    assert line_of(WHOLE, name) == line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '[qdrant]\nurl = "x"\n'),
        ("a = 1 # one", 'a = 1 # one\n\n[qdrant]\nurl = "x"\n'),
        ("[qdrant]\n# a\n[b]\n", '[qdrant]\nurl = "x"\n# a\n[b]\n'),
        (
            '[ qdrant ] # t\n\n# The address\n# url = ""\n\n[b]\n',
            '[ qdrant ] # t\n\n# The address\n# url = ""\nurl = "x"\n\n[b]\n',
        ),
        ("[qdrant]\nurl='old' # why\n", '[qdrant]\nurl="x" # why\n'),
        ('qdrant.url = "old"\nz = "[qdrant]"\n', 'qdrant.url = "x"\nz = "[qdrant]"\n'),
        ('t = """\n[qdrant]\n"""\n[qdrant]\n', 't = """\n[qdrant]\n"""\n[qdrant]\nurl = "x"\n'),
        ('[z]\nt = """\n[qdrant]\n"""\n', '[z]\nt = """\n[qdrant]\n"""\n\n[qdrant]\nurl = "x"\n'),
        ('qdrant = { url = "" }\n', 'qdrant = { url = "x" }\n'),
        ("qdrant = { a = 1 }\n", 'qdrant = { a = 1, url = "x"}\n'),
        ("qdrant = 1\n", None),
        ('[qdrant]\nurl = """\nx""" # why\n', '[qdrant]\nurl = "x" # why\n'),
        ("[qdrant]\nurl = [\n 1,\n] # one\n", '[qdrant]\nurl = "x" # one\n'),
        ("[[qdrant]]\n", None),
    ],
)
def test_a_setting_is_written_and_all_else_stays(text: str, expected: str | None) -> None:
    assert with_setting(text, "qdrant", "url", "x") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'language = "en"\n'),
        ("# mine\n[search]\nlimit = 1\n", 'language = "en"\n\n# mine\n[search]\nlimit = 1\n'),
        ('# language = "ko"\n\n[search]\n', '# language = "ko"\nlanguage = "en"\n\n[search]\n'),
        ('a = 1\nlanguage = "ko" # me\n[search]\n', 'a = 1\nlanguage = "en" # me\n[search]\n'),
    ],
)
def test_a_setting_at_the_top_is_written_before_every_table(text: str, expected: str) -> None:
    assert with_setting(text, "", "language", "en") == expected


@cases(
    ("value", "line"),
    [(7, "limit = 7"), (True, "limit = true"), (("a", "나"), 'limit = ["a", "나"]'), ('"\\\n', r'limit = "\"\\\n"')],
)
def test_values_of_all_types_are_written(value: object, line: str) -> None:
    assert with_setting("[search]\nlimit = 3 # few\n", "search", "limit", value) == f"[search]\n{line} # few\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[search]\nlimit = 3\nother = 1\n", "[search]\nother = 1\n"),
        ("[search]\nlimit = 3 # few\n", "[search]\n# few\n"),
        ("[search]\nlimit = 3", "[search]\n"),
        ("search.limit = 3\n[tui]\n", "[tui]\n"),
        ("[search]\n  limit = [\n 3,\n]\n\n# kept\n", "[search]\n\n# kept\n"),
        ("[tui]\n", "[tui]\n"),
        ("search = { limit = 3, more = 1 }\n", "search = {  more = 1 }\n"),
        ("search = 1\n", None),
    ],
)
def test_a_setting_is_taken_out_and_all_else_stays(text: str, expected: str | None) -> None:
    assert without_setting(text, "search", "limit") == expected
