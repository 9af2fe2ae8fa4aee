"""Which sentences of a model's answer are no context: talk about the task, refusals, stumps, other languages.

What would surprise: most tests here go by closed vocabularies. "다음은 해당 구간의 문맥입니다" is a preamble: all its
words belong to the task. "다음은 강사가 클로저를 설명하는 장면입니다" is a context, for 강사 and 클로저 do not.
A sentence with a subject of its own ("모델이 문맥을 파악할 수 없습니다") tells of the video and is no refusal.
"""

import re

MIN_HANGUL = 8
"""Syllables that an answer in Korean has at least; counting Latin letters against them would cost identifiers."""

ENDS = ".!?…。！？"
_HANGUL = re.compile("[가-힣]")
_NOT_LETTERS = re.compile(r"[\W_]+")

# --- sentences ---

_MARK = re.compile(
    r"[\"“”()（）]|(?<![.!?…。！？])[.!?…。！？]+[\"'”’」』)\]]*(?=\s|\Z)|(?<=[다요죠음함임])\.(?=[가-힣])"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:vs|etc|e\.g|i\.e|no|dr|mr|mrs|ms|st|jr|prof|inc|ltd|u\.s|ver|fig|[A-Za-z]|\d{1,2})\.\Z",
    re.IGNORECASE,
)
_NESTING = {"(": 1, "（": 1, "“": 1, ")": -1, "）": -1, "”": -1}


def split_sentences(text: str) -> list[str]:
    """The sentences of one line, each with the spaces behind it, so that joined they are the line again.

    Nothing ends inside quotes or brackets (if they pair up), nor at an abbreviation; what has no letters, such as an
    emoji, belongs to the sentence before it.
    """
    ends = _boundaries(text, nested=True)
    if ends is None:
        ends = _boundaries(text, nested=False) or []
    found: list[str] = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        piece = text[start:end]
        if found and not _NOT_LETTERS.sub("", piece):
            found[-1] += piece
        elif piece:
            found.append(piece)
    return found


def _boundaries(text: str, *, nested: bool) -> list[int] | None:
    """Where sentences begin but for the first; None when brackets or quotes that should nest stay open."""
    found: list[int] = []
    depth, quoted, start = 0, False, 0
    for mark in _MARK.finditer(text):
        sign = mark[0]
        quoted ^= sign.count('"') % 2 == 1
        depth = max(0, depth + sum(_NESTING.get(letter, 0) for letter in sign))
        if sign[0] not in ENDS or (nested and (depth or quoted)):
            continue
        if sign == "." and _ABBREVIATION.search(text[max(start, mark.end() - 8) : mark.end()]):
            continue
        start = mark.end() + (text[mark.end() : mark.end() + 1] == " ")
        if start < len(text):
            found.append(start)
    return None if nested and (depth or quoted) else found


# --- Korean ---

_VERB_END = re.compile(
    r"[가-힣]다$|[어아해예에여네세나가까지죠군데든래게워와져려켜쳐돼줘봐러고서]요$|[죠까]$"
    r"|(?:하|끓이|만들|먹|보|쓰|굽|우|리|치|되)기$"
)
_NO_VERB_END = re.compile(r"(?:마다|보다|바다|에다)$")
_NOUN_END = re.compile(
    r"(?:장면|부분|구간|대목|상황|내용|모습|과정|이야기|얘기|순간|파트|영상|단계|도입부|후반부|초반부|중반부"
    r"|마무리|시간|코너|설명|소개|방법"
    r"|비교|시연|시식|시음|발표|예시|예제|사례|분석|정리|요약|추천|평가|후기|리뷰|논의|토론|대화|질문|답변|언급"
    r"|강조|제시|안내|조언|경고|진행"
    r"|시작|도전|방문|주문|공개|실습|구현|복습|예고|해설|강의|강연|먹방|인터뷰|토크|브이로그|중계|공연|풀이"
    r"|튜토리얼|하이라이트|클립|도입"
    r"|전달|공유|제안|지적|묘사|표현|해석|이유|원인|결과|차이|장단점|소감|반응|인사|당부|권유|계획|사연|일화"
    r"|에피소드|완성|마침)$"
)
_NOUN_IN_M = re.compile(
    r"(?:사람|처음|다음|아침|점심|이름|여름|마음|게임|시스템|프로그램|알고리즘|플랫폼|아이템|그림|지금|요즘|조금"
    r"|가끔|소금|모임|책임|기름|바람"
    r"|구름|필름|앨범|시점|장점|단점|관점|음|및|김|힘|몸|봄|밤|팀|맘|참|점|컴|룸|폼)$"
)
_TAIL = re.compile(r"(?:[^\w()（）\[\]]|[_ㅋㅎㅠㅜ)）\]]|\([^()]*\)|（[^（）]*）|\[[^\[\]]*\])+$")


