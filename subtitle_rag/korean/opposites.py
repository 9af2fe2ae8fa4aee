"""Pairs of words that are close in a language model but never interchangeable: opposites, days, directions."""

SYLLABLES = """
동서남북 상중하 내외 전후 대중소 입출 여야 남녀여 긍부 신구 초중후말 고근현 월화수목금토일 흑백청홍 좌우 장단 고저 다소
유무 승패 가감 증감 춘하추동 매구 수공 생사 개폐 득실 강약 선후 총대 갑을 원타 양음 실허 진퇴 육해공 부모 가부 사부교
"""
"""Groups of syllables; one in place of another makes the opposite: 수입 and 수출, 동쪽 and 서쪽."""
WORDS = """
불신 신뢰 | 방어 공격 수비 | 검은색 흰색 빨간색 파란색 노란색 초록색 | 매각 매입 인수 | 소주 맥주 막걸리 와인
외면 직시 | 존중 무시 | 실내 야외 실외 | 아주머니 아저씨 할머니 할아버지 | 아버지 어머니 아빠 엄마
형 누나 오빠 언니 동생 | 성공 실패 | 장점 단점 | 칭찬 비난 | 찬성 반대 | 이익 이득 손해 손실 | 사랑 증오 미움
평화 전쟁 | 천국 지옥 | 봄 여름 가을 겨울 | 아침 점심 저녁 새벽 밤 | 어제 오늘 내일 모레 | 왼쪽 오른쪽
앞쪽 뒤쪽 | 위쪽 아래쪽 | 목숨 죽음 | 결혼 이혼 | 만남 이별 | 도시 시골 | 가난 부유 | 질문 대답 | 원인 결과
주관 객관 | 이론 실제 실습 | 긴장 이완 | 상승 하락 | 증가 감소 | 희망 절망 | 경찰 검찰 | 고양이 강아지
허벅지 종아리 엉덩이 허리 발목 팔꿈치 무릎 | 소고기 돼지고기 닭고기 | 상사 부하 | 스승 제자 | 재개 중단 | 여객 화물
안전 위험 | 유리 불리 | 안정 불안 | 허용 허가 금지 | 매수 매도 | 구매자 판매자 | 공통점 차이점 | 노른자 흰자 | 가로 세로
손자 손녀 | 장남 차남 막내 | 장녀 차녀 | 아들 딸 | 그해 올해 작년 내년 지난해 지난달 이달 다음달 이듬해
몸 마음 | 영혼 육신 육체
초등학교 국민학교 중학교 고등학교 대학교 대학원 학부 | 학년 학기 | 봄철 여름철 가을철 겨울철 | 국민 정부 | 지원자 면접관
승무원 승객 | 버스 택시 지하철 기차 | 휴대폰 노트북 컴퓨터 태블릿 | 상속 증여
거실 베란다 침실 부엌 욕실 화장실 복도 현관
회장 부회장 총재 부총재 총리 부총리 사장 이사장 부사장 전무 상무 원장 국장 부장 과장
"""

_ALIKE = [frozenset(group) for group in SYLLABLES.split()]
_GROUPS = [frozenset(group.split()) for group in WORDS.replace("\n", "|").split("|")]


def are_opposite(word: str, other: str) -> bool:
    """Return whether two words are opposites or members of one series."""
    if any(word in group and other in group for group in _GROUPS):
        return True
    if len(word) != len(other):
        return False
    different = [pair for pair in zip(word, other, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and any(group.issuperset(different[0]) for group in _ALIKE)
