"""Which questions are about a whole video, and what stands for one."""

from subtitle_rag.answers.context_builder import LABELS
from subtitle_rag.answers.whole import is_about_whole, named_in, outline, transcripts
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.contexts.prompt_layout import estimate
from tests.contexts.desk import talk
from tests.support.cases import cases
from tests.support.searchable import spoken, video

ABOUT_WHOLE = (
    "이 영상 요약해줘",
    "이 영상 요약 좀",
    "어디 어디 갔어?",
    "어디어디 갔는지 알려줘",
    "뭐 뭐 먹었어?",
    "누구누구 나와?",
    "이거 무슨 내용이야",
    "어떤 영상이야?",
    "뭐 하는 영상이야?",
    "내용이 뭐야",
    "줄거리 알려줘",
    "한 줄로 정리해줘",
    "처음부터 끝까지 순서대로 말해줘",
    "간 곳 목록 만들어줘",
    "먹은 음식 전부 알려줘",
    "모두 몇 군데 갔어?",
    "총 얼마 썼는지 합쳐줘",
    "전체적으로 어땠어?",
    "몇 곳이나 들렀어?",
    "Summarize this video",
    "give me a summary",
    "TL;DR?",
    "What is this video about?",
    "list all the restaurants they visit",
    "Which places did they go to?",
    "every dish they ate, in order",
    "What are the main points?",
)
ABOUT_A_SCENE = (
    "굽네 신메뉴 소스 뭐가 제일 낫대?",
    "할머니 김치 담글 때 배추 몇 포기 했어?",
    "어디서 샀어?",
    "뭐가 제일 맛있대?",
    "누가 도와줬어?",
    "소금은 언제 넣어?",
    "사장님이 뭐라고 했어?",
    "텐트는 왜 샜어?",
    "영상에서 나온 냄비 이름이 뭐야?",
    "얼마 줬대?",
    "which sauce is the best?",
    "where did he buy the pot?",
    "how much salt?",
)


@cases("question", ABOUT_WHOLE)
def test_questions_about_a_whole_video_are_known(question: str) -> None:
    assert is_about_whole(question)


@cases("question", ABOUT_A_SCENE)
def test_questions_about_a_scene_are_not_taken_for_them(question: str) -> None:
    assert not is_about_whole(question)


def test_a_title_in_a_question_names_its_video() -> None:
    market, kimchi = video("a", "은솔포 오일장 브이로그"), video("b", "김장 40포기")
    assert named_in("은솔포 오일장  브이로그 요약해줘", [market, kimchi]) == [market]
    assert named_in("은솔포오일장브이로그랑 김장40포기 요약", [market, kimchi]) == [market, kimchi]
    assert named_in("오일장 요약해줘", [market, kimchi]) == []
    assert named_in("x 요약", [video("c", "x"), video("d", " ")]) == []


def test_a_transcript_has_every_window_under_its_number_and_time() -> None:
    own = cut_windows("a", spoken(talk(3)))
    text = transcripts({video("a", "제목", "채널", "2026-05-31"): own})
    lines = text.splitlines()
    assert lines[0] == "(제목; 채널, 2026-05-31)"
    assert lines[1::2] == ["[1] (0:00)", "[2] (1:00)", "[3] (2:00)"]
    assert lines[2::2] == [window.text for window in own]


def test_a_map_has_a_line_for_every_window_and_marks_what_is_context() -> None:
    own = cut_windows("a", spoken(talk(3, words=12)))
    contexts = {own[0].id: "첫 장면입니다.", own[2].id: "셋째 장면입니다."}
    text, shortened = outline(video("a"), own, contexts, LABELS["ko"], 10_000, estimate)
    assert not shortened
    first, second, third = text.splitlines()[1:]
    assert (first, third) == ("[1] (0:00) 문맥: 첫 장면입니다.", "[3] (2:00) 문맥: 셋째 장면입니다.")
    head = "[2] (1:00) 자막: "
    assert second.startswith(head)
    assert second.endswith(" …")
    assert own[1].text.startswith(second[len(head) : -2])
    assert estimate(second) < 100 < estimate(own[1].text)


def test_a_map_that_is_too_long_is_shortened_everywhere_and_loses_no_window() -> None:
    own = cut_windows("a", spoken(talk(60)))
    contexts = {window.id: f"{window.ordinal}번째 장면에서 " + "사람들이 이야기를 나눕니다 " * 8 for window in own}
    text, shortened = outline(video("a"), own, contexts, LABELS["ko"], 3_000, estimate)
    assert shortened
    assert estimate(text) <= 3_000
    lines = text.splitlines()[1:]
    assert [line.partition("]")[0][1:] for line in lines] == [str(number) for number in range(1, len(own) + 1)]
    assert all(f"{at}번째" in line and "…" in line for at, line in enumerate(lines))