def _core(text: str) -> str:
    """`text` up to its last word: no punctuation, brackets or laughter behind it."""
    tail = _TAIL.search(text, max(0, len(text) - 80))
    return text[: tail.start()] if tail else text


def ends_in_verb(text: str) -> bool:
    """Whether it ends as a Korean sentence does: 설명합니다, 설명한다, 설명해요, 설명함."""
    core = _core(text)
    if _closes_in_m(core):
        return not _NOUN_IN_M.search(core[-6:])
    return bool(_VERB_END.search(core[-8:])) and not _NO_VERB_END.search(core[-8:])


def _closes_in_m(text: str) -> bool:
    """Whether the last syllable closes in ㅁ (or ㄻ), as nominal endings do: 함, 먹음, 만듦."""
    code = ord(text[-1]) - 0xAC00 if text else -1
    return 0 <= code <= 0xD7A3 - 0xAC00 and code % 28 in (10, 16)


def is_complete(text: str) -> bool:
    """Whether it is finished: by its ending, by a noun that closes descriptions (장면, 소개), or by its punctuation.

    A stop behind a digit proves nothing: "3." may have been "3.5".
    """
    if ends_in_verb(text) or _NOUN_END.search(_core(text)[-8:]):
        return not text.rstrip().endswith((",", ":", "：", ";"))
    bare = text.rstrip("\"'”’」』)] ")
    if bare.endswith(("...", "…", "..")) or not bare.endswith(tuple(ENDS)):
        return False
    return not re.search(r"[\d.]\.$", bare)


_PARTICLE = re.compile(r"[가-힣\w)'\"”’](?:은|는|이|가|을|를|에|에서|로|와|과|의|한|된|할|며|고)(?=\s)")


def has_no_korean_sentence(text: str) -> bool:
    """Whether no sentence of Korean is in it: too few syllables, no ending and no particle, JSON, other scripts."""
    if len(_HANGUL.findall(text)) < MIN_HANGUL or re.match(r"[{\[]\s*[\"'{\[}\]]", text):
        return True
    return is_foreign(text) or not (any(map(ends_in_verb, split_sentences(text))) or _PARTICLE.search(text))


_APART = re.compile(
    r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|「[^「」]*」|『[^『』]*』|《[^《》]*》|〈[^〈〉]*〉|\"[^\"]*\"|“[^“”]*”"
    r"|'[^']*'|‘[^‘’]*’"
)
_HANJA_WORD = re.compile(
    r"(?<![㐀-鿿豈-﫿])[美日中北南韓英佛獨露前現故新舊大小男女與野檢警軍辛孝無親反脫超高低對非](?![㐀-鿿豈-﫿])"
)
_OTHER_SCRIPT = re.compile(
    "[\u0400-\u052f\u0530-\u06ff\u0900-\u0dff\u0e00-\u0eff\u10a0-\u10ff\u3041-\u30fa\u30fd-\u312f\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003ffff]"
)
_VIETNAMESE = re.compile(r"\S*[ơưđăĐƯƠạ-ỹ]\S*")


def is_foreign(text: str) -> bool:
    """Whether letters of another script stand in it outside quotes and brackets: the model slipped.

    Lone hanja of headlines (美, 前) are Korean; quoted or bracketed words are what a Korean writer does on purpose,
    as long as most of the text is Hangul.
    """
    outside = _HANJA_WORD.sub("", _APART.sub(" ", text))
    if _OTHER_SCRIPT.search(outside) or len(_VIETNAMESE.findall(outside)) > 1:
        return True
    return len(_OTHER_SCRIPT.findall(text)) >= max(1, len(_HANGUL.findall(text)))


# --- talk about the task ---

