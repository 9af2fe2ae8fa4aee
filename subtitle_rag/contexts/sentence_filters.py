"""Filters for sentences that are not a context: talk about the task, refusals, fragments, other languages.

Most tests use closed vocabularies. "다음은 해당 구간의 문맥입니다" is a preamble: all its words belong to the task.
"다음은 강사가 클로저를 설명하는 장면입니다" is a context, because 강사 and 클로저 do not. A sentence with its own
subject ("모델이 문맥을 파악할 수 없습니다") is about the video and not a refusal.
"""

import re

MIN_HANGUL = 8
"""Minimum Hangul syllables of a Korean answer; counting Latin letters against them would penalize identifiers."""

ENDS = ".!?…。！？"
_HANGUL = re.compile("[가-힣]")


def letters(text: str) -> str:
    """Return only letters and digits, to compare texts regardless of spaces, punctuation and case."""
    return re.sub(r"[\W_]+", "", text).casefold()


# --- sentences ---

_MARK = re.compile(
    r"[\"“”()（）]|(?<![.!?…。！？])[.!?…。！？]+[\"'”’」』)\]]*(?=\s|\Z)|(?<=[다요죠음함임])\.(?=[가-힣])"
)
_NESTING = {"(": 1, "（": 1, "“": 1, ")": -1, "）": -1, "”": -1}


def split_sentences(text: str) -> list[str]:
    """Split a line into sentences, each with the spaces after it, so that joined they are the line again.

    Nothing ends inside quotes or brackets, if they pair up.
    """
    ends = _boundaries(text, nested=True)
    if ends is None:
        ends = _boundaries(text, nested=False) or []
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end]


def _boundaries(text: str, *, nested: bool) -> list[int] | None:
    """Return the starts of sentences except the first; None if brackets or quotes that should nest stay open."""
    starts: list[int] = []
    depth, quoted, start = 0, False, 0
    for mark in _MARK.finditer(text):
        sign = mark[0]
        quoted ^= sign.count('"') % 2 == 1
        depth = max(0, depth + sum(_NESTING.get(letter, 0) for letter in sign))
        if sign[0] not in ENDS or (nested and (depth or quoted)):
            continue
        start = mark.end() + (text[mark.end() : mark.end() + 1] == " ")
        if start < len(text):
            starts.append(start)
    return None if nested and (depth or quoted) else starts


# --- Korean ---

_VERB_END = re.compile(r"(?:[가-힣]다|[가-힣]요|[죠까]|기)$")
_NOUN_END = re.compile(
    r"(?:장면|부분|구간|대목|상황|내용|모습|과정|이야기|순간|영상|마무리|설명|소개|방법|비교|시연|시식|정리|요약|추천|평가"
    r"|리뷰|토론|대화|언급|강조|제시|안내|인터뷰|강의|예시|사례|분석)$"
)
_TAIL = re.compile(r"(?:[^\w()（）\[\]]|[)）\]ㅋㅎㅠㅜ]|\([^()]*\))+$")


def _core(text: str) -> str:
    """Remove punctuation, brackets and laughter after the last word."""
    tail = _TAIL.search(text, max(0, len(text) - 80))
    return text[: tail.start()] if tail else text


def ends_in_verb(text: str) -> bool:
    """Whether a text ends like a Korean sentence: 설명합니다, 설명한다, 설명해요, 설명함."""
    core = _core(text)
    return _closes_in_m(core) or bool(_VERB_END.search(core[-8:]))


def _closes_in_m(text: str) -> bool:
    """Whether the last syllable closes in ㅁ (or ㄻ), as nominal endings do: 함, 먹음, 만듦."""
    code = ord(text[-1]) - 0xAC00 if text else -1
    return 0 <= code <= 0xD7A3 - 0xAC00 and code % 28 in (10, 16)


def is_complete(text: str) -> bool:
    """Whether a text is finished: by its ending, a noun that closes descriptions (장면, 소개), or punctuation.

    A full stop after a digit proves nothing: "3." may have been "3.5".
    """
    if ends_in_verb(text) or _NOUN_END.search(_core(text)[-8:]):
        return not text.rstrip().endswith((",", ":", "：", ";"))
    bare = text.rstrip("\"'”’」』)] ")
    if bare.endswith(("...", "…", "..")) or not bare.endswith(tuple(ENDS)):
        return False
    return not re.search(r"[\d.]\.$", bare)


