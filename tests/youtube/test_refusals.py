"""Failures by the words that YouTube and yt-dlp have for them, and when what failed is asked for again."""

from hypothesis import given, strategies as st

from subtitle_rag.youtube.refusals import DAY, FINAL, HOUR, MAX_DELAY_S, RULES, WEEK, begins_at, failure_code, retry_at
from tests.support.cases import cases

NOW = 1_700_000_000
HINT = (
    "Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ"
    "#how-do-i-pass-cookies-to-yt-dlp  for how to manually pass cookies"
)
SESSION_LIMIT = (
    "This content isn't available, try again later. The current session has been rate-limited by YouTube for up to an "
    "hour. It is recommended to use `-t sleep` to add a delay between video requests to avoid exceeding the rate limit."
)
GEO = "The uploader has not made this video available in your country"
PERKS = "Join this channel to get access to members-only content like this video, and other exclusive perks."
LEVEL = "This video is available to this channel's members on level: 단골손님 (or any higher level)."

TEXTS = [
    ("members_only", PERKS),
    ("members_only", LEVEL),
    ("members_only", f"{LEVEL} {PERKS}"),
    ("bot_check", "Sign in to confirm you’re not a bot"),
    ("bot_check", f"Sign in to confirm you're not a bot. {HINT}"),
    ("bot_check", f"Sign in to confirm you’re not a bot. {HINT}"),
    ("bot_check", "Video unavailable. YouTube is requiring a captcha challenge before playback"),
    ("rate_limited", SESSION_LIMIT),
    ("rate_limited", "This content isn't available, try again later."),
    ("rate_limited", "Too Many Requests"),
    ("private", f"Private video. Sign in if you've been granted access to this video. {HINT}"),
    ("private", "Video unavailable. This video is private"),
    ("private", "YouTube said: This playlist is private"),
    ("private", f"Sign in if you've been granted access to this video. {HINT}"),
    ("payment_required", "This video requires payment to watch"),
    ("payment_required", "This video requires payment to watch."),
    ("payment_required", "Video unavailable. This video is available for rent or purchase"),
    ("script_required", "Requested format is not available. Use --list-formats for a list of available formats"),
    ("rate_limited", "All player responses are invalid. Your IP is likely being blocked by Youtube"),
    ("age_restricted", f"Sign in to confirm your age. This video may be inappropriate for some users. {HINT}"),
    ("age_restricted", "This video may be inappropriate for some users."),
    ("geo_blocked", GEO),
    ("geo_blocked", f"Video unavailable. {GEO}"),
    ("geo_blocked", "This video is not available from your location due to geo restriction"),
    ("upcoming", "This live event will begin in 3 hours."),
    ("upcoming", "This live event will begin in a few moments."),
    ("upcoming", "Premieres in 45 minutes"),
    ("upcoming", "Premiere will begin shortly"),
    ("live", "This live stream recording is not available."),
    ("processing", "We're processing this video. Check back later."),
    ("empty_tab", "This channel does not have a streams tab"),
    ("empty_tab", "This channel does not have a podcasts tab"),
    ("empty_tab", "The channel is not currently live"),
    ("not_found", "Video unavailable"),
    ("not_found", "Video unavailable. This video has been removed by the uploader"),
    ("not_found", "This video has been removed for violating YouTube's Community Guidelines"),
    (
        "not_found",
        "This video is no longer available because the YouTube account associated with this video has been terminated.",
    ),
    ("not_found", "This account has been terminated because we received multiple third-party claims"),
    ("not_found", "YouTube said: The playlist does not exist."),
    ("not_found", "The channel/playlist does not exist and the URL redirected to youtube.com home page"),
    ("not_found", "Requested entity was not found."),
    ("yt_dlp_outdated", "Failed to extract any player response"),
    ("yt_dlp_outdated", "Unable to recognize tab page"),
    ("yt_dlp_outdated", "KeyError('INNERTUBE_CONTEXT')"),
    ("yt_dlp_outdated", "'NoneType' object is not subscriptable"),
    ("yt_dlp_outdated", "기대하지 않은 답"),
    ("yt_dlp_outdated", ""),
]


@cases(("code", "text"), TEXTS)
def test_a_failure_is_recognised_by_its_words(code: str, text: str) -> None:
    assert failure_code(text) == code
    assert failure_code(text.upper()) == code
    assert failure_code(f"ERROR: [youtube] abcdefghijk: {text}") == code


NO_NAME, NO_HTTP = "[Errno -3] Temporary failure in name resolution", "Failed to extract any player response"