_NOUN = (
    r"문맥|맥락|컨텍스트|context|상황|배경|설명|요약|정리|답변|응답|출력|결과|내용|문장|자막|구간|영상|비디오"
    r"|유튜브|청크|장면|윈도우|부분"
    r"|스크립트|대본|텍스트|트랜스크립트|정보|요청|질문|지시|지시사항|조건|형식|한국어|검색|대화|대사|발화|음성"
    r"|단서|근거|주제|언급|길이|제목"
)
_TASK_WORD = re.compile(
    rf"(?:(?:{_NOUN}|다음|아래|이하|위|앞|이|그|저|제|것|해당|본|현재|특정|전체|이번|핵심|필요한?|한두|한|두|세"
    rf"|1[-~]2|\d|문장|줄|개|간결|간단|간략|명확|도움|궁금한|사항|수정|추가적인|혹시|언제든|언제든지|의견|필요"
    rf"|원하시는|토큰|글자|수|점|대로|같이|일부|사용|활용|반영"
    r"|짧|자연스러운|검색용|각|모든|추가|최종|작성|생성|제공|분석|추출|번역|제시|안내|소개|말씀|입력|파악|이해"
    r"|주어진|주신|제공된|요청하신|바탕|기반"
    r"|토대|기준|위한|위해|대한|대해|관한|따라|맞게|맞춰|맞는|따른|같은|지금|바로|그럼|먼저|우선|이제|네|예|물론"
    r"|좋습니다|알겠습니다)"
    r"(?:하게|하신|하여|하고|해서|해|하면|하자면|할|한|된|되는|주신|주시면|히|게|은)?"
    r"(?:께서|에서|에는|으로는|으로만|으로|로만|로|의|에|을|를|은|는|이|가|와|과|도|만|용|및|,)?)"
)
_PRESENTS = re.compile(
    rf"같(?:습니다|아요|다)$|[했봤]습니다$|보았습니다$|되었습니다$|됐습니다$|(?:{_NOUN})(?:입니다|이에요|예요|이다"
    rf"|임)?$"
)
_MARKED = re.compile(
    r"다음|아래|이하|요청|제공|제시|주어진|말씀|위한|제가|같습니다|같아요|[위이]와 같이|문맥|맥락|컨텍스트|답변"
    r"|응답|context|토큰"
    r"|한국어로|문장으로|자막[을의]"
)
_ANSWERS = re.compile(
    r"다음과|아래[에와]|이하|요청하신|제공된|제공해|주어진|제가|[위이]와 같이|문맥|맥락|컨텍스트|답변|context|토큰"
    r"|한국어로|[한두] 문장",
    re.IGNORECASE,
)
_PROMISE = re.compile(r"겠습니다$|게요$|드립니다$|드렸습니다$|드려요$")
_DONE = re.compile(
    r"(?:작성|정리|요약|생성|번역|구성|반영|추출|분석|제외|준비)(?:했|하였|해 ?보았|해 ?봤|되었|됐)습니다$"
    r"|할 수 있습니다$"
    r"|한 (?:것|문장|내용)입니다$|(?:문맥|맥락|컨텍스트)[을를]? ?(?:제공|추가|제시|작성|생성|첨부)합니다$"
)
_HEADED = re.compile(
    r"(?:다음|아래|이하)[은는]?\s.*(?:(?:문맥|맥락|컨텍스트|context)|에 (?:대한|관한) \S{0,4} ?(?:설명|요약"
    r"|정리))(?:입니다|이에요|예요|이다)$"
)
_TITLED = re.compile(
    r"(?:다음|아래)과? ?(?:와 )?같(?:습니다|아요|다)$"
    r"|(?:문맥|맥락|컨텍스트|context|요약|정리|답변|설명|상황)(?:은|는|입니다|이에요|예요|이다|드리겠습니다"
    r"|하겠습니다|하면)?$",
    re.IGNORECASE,
)
_YES = re.compile(
    r"(?:(?:네|예|넵|넹|응|아|오|음|물론(?:이죠|입니다|이지요|이에요)?|알겠(?:습니다|어요)|좋(?:습니다|아요|아)"
    r"|그럼요?|그래"
    r"|당연(?:하죠|히)|확인(?:했습니다|하였습니다)|안녕하세요|반갑습니다|이해했습니다|죄송합니다|죄송해요"
    r"|여기 있습니다|sure|certainly"
    r"|of course|okay|ok|yes|absolutely|great|got it|understood|i understand|no problem|alright|hello|hi|thank you"
    r"|thanks)[\s,.!~:]*)+",
    re.IGNORECASE,
)


