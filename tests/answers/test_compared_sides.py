"""The sides of a comparison: what the question names, and the scenes of each."""

from subtitle_rag.answers import wording
from subtitle_rag.answers.compared_sides import compared_sides
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.query import parse_query
from tests.answers.desk import SEARCH, Desk
from tests.support.cases import cases
from tests.support.searchable import video

NOODLES = video("compared001", "분식집 다녀온 날")
OTHERS = video("compared002", "떡볶이 이야기")


@cases(
    ("question", "sides"),
    [
        ("정겨울 발표와 김준기 발표를 비교해줘", ["정겨울 발표", "김준기 발표"]),
        ("굽네하고 BBQ 중 어느 쪽이 더 맛있대?", ["굽네", "BBQ"]),
        ("사과와 배 중에 뭐가 나아", ["사과", "배"]),  # the 과 of 사과 is no particle
        ("사랑 노래와 이별 노래의 차이", ["사랑 노래", "이별 노래"]),  # nor the 랑 of 사랑
        ("르메르랑 아워레가시 중에 뭐가 비싸", ["르메르", "아워레가시"]),
        ("정원분식이 떡볶당보다 더 매워?", ["정원분식", "떡볶당"]),
        ("A보다 B가 더 낫다고 했어?", ["A", "B"]),
        ("아이폰 vs 갤럭시", ["아이폰", "갤럭시"]),
        ("what is the difference between asyncio and gevent?", ["asyncio", "gevent"]),
        ("compare the red sauce with the soy sauce", ["red sauce", "soy sauce"]),
        ("which is better, pandas or numpy?", ["pandas", "numpy"]),
        ("how does pandas differ from numpy?", ["pandas", "numpy"]),
        ("is the red or the black one better?", ["red", "black"]),
        ("판다스보다 넘파이가 빨라?", ["판다스", "넘파이"]),
        ("장고 대 플라스크", ["장고", "플라스크"]),
        ("정원분식/떡볶당 비교", ["정원분식", "떡볶당"]),
        ("정원분식, 떡볶당, 은솔식당 중에 어디가 제일 매워?", ["정원분식", "떡볶당", "은솔식당"]),
        ("치킨이랑 피자랑 햄버거 중에 뭘 제일 좋아해?", ["치킨", "피자", "햄버거"]),
        ("르메르와 아워레가시와 블레스의 차이", ["르메르", "아워레가시", "블레스"]),
        ("A랑 B, C 중에 뭐가 좋아", ["A", "B", "C"]),
        ("셀러리와 레디스 그리고 래빗 중 뭘 추천해", ["셀러리", "레디스", "래빗"]),
        ("정원분식·떡볶당·은솔식당 비교해 줘", ["정원분식", "떡볶당", "은솔식당"]),
        ("아이폰 vs 갤럭시 vs 픽셀", ["아이폰", "갤럭시", "픽셀"]),
        ("compare pandas, numpy and matlab", ["pandas", "numpy", "matlab"]),
        ("which is best: pandas, numpy or matlab?", ["pandas", "numpy", "matlab"]),
        ("짜장면이 나아 짬뽕이 나아?", ["짜장면", "짬뽕"]),
        ("부산 여행이 비싸, 제주도 여행이 비싸?", ["부산 여행", "제주도 여행"]),
        ("파이썬은 자바에 비해 뭐가 좋대?", ["파이썬", "자바"]),
        ("겨울 코트와 봄 코트, 뭐가 더 두꺼워?", ["겨울 코트", "봄 코트"]),
        ("김치, 배추, 무를 몇 번 말해?", []),
        ("뭐가 더 맛있대?", []),
        ("소스가 많이 매워 많이?", []),
        ("생각보다 가격이 비싸?", []),
        ("소스 비교해줘", []),
        ("두 가게를 비교해줘", []),
        ("what is the difference between the two sauces?", []),
        ("김치와 배추를 몇 번 말해?", []),
        ("채널이 작년과 어떻게 달라졌어?", []),
    ],
)
def test_a_question_names_two_sides(analyzer: Analyzer, question: str, sides: list[str]) -> None:
    assert [side.name for side in compared_sides(parse_query(question), analyzer)] == sides


def test_each_side_is_searched_with_what_both_are_compared_in(analyzer: Analyzer) -> None:
    asked = parse_query("정원분식과 떡볶당은 떡볶이와 분위기에서 어떻게 다른가요?")
    sides = compared_sides(asked, analyzer)
    assert [side.query.text for side in sides] == ["정원분식 떡볶이와 분위기에서", "떡볶당 떡볶이와 분위기에서"]
    assert [[word for word, _forms in side.own_words] for side in sides] == [["정원분식"], ["떡볶당"]]


def fill(desk: Desk) -> None:
    often = [[f"정원분식 떡볶이는 매워요 {number}", "정원분식 분위기가 좋아요"] for number in range(9)]
    desk.put_all({NOODLES: [*often, ["떡볶당은 조용해요"]], OTHERS: [["떡볶이는 어디나 매워요"], ["분위기가 좋네요"]]})


def test_both_sides_have_scenes_although_one_is_said_more_often(desk: Desk) -> None:
    fill(desk)
    asked = (
        "정원분식과 떡볶당은 떡볶이와 분위기에서 어떻게 다른가요?",
        "정원분식 vs 떡볶당",
        "떡볶당이랑 정원분식 중에",
    )
    for question in asked:
        told = desk.ask(question, options=SEARCH)
        assert any("떡볶당" in text for text in told.texts[:2])
        assert any("정원분식" in text for text in told.texts[:2])
        assert told.answer.evidence.missing_sides == ()


def test_each_of_three_sides_has_a_scene_or_is_told_to_be_missing(desk: Desk) -> None:
    fill(desk)
    desk.put_all({video("compared003", "동네 산책"): [["은솔식당은 달아요"], ["날씨가 좋아요"]]})
    told = desk.ask("정원분식, 떡볶당, 은솔식당 중에 어디가 매워?", options=SEARCH)
    assert [any(name in text for text in told.texts[:3]) for name in ("정원분식", "떡볶당", "은솔식당")] == [True] * 3
    assert told.answer.evidence.missing_sides == ()
    told = desk.ask("정원분식, 떡볶당, 새벽식당 중에 어디가 매워?", options=SEARCH)
    assert told.answer.evidence.missing_sides == ("새벽식당",)


def test_a_side_that_no_scene_names_is_told_to_the_reader_and_the_model(desk: Desk) -> None:
    fill(desk)
    told = desk.ask("정원분식과 은솔식당을 비교해줘", options=SEARCH)
    assert told.answer.evidence.missing_sides == ("은솔식당",)
    assert all("정원분식" in text for text in told.texts)
    assert "은솔식당: 찾은 장면이 없습니다." in desk.chats()[-1].messages[0]["content"]
    assert any("은솔식당" in line for line in wording.answer_remarks(told.answer))


def test_other_questions_are_searched_once(desk: Desk) -> None:
    fill(desk)
    assert desk.ask("떡볶당 어때?", options=SEARCH).answer.evidence.missing_sides == ()