@cases(
    ("code", "status", "texts"),
    [
        *(("rate_limited", status, ["", "HTTP Error 429: Too Many Requests", NO_HTTP]) for status in (403, 429)),
        ("not_found", 404, ["HTTP Error 404: Not Found", "Unable to download API page", ""]),
        ("network", 400, [""]),
        ("network", 500, ["HTTP Error 500: Internal Server Error"]),
        (
            "network",
            503,
            ["Failed: HTTP Error 503: Service Unavailable (caused by <HTTPError 503: Service Unavailable>)", NO_HTTP],
        ),
        (
            "network",
            None,
            [NO_NAME, "The read operation timed out", "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", ""],
        ),
    ],
)
def test_without_words_of_youtubes_the_status_or_the_broken_way_tells(
    code: str, status: int | None, texts: list[str]
) -> None:
    for text in texts:
        assert failure_code(text, status, transport=True) == code
        assert status is None or failure_code(text, status) == code


def test_what_yt_dlp_calls_a_matter_of_countries_is_one() -> None:
    assert failure_code("Video unavailable", geo=True) == "geo_blocked"


@given(st.text(), st.none() | st.integers(100, 599), st.booleans())
def test_every_failure_has_a_code_with_a_rule(text: str, status: int | None, transport: bool) -> None:
    assert failure_code(text, status, transport=transport) in RULES


@cases(
    ("text", "begins"),
    [
        ("Premieres in 45 minutes", NOW + 45 * 60),
        ("Premieres in 1 minute", NOW + 60),
        ("This live event will begin in 3 hours.", NOW + 3 * 3_600),
        ("THIS LIVE EVENT WILL BEGIN IN 1 HOUR", NOW + 3_600),
        ("ERROR: Premieres in 12 days. Sign in", NOW + 12 * 86_400),
        ("This live event will begin in a few moments.", None),
        ("Premieres soon", None),
        ("in 3 hours", None),
        ("will begin in ３ weeks", None),
        ("", None),
    ],
)
def test_the_beginning_of_an_announced_video_is_read(text: str, begins: int | None) -> None:
    assert begins_at(text, NOW) == begins


def test_the_wait_doubles_with_every_try_up_to_a_month() -> None:
    waits = [retry_at("rate_limited", tries=tries, now=NOW) for tries in range(1, 13)]
    assert waits[:4] == [NOW + HOUR, NOW + 2 * HOUR, NOW + 4 * HOUR, NOW + 8 * HOUR]
    assert waits[-3:] == [NOW + 512 * HOUR, NOW + MAX_DELAY_S, NOW + MAX_DELAY_S]
    assert retry_at("network", tries=10**9, now=NOW) == NOW + MAX_DELAY_S


@cases("code", ["not_served", "captions_withheld"])
def test_what_a_player_client_refuses_is_asked_for_after_a_day_a_week_and_every_month(code: str) -> None:
    waits = [(retry_at(code, tries=tries, now=0) or 0) // DAY for tries in (1, 2, 3, 4, 99)]
    assert waits == [1, 7, 30, 30, 30]


def test_captions_that_are_missing_are_looked_for_in_a_week() -> None:
    assert retry_at("no_captions", tries=1, now=NOW) == NOW + WEEK
    assert retry_at("yt_dlp_outdated", tries=1, now=NOW) == NOW + DAY


@cases("code", FINAL)
def test_what_does_not_end_by_itself_is_not_asked_for_again(code: str) -> None:
    assert retry_at(code, tries=1, now=NOW) is None


@cases("code", ["rate_limited", "upcoming", "private"])
@cases("tries", [1, 9])
def test_youtubes_own_word_on_when_to_ask_again_is_taken(code: str, tries: int) -> None:
    assert retry_at(code, tries=tries, now=NOW, stated_at=NOW + 77) == NOW + 77
    assert retry_at(code, tries=tries, now=NOW, stated_at=NOW - 77) == NOW


@given(st.sampled_from(sorted(RULES)), st.integers(1, 10_000))
def test_every_wait_is_a_while_and_no_longer_than_a_month(code: str, tries: int) -> None:
    again = retry_at(code, tries=tries, now=NOW)
    assert again is None or NOW + 60 <= again <= NOW + MAX_DELAY_S
    assert (again is None) == (RULES[code].delay_s is None)


def test_only_a_code_that_is_asked_for_again_makes_the_queue_rest() -> None:
    assert {code for code, rule in RULES.items() if rule.rests_after} == {
        "caption_blocked",
        "rate_limited",
        "bot_check",
        "network",
        "yt_dlp_outdated",
    }
    assert all(rule.delay_s for rule in RULES.values() if rule.rests_after)