def is_preamble(sentence: str) -> bool:
    """Whether it only announces the answer: "네, 알겠습니다.", "다음은 요청하신 문맥입니다."."""
    text = sentence.strip()
    if _YES.fullmatch(text):
        return True
    titled = text.endswith((":", "："))
    bare = re.sub(
        r"^(?:네|예|넵|물론(?:이죠|입니다)?|알겠습니다|좋습니다|죄송합니다)[,.!]?\s+", "", text.rstrip(" .!:：~")
    )
    if _HEADED.match(bare) or (titled and _TITLED.search(bare)):
        return True
    if titled and re.search("문맥|맥락|컨텍스트", bare) and not _own_subject(bare):
        return True
    if not _own_subject(bare) and (_PROMISE.search(bare) or (_DONE.search(bare) and _ANSWERS.search(bare))):
        return True
    *words, last = bare.split() or [""]
    presents = (_PRESENTS.search(last) and _MARKED.search(bare)) or (titled and _TASK_WORD.fullmatch(last))
    return bool(presents) and len(words) < 20 and all(_TASK_WORD.fullmatch(word.strip("'\"()[]*")) for word in words)


_OFFER = re.compile(
    r"도움이?\s*(?:되|됐|될|돼).{0,12}(?:바라|바랍|좋겠|기를|길|기원|나요|까요|면 합니다)|유용하.{0,6}(?:길|기를"
    r"|바랍)|도와\s?드릴"
    r"|(?:말씀|알려|문의|요청|질문|연락|확인|수정|보완)(?:해|하여|하셔서)?\s?(?:주세요|주십시오|주시기 바랍니다"
    r"|주시면\s.*|부탁드립니다)$"
    r"|(?:필요|궁금|원|수정)하시(?:면|다면)|^위의?\s(?:문맥|맥락|답변|json)|^위의?\s(?:설명|내용|요약|문장"
    r"|정보)[은는이가]\s|^이상으로\s|^[이위]와 같이\s.*(?:문맥|맥락)"
)
_WISH = re.compile(
    r"^\W*(?:감사합니다|고맙습니다|이상입니다|이상|끝|완료|end)\W*$|(?:주십시오|하십시오|세요|바랍니다|시면 됩니다"
    r"|주시기를?)$"
    r"|(?:작성|수정|추가|필요|원하|궁금|괜찮|맞|이렇게).{0,40}(?:[까나가]요|습니까)$"
)
_ABOUT_ANSWER = re.compile(
    r"^(?:이|위|본|해당|이상의)\s*(?:문맥|맥락|컨텍스트|답변|문장)[은는이을를]"
    r".{0,60}(?:검색|자막|작성|생성|활용|사용|반영|유지|돕|도움|문장|담|포함|구간|이해|ai)"
    r"|^(?:이|위|본|해당|이상)의?\s*(?:설명|요약|내용|정보|문맥|맥락)?[은는이을를]?\s.{0,40}(?:토큰|글자|\d자"
    r"|검색에|검색 ?시|검색할|검색될)"
    r"|^(?:이|위|본|해당)의?\s*(?:설명|요약|내용|정보)[은는이을를]\s.{0,40}(?:작성|생성|정리|요약)(?:되었|됐|했"
    r"|하였|한 것|된 것)\S*$"
    r"|\d+\s?(?:토큰|글자|자|단어)(?:입니다|\s?(?:이내|내외|이하|분량))|^[총약]\s?\d+\s?(?:자|글자|토큰|단어)"
    r"|^\W*(?:참고|주의|비고|노트|note|p\.?s)\s*[:：]|^※"
)
_ORDER = re.compile(
    r"(?:쓰|작성하|답하|답변하|출력하|요약하|정리하|설명하|서술하|생성하|반환하)(?:세요|십시오|시오)\W*$"
    r"|(?:작성|답변|출력|요약|정리|설명|생성|반환)해\s?(?:주세요|주십시오|줘|야 합니다|야 한다|야 해|야겠다)\W*$"
    r"|따옴표 없이\W*$|한두 문장으로만|^(?:사용자|유저)[가는의은]?.{0,40}(?:원한다|원합니다|원하|요청|질문|지시|문맥)"
    r"|^(?:좋아|음|자|그래|먼저|우선|이제|그럼)[,.]?\s.*(?:살펴보자|보자|하자|해야 한다|해야겠다|써야 한다"
    r"|생각해)\W*$"
)
_INABILITY = re.compile(
    r"수(?:가|는)?\s*없(?:습니다|어요|음|다|네요|었습니다)$|(?:어렵|힘들)(?:습니다|어요|다|네요)$"
    r"|불가(?:능)?(?:합니다|해요|하다|함)?$"
    r"|(?:못합니다|못해요|못했습니다|못했어요)$|너무 짧(?:습니다|아요|다)$|(?:누락|않은|없는"
    r"|비어).{0,8}것 같습니다$|(?:않|비어\s?있|없)(?:습니다|았습니다|아요|어요|네요|음|다)$|부족(?:합니다|해요|함)$"
    r"|(?:없음|미제공|해당 사항 없음|해당 없음|누락되었습니다|누락됐습니다)$"
    r"|(?:없는|않는|않은|불명확한|불분명한|비어 있는) (?:부분|구간|장면|자막|내용|상태)(?:입니다|이다|임)?$"
)
_REQUEST = re.compile(
    r"(?:주세요|주십시오|주시면\s.*|주시기 바랍니다|주시겠어요|주시겠습니까|드릴까요|도와드릴 수 있.*"
    r"|도와드리겠습니다|하시나요|있으신가요"
    r"|필요하신가요|바랍니다|보내주세요|필요합니다)$"
)
_SELF = re.compile(
    r"^(?:저는|제가|나는)\s.{0,20}(?:AI|인공지능|모델|챗봇|어시스턴트)|^(?:AI|인공지능"
    r"|언어) ?(?:언어 ?)?모델(?:로서\s|이라|이기|이므로)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"자막|문맥|맥락|컨텍스트|스크립트|대본|트랜스크립트|텍스트|청크|구간|요청|발화|정보|도와|도움|무엇|답할|답변"
    r"|이해|접근|저작권|제공"
    r"|(?:영상|내용|대화|대사)[을의이은는].{0,12}(?:없|않|어렵|불가|필요|못)"
)
_CONCESSION = re.compile(r"^(?:하지만|그러나|다만|또한|혹시|만약|죄송하지만|죄송합니다만?|아쉽게도|안타깝게도),?\s+")
_SUBJECT = re.compile(r"(\S+?)(?:이|가|은|는|께서)")
_NO_SUBJECT = re.compile("[같많없있높깊굳하되좋]|우리|여러분|특별한|오류|문제|오타|문의|다른|어떤")