def has_no_korean_sentence(text: str) -> bool:
    """Whether a text has too few syllables, is JSON, or slips into another script."""
    short = len(_HANGUL.findall(text)) < MIN_HANGUL
    return short or bool(re.match(r"[{\[]\s*[\"'{\[}\]]", text)) or is_foreign(text)


_SET_OFF = re.compile(
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


def is_foreign(text: str) -> bool:
    """Whether the model slipped into another script outside quotes and brackets.

    Single hanja as in headlines (美, 前) are Korean.
    """
    return bool(_OTHER_SCRIPT.search(_HANJA_WORD.sub("", _SET_OFF.sub(" ", text))))


_CHINESE_OR_JAPANESE = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]+")
SCRIPT_REMINDER = "한글로만 쓰세요. 한자나 가나는 쓰지 마세요."
"""Line added to a second request."""


def find_foreign_script(text: str, video_text: str) -> list[str]:
    """Return the pieces of Chinese or Japanese script in a text that are nowhere in the video's texts."""
    return [piece for piece in dict.fromkeys(_CHINESE_OR_JAPANESE.findall(text)) if piece not in video_text]


def without_foreign_script(text: str, video_text: str) -> str:
    """Return the text without sentences in such script."""
    lines = (
        "".join(
            sentence for sentence in split_sentences(line) if not find_foreign_script(sentence, video_text)
        ).rstrip()
        for line in text.splitlines()
    )
    return "\n".join(line for line in lines if line)


# --- talk about the task ---

_NOUN = (
    r"문맥|맥락|컨텍스트|context|상황|배경|설명|요약|정리|답변|응답|결과|내용|문장|자막|구간|영상|청크|장면|부분|정보|요청|질문"
    r"|지시|형식|한국어|검색|대화|주제"
)
_TASK_WORD = re.compile(
    rf"(?:{_NOUN}|다음|아래|이하|위|이|그|제|것|해당|본|현재|전체|핵심|필요한?|한두|한|두|간결|간단|간략|도움|수정|추가|토큰"
    r"|수|점|반영|짧|최종|작성|생성|제공|분석|추출|번역|제시|안내|말씀|입력|파악|이해|주어진|주신|바탕|토대|기반|기준|위한|위해"
    r"|대한|관한|따라|맞게|맞춰|같은|지금|그럼|먼저|우선|이제|네|예|물론)"
    r"(?:하게|하신|하여|하고|해서|해|하면|하자면|할|한|된|되는|주신|히|은)?"
    r"(?:께서|에서|에는|으로는|으로만|으로|로만|로|의|에|을|를|은|는|이|가|와|과|도|만|,)?"
)
_PRESENTS = re.compile(rf"같(?:습니다|아요|다)$|(?:{_NOUN})(?:입니다|이에요|예요|이다)?$")
_MARKED = re.compile(r"다음|아래|이하|요청|제공|제시|주어진|같습니다|같아요|문맥|맥락|컨텍스트|답변|응답|context|토큰")
_PROMISE = re.compile(r"(?:겠습니다|게요|드립니다|드렸습니다)$")
_FOLLOWS = re.compile(r"(?:다음|아래|이하)[와과] 같(?:습니다|아요|다)$")
_TITLE = re.compile("문맥|맥락|컨텍스트|설명|요약|정리|답변|작성")
_YES = re.compile(
    r"(?:(?:네|예|넵|응|물론(?:이죠|입니다)?|알겠(?:습니다|어요)|좋(?:습니다|아요)|그럼요|당연하죠|안녕하세요|확인했습니다"
    r"|이해했습니다|죄송합니다|sure|certainly|of course|okay|ok|yes|absolutely|great|got it|understood|hello|thanks?)"
    r"[\s,.!~:]*)+",
    re.IGNORECASE,
)


def is_preamble(sentence: str) -> bool:
    """Whether a sentence only announces the answer: "네, 알겠습니다.", "다음은 요청하신 문맥입니다."."""
    text = sentence.strip()
    if _YES.fullmatch(text):
        return True
    titled = text.endswith((":", "："))
    bare = text.rstrip(" .!:：~")
    if not _has_own_subject(bare) and (_PROMISE.search(bare) or (titled and _TITLE.search(bare))):
        return True
    if _FOLLOWS.search(bare) and not _has_own_subject(bare):
        return True
    *words, last = bare.split() or [""]
    presents = bool(_PRESENTS.search(last) and _MARKED.search(bare))
    return presents and all(_TASK_WORD.fullmatch(word.strip("'\"()[]*")) for word in words)


