"""Hanja to Hangul: 韓國 is 한국.

KS X 1001 sorts its 4,888 Hanja by reading, so the first one of each reading is enough. Python's codec `euc_kr` has that
order.
"""

from bisect import bisect_right

_READINGS = (
    "가伽각刻간侃갈乫감勘갑匣강剛개介객喀갱坑갹醵거倨건乾걸乞검儉겁劫게偈격擊견堅결抉겸兼경京계係고古곡哭곤困골汨공供"
    "과寡곽槨관冠괄刮광侊괘卦괴乖굉宏교交구丘국國군君굴堀궁宮권倦궐厥궤机귀晷규叫균勻귤橘극克근僅금今급伋긍亘기企긴緊"
    "길佶김金끽喫나儺난暖날捏남南납納낭囊내乃녀女년年념念녕寗노努농濃뇌惱뇨尿눈嫩눌訥뉴杻능能니尼닉匿다多단丹달撻담啖"
    "답沓당唐대代덕德도倒독毒돈墩돌乭동仝두兜둔屯득得등嶝라喇락洛란亂랄剌람嵐랍拉랑廊래來랭冷략掠량亮려侶력力련憐렬冽"
    "렴廉렵獵령令례例로勞록碌론論롱壟뢰儡료了룡龍루壘류劉륙六륜侖률律륭隆륵勒름凜릉凌리俚린吝림林립砬마摩막寞만万말唜"
    "망亡매埋맥脈맹孟멱冪면免멸滅명冥몌袂모侮목木몰歿몽夢묘卯무務묵墨문們물勿미味민岷밀密박剝반伴발勃방倣배倍백伯번幡"
    "벌伐범凡법法벽僻변卞별別병丙보保복伏본本볼乶봉俸불不부付북北분分불佛붕崩비丕빈嚬빙憑사乍삭削산傘살乷삼三삽揷상上새塞"
    "색穡생牲서墅석夕선仙설卨섬剡섭攝성城세世소召속俗손孫솔率송宋쇄刷쇠衰수修숙叔순巡술戌숭崇슬瑟습濕승丞시侍식埴신伸"
    "실失심審십什쌍雙씨氏아亞악堊안安알斡암唵압壓앙仰애厓액厄앵櫻야也약弱양佯어圄억億언偃얼孼엄俺업嶪엔円여予역亦연嚥"
    "열悅염厭엽曄영塋예乂오五옥屋온溫올兀옹壅와渦완婉왈曰왕往왜倭외外요僥욕慾용俑우于욱勖운云울蔚웅熊원元월月위位유乳"
    "육堉윤允율聿융戎은垠을乙음吟읍揖응凝의依이二익瀷인人일一임任입入잉仍자仔작作잔孱잠岑잡雜장丈재再쟁爭저佇적勣전佃"
    "절切점占접接정丁제制조俎족族존存졸卒종倧좌佐죄罪주主죽竹준俊줄茁중中즉卽즐櫛즙楫증增지之직直진唇질侄짐斟집執징徵"
    "차且착捉찬撰찰刹참僭창倉채債책冊처凄척倜천仟철凸첨僉첩堞청廳체剃초初촉促촌寸총叢촬撮최催추墜축丑춘春출出충充췌悴"
    "취取측側층層치侈칙則친親칠七침侵칩蟄칭秤쾌快타他탁倬탄呑탈奪탐探탑塔탕宕태兌택擇탱撑터攄토兎통慟퇴堆투偸특慝틈闖"
    "파坡판判팔八패佩팽彭퍅愎편便폄貶평坪폐吠포佈폭幅표俵품品풍楓피彼필匹핍乏하下학壑한寒할割함函합合항亢해亥핵劾행倖"
    "향享허噓헌憲헐歇험險혁奕현俔혈孑혐嫌협俠형亨혜兮호乎혹惑혼婚홀忽홍哄화化확擴환丸활活황凰회匯획劃횡宖효哮후侯훈勛"
    "훙薨훤喧훼卉휘彙휴休휼恤흉兇흑黑흔昕흘吃흠欠흡吸흥興희僖힐詰"
)
"""Each reading with its first Hanja."""
_CODES = [hanja.encode("euc_kr") for hanja in _READINGS[1::2]]
_FIRST = str.maketrans(
    "녀뇨뉴니랴려례료류리라래로뢰루르녁년념녕뉵닉닌닐님략량력련렬렴렵령록론롱륙륜률륭륵름릉린림립락란람랍랑랭",
    "여요유이야여예요유이나내노뇌누느역연염영육익인일임약양역연열염엽영녹논농육윤율융늑늠능인임입낙난남납낭냉",
)
"""Readings at the start of a word: 요리 for 料理."""


def hangul_of_hanja(word: str) -> str | None:
    """Return the reading of a word in Hanja; None for a word with other characters."""
    readings: list[str] = []
    for hanja in word:
        try:
            code = hanja.encode("euc_kr")
        except UnicodeEncodeError:
            return None
        at = bisect_right(_CODES, code) - 1
        if at < 0 or not "\u4e00" <= hanja <= "\u9fff":
            return None
        readings.append(_READINGS[2 * at])
    first = readings[0].translate(_FIRST) if readings else ""
    return "".join((first, *readings[1:])) or None