def is_closer(sentence: str) -> bool:
    """Whether it talks to the reader about the answer, or repeats the order: hopes to help, offers more, counts."""
    text = re.sub(r"\"[^\"]*\"|“[^“”]*”|'[^']*'|‘[^‘’]*’", "", sentence).strip()
    text = (_core(text) or text).lower()
    if _OFFER.search(text):
        return True
    if _own_subject(text):
        return False
    return bool(
        _WISH.search(text)
        or _ABOUT_ANSWER.search(text)
        or _ORDER.search(text)
        or (_DONE.search(text) and _ANSWERS.search(text))
    )


def is_refusal(sentence: str) -> bool:
    """Whether the model says that it cannot, that nothing was given, or asks for what it lacks."""
    text = sentence.strip().rstrip(" .!?~)]").lstrip("([ ")
    if _SELF.search(text):
        return True
    if not _ASKED.search(text) or _own_subject(text):
        return bool(
            re.fullmatch(r"(?:해당\s?)?(?:사항\s?)?없(?:음|습니다|어요)|알 수 없(?:음|습니다)|모름|모르겠습니다", text)
        )
    return bool(_INABILITY.search(text) or _REQUEST.search(text))


def _own_subject(text: str) -> bool:
    """Whether one of the first two words is a subject that is no word of the task; 은 and 는 only mark the first."""
    words = _CONCESSION.sub("", text).split(maxsplit=2)[:2]
    if words and re.fullmatch("그(?:녀|들)?[는은가이]", words[0]):
        return True
    for at, word in enumerate(words):
        found = _SUBJECT.fullmatch(word)
        if (
            found
            and not (at and word[-1] in "은는")
            and not _TASK_WORD.fullmatch(word)
            and not _TASK_WORD.fullmatch(found[1])
        ):
            return not _NO_SUBJECT.fullmatch(found[1])
    return False