_ANNOUNCED = re.compile(
    r"(?:문맥|맥락|컨텍스트|요약|답변|context)(?: ?(?:한|두|한두) 문장)?"
    r"(?:은 다음과 같습니다|입니다|이에요|예요|이다)?$",
    re.IGNORECASE,
)


def is_announcement(text: str) -> bool:
    """Whether a text is one sentence that presents an answer, whatever else it says about it.

    "아래는 검색 향상을 위한 짧은 문맥입니다." counts only above a line of dashes: "강사의 말을 옮긴 요약입니다" may be
    a context.
    """
    *before, sentence = split_sentences(" ".join(text.split()).rstrip(" .!:：")) or [""]
    return bool(_ANNOUNCED.search(sentence)) and all(map(is_preamble, before))


_PARTICLE = r"(?:에서는|에서의|에서|으로는|으로|에는|에게|까지|부터|은|는|이|가|을|를|에|의|와|과|도|만|로)"
_ENDING = (
    r"(?:하는|한다|합니다|했습니다|하고|하며|하여|해서|해|한|할|하기|된|되는|됩니다|된다|되었습니다|되어|입니다|이다|이며|인|임"
    r"|적인|적으로)"
)
_EMPTY_WORD = re.compile(
    rf"(?:(?:{_NOUN}|동영상|유튜브|비디오|이야기|제목|화면|일부|역할|의미|소개|포함|관련|진행|중요|주요|핵심|중간|처음|시작|끝|마지막|초반|후반"
    rf"|앞|뒤|위|아래|앞부분|뒷부분|것|등|및|이|그|본|해당|전체|어떤|어느|무엇|여기|다음|하나|한|두|여러|다양|가장|매우|관|대)"
    rf"{_ENDING}?{_PARTICLE}?"
    rf"|(?:여러분|우리|저희|저|제|나|내|당신|시청자|구독자|(?:시청자|구독자)?분들|화자|진행자|발표자|강연자|유튜버|이것|그것|저것|이번|지금|오늘|채널"
    rf"|클립|파트|시리즈|에피소드){_ENDING}?{_PARTICLE}?"
    r"|(?:하|되|있|보여주|나타내|다루|담고|담겨|알려주|말하|나오|이어지|이루어지|속하)(?:는|며)|합니다|됩니다|있습니다|보여줍니다|나타냅니다"
    r"|다룹니다|담고|담겨|알려줍니다|말합니다|나옵니다|이어집니다|이루어집니다|속합니다|위한|위해|통해|그리고|또한|중"
    r"|(?:보시|보|계시|만드|올리|불리)는|보고|보신|보실|계신|만든|올린|제작한|이?라는|이?라고|대하여|관하여|안녕하세요|함께"
    r"|많이|많은|자주|항상|모두|모든|더욱|정말|아주|특히|널리|흔히|따라서|그래서|그러나|하지만"
    rf"|{_ENDING}|{_PARTICLE})"
)


_STEM = re.compile(rf"(?![것수때번개명분쪽뿐채듯점중말일])([가-힣]){_PARTICLE}|(\w{{2,}}?){_ENDING}?{_PARTICLE}?")
"""A word's stem; a stem of one syllable (면을, 옷이) needs a particle, and must not only count or refer."""


def stems_in_order(sentence: str) -> list[str]:
    """Return the words of a sentence without endings and particles, except words that say nothing about a scene.

    "이 구간은 클로저를 설명하는 부분입니다." has only 클로저.
    """
    words = [word for word in re.findall(r"\w+", sentence.casefold()) if not _EMPTY_WORD.fullmatch(word)]
    return [match[1] or match[2] for word in words if (match := _STEM.fullmatch(word))]


def content_stems(sentence: str) -> set[str]:
    """Return the words that `stems_in_order` lists."""
    return set(stems_in_order(sentence))


_SPEECH_END = re.compile(
    r"(?:거든|잖아|더라고|[는은인던]데|(?<!건)네|[었는]나|까|래|(?<!기)대|군)요$|(?:구나|거야|[았었였했됐갔왔봤]어)$"
)

_SPEAKER = re.compile(r"(?:저는|저도|제가|저희는|저희가|나는|나도|내가)\s")


def is_spoken(sentence: str) -> bool:
    """Whether a sentence ends like conversation rather than like a description of a scene.

    Questions, endings of surprise, reason and hearsay ("샀거든요", "맛있네요", "그랬대요"), and first-person
    statements: small models put "저는" before captions.
    """
    text = sentence.strip()
    is_of_speaker = _SPEAKER.match(text) is not None
    return is_of_speaker or text.endswith(("?", "？")) or bool(_SPEECH_END.search(_core(text)[-8:]))


_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|'[^']*'|‘[^‘’]*’")
_WISH = re.compile(
    r"^\W*(?:감사합니다|고맙습니다|이상입니다|이상|끝|완료)\W*$|(?:주십시오|하십시오|세요|바랍니다)$"
    r"|(?:작성|수정|추가|필요|원하|궁금|괜찮|맞|이렇게).{0,40}(?:[까나가]요|습니까)$"
)
_ABOUT_ANSWER = re.compile(
    r"^(?:이|위|본|해당)의?\s*(?:문맥|맥락|컨텍스트|답변|문장|설명|요약)[은는이을를]"
    r".{0,60}(?:검색|자막|작성|생성|활용|사용|반영|돕|도움|문장|이해|토큰|글자)"
    r"|\d+\s?(?:토큰|글자|자|단어)(?:입니다|\s?(?:이내|내외|이하|분량))"
    r"|^\W*(?:참고|주의|비고|note|p\.?s)\s*[:：]|^※"
)
_ORDER = re.compile(
    r"(?:작성|답변|출력|요약|정리|설명|생성)해\s?(?:주세요|주십시오|줘|야 합니다|야 한다|야 해|야겠다)\W*$"
    r"|^(?:사용자|유저)[가는의은]?.{0,40}(?:원한다|원합니다|원하|요청|질문|지시|문맥)"
    r"|^(?:좋아|음|자|그래|먼저|우선|이제|그럼)[,.]?\s.*(?:보자|하자|해야 한다|해야겠다|써야 한다)\W*$"
)
_INABILITY = re.compile(
    r"수(?:가|는)?\s*없(?:습니다|어요|음|다|네요)$|(?:어렵|힘들)(?:습니다|어요|다)$|불가(?:능)?(?:합니다|하다|함)?$"
    r"|못(?:합니다|해요|했습니다)$|너무 짧(?:습니다|아요|다)$|(?:누락|않은|없는|비어).{0,8}것 같습니다$"
    r"|(?:않|비어\s?있|없)(?:습니다|았습니다|아요|어요|음|다)$|부족(?:합니다|해요|함)$|누락되었습니다$"
    r"|(?:없는|않는|않은|불명확한|비어 있는) (?:부분|구간|장면|자막|내용|상태)(?:입니다|이다|임)?$"
)
_TASK_TOPIC = re.compile(
    r"자막|문맥|맥락|컨텍스트|스크립트|대본|텍스트|청크|구간|요청|발화|정보|도와|도움|답변|이해|접근|저작권|제공"
    r"|(?:영상|내용|대화|대사)[을의이은는].{0,12}(?:없|않|어렵|불가|필요|못)"
)
_SELF = re.compile(r"^(?:저는|제가)\s.{0,20}(?:AI|인공지능|모델)|^(?:AI|인공지능) ?(?:언어 ?)?모델(?:로서\s|이라|이기)")
_SUBJECT = re.compile(r"(\S+?)(?:이|가|은|는|께서)")
_NO_SUBJECT = re.compile("[같많없있높깊굳하되좋]|우리|여러분|오류|문제|오타|문의|다른|어떤")


def is_closer(sentence: str) -> bool:
    """Whether a sentence addresses the reader about the answer, or repeats the order."""
    text = _QUOTED.sub("", sentence).strip()
    text = (_core(text) or text).lower()
    return not _has_own_subject(text) and any(rule.search(text) for rule in (_WISH, _ABOUT_ANSWER, _ORDER))


def is_refusal(sentence: str) -> bool:
    """Whether the model says that it cannot answer or got no input, or asks for missing input."""
    text = sentence.strip().rstrip(" .!?~)]").lstrip("([ ")
    if _SELF.search(text):
        return True
    return bool(_TASK_TOPIC.search(text) and _INABILITY.search(text)) and not _has_own_subject(text)


def _has_own_subject(text: str) -> bool:
    """Whether one of the first two words is the sentence's own subject; 은 and 는 mark only the first."""
    for at, word in enumerate(text.split(maxsplit=2)[:2]):
        subject = _SUBJECT.fullmatch(word)
        if subject and not (at and word[-1] in "은는") and not _TASK_WORD.fullmatch(word):
            return not _NO_SUBJECT.fullmatch(subject[1])
    return False
