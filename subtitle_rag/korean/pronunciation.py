"""Names in Latin letters that captions spell in Hangul: Dior is 디올, and Kubernetes 쿠버네티스.

A word's Hangul is split into plain jamo, without the silent ㅇ. Rules with costs read Latin letters as the same jamo:
mostly the Korean orthography of loanwords, and at a higher cost French, Italian, Japanese and Korean readings. The
distance is the cost of the cheapest alignment. Known names are in `spellings.txt`.

Rules of loanword orthography: 외래어 표기법, Ministry of Culture notice 2017-14.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial

from subtitle_rag.korean.keyboard import FIRST_CONSONANTS
from subtitle_rag.korean.readings import LETTER_NAMES

CANDIDATES = 2
MARGIN = 0.02
"""Most extra cost per letter above the best match: long words are rarely similar by chance."""
MIN_LETTERS = 3
"""Fewest Latin letters of a word; two have too many readings."""
MAX_COST = 0.042
"""Highest cost per letter or jamo, whichever are more."""
BEGINNING = 2
"""Jamo of the prefix that looks up Latin words; most words with a fitting first letter sound different."""
BEGINNINGS = 512
"""Prefixes with cached Latin words: all 399."""
LONGEST_PRUNED = 24
"""Most jamo of words looked up by prefix; longer ones may cost more."""
MIN_PREFIX = 4
"""Latin letters from which a word matches the start of a longer noun: 아크네스튜디오 for Acne."""
TAIL_COST = 0.1
"""Cost of the rest after such a start."""
LONGEST_RATIO = 1.5
"""Jamo per Latin letter, up to which a longer word may cost more."""
SKIP_COST = 0.6
"""Cost of a letter or jamo without a counterpart."""
EPENTHESIS = {"ㅡ": 0.03, "ㅣ": 0.3}
"""Vowels added after consonants in Hangul: 스 in 스타, 치 in 벤치."""

_FIRST, _LAST = 0xAC00, 0xD7A3
_VOWELS, _FINALS = (
    readings.split(",")
    for readings in (
        "ㅏ,ㅔ,ㅣㅏ,ㅣㅔ,ㅓ,ㅔ,ㅣㅓ,ㅣㅔ,ㅗ,ㅗㅏ,ㅜㅔ,ㅜㅔ,ㅣㅗ,ㅜ,ㅜㅓ,ㅜㅔ,ㅜㅣ,ㅣㅜ,ㅡ,ㅡㅣ,ㅣ",
        ",ㄱ,ㄱ,ㄱㅅ,ㄴ,ㄴ,ㄴ,ㄷ,ㄹ,ㄹㄱ,ㄹㅁ,ㄹㅂ,ㄹ,ㄹ,ㄹㅍ,ㄹ,ㅁ,ㅂ,ㅂ,ㅅ,ㅅ,ㆁ,ㅈ,ㅊ,ㅋ,ㅌ,ㅍ,ㅎ",
    )
)
"""Jamo of vowels and final consonants, in Unicode's order."""
_Groups = Sequence[tuple[int, ...]]

_SAME_VOWELS = ((1, 5), (3, 7), (10, 11, 15))
"""ㅐ and ㅔ, ㅒ and ㅖ, ㅙ, ㅚ and ㅞ, by index in Unicode's order."""
_SAME_FINALS = ((1, 2, 24), (7, 19, 20, 22, 23, 25), (17, 26))
"""ㄱ, ㄲ and ㅋ; ㄷ, ㅅ, ㅆ, ㅈ, ㅊ and ㅌ; ㅂ and ㅍ."""
_OPEN_FINALS = {1: ("크",), 17: ("프",), 19: ("트", "츠")}
"""Final consonants of loanwords, ㄱ, ㅂ and ㅅ by index, and syllables that replace them."""
_NEAR_INITIALS = ((0, 1, 15), (3, 4, 16), (7, 8, 17), (9, 10), (12, 13, 14))
"""ㄱ, ㄲ and ㅋ; ㄷ, ㄸ and ㅌ; ㅂ, ㅃ and ㅍ; ㅅ and ㅆ; ㅈ, ㅉ and ㅊ."""
_NEAR_VOWELS = ((0, 2), (4, 6), (4, 8), (4, 18), (8, 13), (13, 18), (18, 20))
"""ㅏ and ㅑ; ㅓ and ㅕ; ㅓ and ㅗ; ㅓ and ㅡ; ㅗ and ㅜ; ㅜ and ㅡ; ㅡ and ㅣ."""
_NEAR_FINALS = ((4, 16, 21),)
"""ㄴ, ㅁ and ㅇ."""
_DOUBLE = re.compile("([ㄱ-ㅎ])\\1")
_PALATALS = "ㅈㅉㅊ"
"""Consonants after which 져 sounds like 저: 위쳐, 쥬스."""
_PLAIN = str.maketrans("ㄲㄸㅃㅆㅉ", "ㄱㄷㅂㅅㅈ")

_RULES = """
^a     ㅓ.08
^be    ㅂㅣ.05
^com   ㅋㅓㅁ ㅋㅗㅁ.05
^con   ㅋㅓㄴ ㅋㅗㄴ.05
^che   ㅅㅜㅔ.05
^de    ㄷㅣ ㄷㅡ.08
^e     ㅣ.03
^em ^en ㅣㅁ
^ex    ㅣㄱㅅ
^h     .1
^i     ㅏㅣ.05
^le    ㄹㅡ.08
^mc    ㅁㅔㄱ ㅁㅔㅋ
^mac   ㅁㅔㄱ.03
^ps    ㅅ.03
^re    ㄹㅣ ㄹㅡ.08
^v     ㅍ.05
^w     ㅂ.12
^x     ㅈ.05
a      ㅏ ㅔ.08 ㅔㅣ.1 ㅓ.2 ㅗ.3
ae     ㅣ.1 ㅔ.05
aa     ㅏ
age$   ㅣㅈㅣ ㅔㅣㅈㅣ
ace$   ㅣㅅ.05
agne   ㅔㅣㄴ.03
al$    ㅡㄹ.05 ㅓㄹ.05
all    ㅗㄹ.05
alk    ㅗㅋ ㅓㅋ.05
alm    ㅏㅁ ㅔㅁ.05
am     ㅏㆁ.12
ai ay  ㅔㅣ.03 ㅏㅣ.03 ㅔ.08
ain    ㅔㆁ.15
ain$   ㅡㄴ.05 ㅣㄴ.05
an     ㅏㆁ.12 ㅓㄴ.1
an$    ㅓㄴ.08
ance   ㅓㄴㅅ.03
ad$    ㅓㄷ.05
ar     ㅏ ㅓ.12
ate$   ㅔㅣㅌ ㅣㅅ.1
au aw  ㅗ ㅏㅜ.08 ㅓ.25
abil   ㅓㅂㅣㄹ
able$  ㅓㅂㅡㄹ
ah     ㅏ.03
air    ㅔㅓ
ant$   ㅓㄴㅌ.03 ㅏㆁ.05
and    ㅔㄴㄷ.03
are$   ㅔㅓ
ary$   ㅓㄹㅣ.03
arch   ㅏㅋ.03
ati    ㅔㅣㅅㅣ.03
ault$  ㅗ.03
aCe    ㅔㅣC
alt    ㅗㄹㅌ.03 ㅓㄹㅌ.05
al     ㅓㄹ.12
au     ㅏㅗ.05
ar$    ㅓ.05
anc$   ㅏㆁ.05
amp$   ㅏㆁ.08
aCer   ㅔㅣCㅓ
ase    ㅔㅣㅈ.05
aste   ㅔㅣㅅㅡㅌ.05
ange   ㅔㅣㄴㅈㅣ.05
ax     ㅔㄱㅅ.05
b bb   ㅂ
bt     ㅌ.05 ㅂㅌ
c q    ㅋ ㄱ.1
c      ㅅ.35 ㅊ.35
ce     ㅅ ㅅㅔ ㅊㅔ.1
cer    ㅅㅓ
cei    ㅅㅣ.03
ci cy  ㅅㅣ ㅅㅏㅣ.1 ㅊㅣ.1
ciCe   ㅅㅏㅣC
ceCe   ㅅㅣC
cc     ㅋ ㅊ.15 ㅈ.15
ch     ㅊ ㅅ.1 ㅋ.15 ㅎ.15 ㅅㅣ.12
cha    ㅅㅣㅏ.1
che    ㅅㅣㅔ.1 ㅋㅔ.1 ㅅㅜㅔ.1
ch$    ㅊㅣ
che$   ㅅㅣ ㅊㅔ.05 ㅅㅣㅜ.1 ㅅㅜㅣ.03
cht    ㅎㅌ
cqu    ㅋ
cui    ㅋㅣ.05
ck     ㅋ ㄱ
chi    ㅋㅣ.08
chael  ㅋㅡㄹ
chr    ㅋㄹ ㅋㅡㄹ
cial   ㅅㅣㅓㄹ
ct     ㄱㅌ
cs     ㄱㅅ
c$     ㄱ
cchi   ㄱㅣ.03 ㅋㅣ.03
cch    ㅋ
ch tch ㅊㅣ.1
con    ㅋㅗㆁ.1
d dd   ㄷ
d$     ㅌ.08
dge$   ㅈㅣ
ds$    ㅈ ㅅㅈ.03
du     ㅈㅜ.05
dj     ㅈ
dge    ㅈㅣ.03 ㅈ.05
eau    ㅗ
e      ㅔ .15 ㅣ.15 ㅓ.15 ㅡ.15
e$     .0 ㅔ.04 ㅣ.1 ㅡ.2
ee ea  ㅣ ㅔ.15 ㅣㅓ.15 ㅣㅔ.1 ㅔㅣ.12
el$    ㅡㄹ.03
em     ㅏㆁ.12
ei ey  ㅔㅣ.03 ㅏㅣ.03 ㅣ.08 ㅔ.1
en     ㅏㆁ.12
ence   ㅓㄴㅅ.03
ent$   ㅏㆁ.08 ㅓㄴㅌ.03
et$    ㅔㅅ ㅣㅅ.08 ㅔ.1
eo     ㅔㅗ.05 ㅓ.08
er     ㅓ.02 ㅔ.2
eu     ㅜ.05 ㅣㅜ.08 ㅡ.08 ㅗㅣ.08 ㅓ.1 ㅜㅔ.08
ew     ㅜ ㅣㅜ
exc    ㅔㄱㅅ ㅣㄱㅅ
ead    ㅔㄷ.03
ear    ㅣㅓ ㅓ.05
en$    ㅡㄴ.03 ㅓㄴ.05 ㅔㆁ.08
enne$  ㅔㄴ ㅏㄴ.05
ere    ㅣㅓ.03 ㅔㅓ.05
es$    ㅅ ㅡㅈ.05 ㅈ.05 .1 ㅣㅅ.05 ㅣㅈ.05
eCe    ㅣC
er$    ㅔㅓ.08 ㅏ.15
ella   ㅔㅣㅏ.1
eum    ㅣㅜㅁ
eur    ㅜㅔㄹ.05
ean    ㅣㅓㄴ.05
f ff   ㅍ ㅎ.25
fy$    ㅍㅏㅣ
f      ㅎㅜ.2
g gg   ㄱ
ge     ㅈ ㅈㅔ ㅈㅣ.05 ㅈㅓ.1
ge$    ㅈㅣ
gen    ㅈㅏㆁ.1
ger    ㅈㅓ
gi gy  ㅈㅣ ㅈ.05
gia    ㅈㅏㅣㅓ.08
giCe   ㅈㅏㅣC
geCe   ㅈㅣC
gh     .05 ㄱ ㅍ.2 ㅎ.2
gn     ㄴㅣ.05 ㄴ.1
gna    ㄴㅣㅏ.03
gno    ㄴㅣㅗ.03
gne$   ㄴㅣㅏ.1
gu     ㄱ.1 ㄱㅜ.05 ㄱㅜㅏ.1 ㄱㅣㅜ.05
gua    ㄱㅗㅏ.03
gui    ㄱㅏㅣ.05
g$     ㅋ.05
h      ㅎ .25
hua    ㅎㅗㅏ
ham$   ㅓㅁ.03 ㅎㅔㅁ.03
i y    ㅣ ㅏㅣ.1 ㅓ.3
ii     ㅣ
i$     ㅏㅣ.05
ier    ㅣㅔ ㅣㅓ
ia     ㅏㅣㅓ.1
ial    ㅣㅓㄹ.03
igh    ㅏㅣ
ign$   ㅏㅣㄴ
in     ㅏㆁ.12 ㅔㆁ.2
io     ㅣㅓ.2
ique   ㅣㄱ ㅣㅋ
ize    ㅏㅣㅈ.03
ise$   ㅏㅣㅈ.1
isl    ㅏㅣㄹ.05
ir     ㅓ
irt$   ㅓㅊ.05
ibil   ㅓㅂㅣㄹ ㅣㅂㅣㄹ
ible$  ㅓㅂㅡㄹ ㅣㅂㅡㄹ
il$    ㅡㄹ.05
ie     ㅣ.03 ㅏㅣ.05 ㅏㅣㅓ.1
ier$   ㅏㅣㅓ.03
ign    ㅏㅣㄴ.05
ire    ㅏㅣㅓ
ism$   ㅣㅈㅡㅁ
iCe yCe ㅏㅣC
ille$  ㅣ.05 ㅣㅜ.08
illa   ㅣㅏ.03 ㅣㄹㅣㅏ.08
in$    ㅔㆁ.05
iron   ㅏㅣㅓㄴ
iCer   ㅏㅣCㅓ
it$    ㅣ.1
ise    ㅏㅣㅈ.05
ille   ㅣㄹ.05
jj     ㅈ
j      ㅈ ㅣ.25 ㅎ.3
ja     ㅎㅏ.15
k      ㅋ ㄱ.05
kk     ㅋ ㄱ ㅅㅋ.1
kg     ㄱ
kn     ㄴ.05
k$     ㄱ
ld$    ㄹㅌ.05 ㄹㄷ
le$    ㅡㄹ
lh     ㄹ
ll     ㄹ ㅣ.3
lla    ㅣㅏ.1
l ll   ㄹ
less$  ㄹㅣㅅ
m mm   ㅁ
mb     ㅁ.08
mb$    ㅁ
ment   ㅁㅓㄴㅌ
mech   ㅁㅔㅋ
mn$    ㅁ
mont   ㅁㅗㆁ.03
n nn   ㄴ
nk nc  ㆁㅋ ㆁㄱ.05
nx$    ㆁㅋㅡㅅ.05
ng     ㆁ ㆁㄱ ㄴㅈ.1
ngue   ㆁ.03 ㆁㄱ.03
no$    ㄴㅣㅗ.15
ness$  ㄴㅣㅅ ㄴㅔㅅ
nu     ㄴㅣㅜ.03
o      ㅗ ㅓ.2 ㅜ.25 ㅏ.2
oa     ㅗ
oar    ㅗ
oe     ㅜㅔ.08 ㅗ.15 ㅣ.1
oi     ㅜㅏ.05 ㅗㅏ.1 ㅗㅗㅏ.1
on     ㅗㆁ.12 ㅓㄴ.08 ㅡㄴ.1
oo     ㅜ ㅗ.15 ㅓ.25
or     ㅗ ㅓ.1 ㅗㅓ.08
ou     ㅜ ㅏㅜ.08 ㅗ.1 ㅓ.1
our    ㅓ.05 ㅏㅜㅓ.05
ow     ㅗㅜ ㅏㅜ.05 ㅗ.05
on$    ㅓㄴ.03 ㅡㄴ.08
or$    ㅓ.02 ㅏ.15
op     ㅏㅂ.08
ot     ㅏㅅ.08
ock    ㅏㄱ.05
ox     ㅏㄱㅅ.08
ory$   ㅗㄹㅣ ㅓㄹㅣ.03
ois$   ㅜㅏ.03
ound   ㅏㅜㄴㄷ
ous$   ㅓㅅ.03
out    ㅏㅜㅅ
oux$   ㅜ.03
own    ㅏㅜㄴ
oCe    ㅗC
oe$    ㅗㅔ.05
one    ㅜㅓㄴ.03
ouch   ㅓㅊ.03
oCer   ㅗCㅓ
ose    ㅗㅈ.03
p      ㅍ ㅂ.08
pp     ㅍ ㅂ.05 ㅅㅍ.1
pb     ㅂ.05
pn     ㄴ.05
pt$    ㅌ.05
ph     ㅍ
ps     ㅅ.12
p$     ㅂ
pt     ㅂㅌ
pf     ㅎㅗㅏ.1
que    ㅋ ㄱ.05 ㅋㅔ.1 ㅋㅜㅓ.05 ㅋㅜㅔ.08
qu     ㅋㅜ ㅋ.1
r rr   ㄹ .2
re$    ㄹ ㅓ.1 ㄹㅔ.1
rh     ㄹ
s      ㅅ ㅈ.12
ss     ㅅ
su     ㅅㅡ.08
s$     ㅡㅈ.05 .12
sc     ㅅ.1
sce    ㅅㅣ.05
sci    ㅅㅏㅣ.05
sch    ㅅ ㅅㅋ ㅅㅣㅜ.05 ㅅㅡㅋ
se$    ㅅ ㅈ.05
sh     ㅅ ㅅㅣ ㅅㅜ.08 ㅅㅜㅣ.1
sion   ㅈㅣㅓㄴ ㅅㅣㅓㄴ ㅈㅓㄴ.03
st     ㅅㅣㅜㅌ.15
stl    ㅅㄹ
stle$  ㅅㅡㄹ
stm    ㅅㅡㅁ ㅅㅁ
sten$  ㅅㅡㄴ
son$   ㅅㅡㄴ ㅅㅗㄴ.03
sche$  ㅅㅜㅔ.05
sp     ㅅㅣㅜㅍ.15
sch$   ㅅㅜㅣ ㅅㅣ.05
t      ㅌ ㄷ.08 ㅅ.15
tt     ㅌ ㄷ.03
tte$   ㅅ.03 ㅌ
t$     ㅅ.03 .2
th     ㅅ ㄷ.08 ㅌ.08
thm    ㄷㅡㅁ ㅈㅡㅁ.05
tion   ㅅㅣㅓㄴ ㅅㅣㅗㄴ.1
ts tz  ㅊ ㅈ.1
tch    ㅊ
tch$   ㅊㅣ
ture   ㅊㅓ
tur    ㅊㅓ.05
tech   ㅌㅔㅋ ㅌㅔㄱ
tial   ㅅㅣㅓㄹ
tl     ㅅㄹ ㅌㅡㄹ ㄹ.12
tm     ㅅㅁ.05
tn     ㅅㄴ.05
tf     ㅅㅍ.03
tb     ㅅㅂ.03
ton$   ㅌㅡㄴ ㅌㅓㄴ ㅌㅗㄴ.03
ts     ㅅ.1
tu     ㅌㅣㅜ.03 ㅌㅜ
tsu    ㅅㅡ.03 ㅊㅡ.03
tes$   ㅊ
u      ㅜ ㅓ.08 ㅣㅜ.1 ㅏ.3 ㅜㅣ.15
ue ui  ㅜㅣ.1 ㅜㅔ.1
uage   ㅜㅣㅈㅣ
us$    ㅡㅅ.1 ㅓㅅ.03 ㅜㅣㅅ.08 ㅣㅅ.15
ut$    ㅜㅣ.1
ur     ㅓ ㅜ.1
uu     ㅜ
ure$   ㅣㅜㅓ ㅓ.05
uCe    ㅣㅜC ㅜC.03
ui     ㅜ.08
v      ㅂ ㅍ.25
vl     ㅂㅡㅣㄹ.05
w      ㅜ .2 ㅂ.2
wa     ㅗㅏ ㅜㅓ.1 ㅗ.15
wai    ㅗㅏㅣ
wi     ㅜㅣ ㅗㅏㅣ.08
wr     ㄹ
we     ㅜㅔ
wer$   ㅓ.05
wo     ㅜㅓ ㅜ.05
wh     ㅜ ㅎㅜ.1
wha    ㅗㅏ.03
whi    ㅎㅗㅏㅣ.03
ware   ㅜㅔㅓ
wire   ㅗㅏㅣㅓ
war    ㅗㅓ.03
wor    ㅜㅓ.03
wood   ㅜㄷ
x      ㄱㅅ ㅅ.3 ㅈ.2 ㅋㅅ.05
x$     ㄱㅅ .25
xia    ㅅㅣㅏ.05
ya     ㅣㅏ
z      ㅈ ㅊ.1 ㅅ.2
zz     ㅈ ㅊ.05
zu     ㅈㅡ.05
"""
"""Letters, readings and costs (default 0). `^` and `$` are start and end, `C` a consonant of `_BEFORE_SILENT_E`."""
_BEFORE_SILENT_E = {**dict(zip("bcdfklmnpstvz", "ㅂㅅㄷㅍㅋㄹㅁㄴㅍㅅㅌㅂㅈ", strict=True)), "g": "ㅈㅣ"}
"""Readings of a consonant before a silent e: 페이스 for face."""
LETTER_NAME_COST = 0.1
"""Cost of a consonant read by its name next to others at the start or end: 엔비디아 for nvidia, 디비 for db."""
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_CLUSTERS = re.compile(f"^[{_CONSONANTS}]{{2,}}|[{_CONSONANTS}]{{2,}}$")


@cache
def _rules() -> Mapping[str, Sequence[tuple[str, float]]]:
    rules: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for line in _RULES.strip().splitlines():
        fields = line.split()
        letters = [field for field in fields if field.strip("^$").isascii() and field.strip("^")[0].isalpha()]
        for reading in fields[len(letters) :]:
            jamo = reading.rstrip(".0123456789")
            cost = float(reading[len(jamo) :] or 0)
            for each in letters:
                for consonant, sound in _BEFORE_SILENT_E.items() if "C" in each else (("", ""),):
                    rules[each.replace("C", consonant)].append((jamo.replace("C", sound), cost))
    return rules


@cache
def _letter_names() -> Mapping[str, Sequence[tuple[str, float]]]:
    return {letter: [(jamo(name), LETTER_NAME_COST) for name in LETTER_NAMES[letter]] for letter in _CONSONANTS}


LONGEST_RULE = 4
LONGEST_READING = 7

Edges = Mapping[str, Sequence[tuple[int, int, float]]]
"""Jamo → (start, end, cost) of the letters with that reading."""


def jamo(word: str) -> str:
    """Return the sound of a word in Hangul; other characters stay as they are."""
    sounds: list[str] = []
    for character in word:
        code = ord(character) - _FIRST
        if not 0 <= code <= _LAST - _FIRST:
            sounds.append(character)
            continue
        rest, final = divmod(code, len(_FINALS))
        initial, vowel = divmod(rest, len(_VOWELS))
        consonant, vowels = FIRST_CONSONANTS[initial], _VOWELS[vowel]
        if consonant in _PALATALS and len(vowels) > 1:
            vowels = vowels.removeprefix("ㅣ")
        sounds.append(consonant.replace("ㅇ", "") + vowels + _FINALS[final])
    return _DOUBLE.sub(r"\1", "".join(sounds).translate(_PLAIN))


def homophones(word: str) -> Iterator[str]:
    """Yield spellings of a Hangul word with the same sound that differ in one syllable: 꽃개 for 꽃게."""
    return _spellings(word, (), _SAME_VOWELS, _SAME_FINALS)


def near_sounds(word: str) -> Iterator[str]:
    """Yield spellings of a Hangul word with one sound changed that speech recognisers confuse: 콩치 for 꽁치."""
    return _spellings(word, _NEAR_INITIALS, _NEAR_VOWELS, _NEAR_FINALS)


def open_finals(word: str) -> Iterator[str]:
    """Yield spellings of a loanword with its last consonant as a syllable, or the reverse: 로보트 for 로봇."""
    if len(word) < 2 or not is_hangul(word):
        return
    rest, final = divmod(ord(word[-1]) - _FIRST, len(_FINALS))
    initial, vowel = divmod(rest, len(_VOWELS))
    for syllables in _OPEN_FINALS.get(final, ()):
        yield word[:-1] + _syllable(initial, vowel, 0) + syllables
    for closed, endings in _OPEN_FINALS.items():
        for ending in endings:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                before = word[: -len(ending)]
                if (ord(before[-1]) - _FIRST) % len(_FINALS) == 0:
                    yield before[:-1] + chr(ord(before[-1]) + closed)


def _spellings(word: str, initials: _Groups, vowels: _Groups, finals: _Groups) -> Iterator[str]:
    for at, character in enumerate(word):
        rest, final = divmod(ord(character) - _FIRST, len(_FINALS))
        initial, vowel = divmod(rest, len(_VOWELS))
        replacements = [(letter, vowel, final) for letter in _others(initial, initials)]
        replacements += [(initial, letter, final) for letter in _others(vowel, vowels)]
        replacements += [(initial, vowel, letter) for letter in _others(final, finals)]
        for syllable in replacements:
            yield word[:at] + _syllable(*syllable) + word[at + 1 :]


def _others(letter: int, groups: _Groups) -> list[int]:
    return [alike for group in groups if letter in group for alike in group if alike != letter]


def _syllable(initial: int, vowel: int, final: int) -> str:
    return chr(_FIRST + (initial * len(_VOWELS) + vowel) * len(_FINALS) + final)


def is_hangul(word: str) -> bool:
    """Return whether a word has only Hangul syllables."""
    return all(_FIRST <= ord(character) <= _LAST for character in word)


def letters_of(word: str) -> str:
    """Return a Latin word in lower case without accents: alaia for Alaïa."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", letters)


@lru_cache(4096)
def edges(word: str) -> Edges:
    """Return all readings of a Latin word's parts."""
    edges_by_reading: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    rules = _rules()
    in_clusters = {at for cluster in _CLUSTERS.finditer(word) for at in range(*cluster.span())}
    for start in range(len(word)):
        for end in range(start + 1, min(len(word), start + LONGEST_RULE) + 1):
            part = word[start:end]
            readings = [*rules.get(part, ())]
            if end == len(word):
                readings += rules.get(part + "$", ())
            if start == 0:
                readings += rules.get("^" + part, ())
            if start in in_clusters and end == start + 1:
                readings += _letter_names()[part]
            for reading, cost in readings:
                edges_by_reading[reading].append((start, end, cost))
        edges_by_reading[""].append((start, start + 1, SKIP_COST))
    return {reading: sorted(each) for reading, each in edges_by_reading.items()}


@lru_cache(4096)
def _openings(word: str) -> Mapping[str, Sequence[int]]:
    """Return the prefixes of readings of several jamo, with the letter offsets where each may begin."""
    starts: dict[str, set[int]] = defaultdict(set)
    for reading, each in edges(word).items():
        for length in range(1, len(reading)):
            starts[reading[:length]].update(start for start, _end, _cost in each)
    return {opening: sorted(each) for opening, each in starts.items()}


class _Alignment:
    """Costs of a Latin word against a growing sequence of jamo: dynamic programming with one column per jamo."""

    def __init__(self, word: str) -> None:
        self._length = len(word)
        self._edges, self._openings = edges(word), _openings(word)
        first = [0.0] + [math.inf] * self._length
        self._columns = [self._closed(first)]

    def cut(self, count: int) -> None:
        """Keep the columns of the first `count` jamo."""
        del self._columns[count + 1 :]

    def extend(self, sounds: str, at: int) -> float:
        """Add the column of `sounds[at]`; return the least cost of any continuation."""
        columns = self._columns
        inserted = EPENTHESIS.get(sounds[at], SKIP_COST)
        column = [cost + inserted for cost in columns[-1]]
        for length in range(1, min(at + 1, LONGEST_READING) + 1):
            before = columns[-length]
            for start, end, cost in self._edges.get(sounds[at + 1 - length : at + 1], ()):
                if before[start] + cost < column[end]:
                    column[end] = before[start] + cost
        columns.append(self._closed(column))
        least = min(column)
        for length in range(1, min(at + 1, LONGEST_READING - 1) + 1):
            before = columns[-length - 1]
            for start in self._openings.get(sounds[at + 1 - length : at + 1], ()):
                least = min(least, before[start])
        return least

    @property
    def cost(self) -> float:
        """The cost of the whole word against the jamo so far."""
        return self._columns[-1][-1]

    def _closed(self, column: list[float]) -> list[float]:
        for start, end, cost in self._edges.get("", ()):
            if column[start] + cost < column[end]:
                column[end] = column[start] + cost
        return column


@lru_cache(4096)
def _inner_ends(word: str) -> frozenset[int]:
    """Return the number of jamo after each syllable of a word but the last."""
    return frozenset(len(jamo(word[:at])) for at in range(1, len(word)))


def _sounding(words: Sequence[str], beginning: str) -> list[tuple[float, str]]:
    """Return the Latin words that may sound like the start of a word of `LONGEST_PRUNED` jamo, with the least costs."""
    matches: list[tuple[float, str]] = []
    for word in words:
        if word[0] in _first_letters(beginning[0]):
            alignment = _Alignment(word)
            cost = max(alignment.extend(beginning, at) for at in range(len(beginning)))
            if cost <= MAX_COST * max(len(word), LONGEST_PRUNED):
                matches.append((cost, word))
    return matches


class SoundIndex:
    """The words of a library by sound."""

    def __init__(self, forms: Iterable[str]) -> None:
        hangul: list[tuple[str, str]] = []
        self._latin: list[str] = []
        for form in forms:
            if is_hangul(form):
                hangul.append((jamo(form), form))
            elif len(form) >= MIN_LETTERS and form.isascii() and form.isalpha():
                self._latin.append(form)
        hangul.sort()
        self._hangul = hangul
        self._sounding = lru_cache(BEGINNINGS)(partial(_sounding, self._latin))
        """Words are typed letter by letter with the same start."""

    def hangul_of(self, word: str) -> list[str]:
        """Return at most `CANDIDATES` Hangul words that sound like a Latin word, nearest first.

        The word may be the start of a longer one.
        """
        word = letters_of(word)
        if len(word) < MIN_LETTERS or not (word.isascii() and word.isalpha()):
            return []
        matches = sorted(self._matches(word))[:CANDIDATES]
        return [form for cost, _length, form in matches if cost <= matches[0][0] + MARGIN * len(word)]

    def latin_of(self, word: str) -> list[str]:
        """Return at most `CANDIDATES` Latin words that sound like a Hangul word."""
        sounds = jamo(word)
        if not is_hangul(word) or len(sounds) < MIN_LETTERS:
            return []
        matches: list[tuple[float, str]] = []
        if len(sounds) <= LONGEST_PRUNED:
            candidates = self._sounding(sounds[:BEGINNING])
        else:
            candidates = [(0.0, form) for form in self._latin if form[0] in _first_letters(sounds[0])]
        for least, form in candidates:
            bound = MAX_COST * max(len(form), len(sounds))
            if least <= bound and (cost := _reading_cost(form, sounds, bound)) <= bound:
                matches.append((cost, form))
        matches = sorted(matches)[:CANDIDATES]
        return [form for cost, form in matches if cost <= matches[0][0] + MARGIN * len(form)]

    def latin_pair_of(self, word: str) -> tuple[str, str] | None:
        """Return the two Latin words that together sound most like a Hangul word."""
        pairs: list[tuple[float, tuple[str, str]]] = []
        for at in range(1, len(word)):
            halves = word[:at], word[at:]
            if (first := self.latin_of(halves[0])) and (second := self.latin_of(halves[1])):
                pair = first[0], second[0]
                pairs.append((sum(map(sound_distance, halves, pair)), pair))
        return min(pairs)[1] if pairs else None

    def _matches(self, word: str) -> Iterator[tuple[float, int, str]]:
        """Search the sorted words as a tree, and skip branches that cost too much."""
        alignment = _Alignment(word)
        before, depth, at = "", 0, 0
        bound = MAX_COST * LONGEST_RATIO * len(word)
        while at < len(self._hangul):
            sounds, form = self._hangul[at]
            ends = _inner_ends(form)
            common = 0
            while common < min(depth, len(sounds)) and sounds[common] == before[common]:
                common += 1
            alignment.cut(common)
            before, depth, prefix_cost = sounds, common, math.inf
            while depth < len(sounds):
                least = alignment.extend(sounds, depth)
                depth += 1
                if len(word) >= MIN_PREFIX and depth in ends:
                    prefix_cost = min(prefix_cost, alignment.cost + TAIL_COST)
                if least > bound:
                    break
            if depth == len(sounds):
                prefix_cost = min(prefix_cost, alignment.cost)
            if prefix_cost <= MAX_COST * max(len(word), min(len(sounds), LONGEST_RATIO * len(word))):
                yield prefix_cost, len(form), form
            if depth < len(sounds):
                at = bisect_left(self._hangul, (sounds[:depth] + "\uffff",), at + 1)
            else:
                at += 1


def distance(word: str, sounds: str, bound: float = math.inf) -> float:
    """Return the cost of reading a Latin word as these jamo; infinity above the bound."""
    return _reading_cost(letters_of(word), sounds, bound)


def _reading_cost(word: str, sounds: str, bound: float) -> float:
    alignment = _Alignment(word)
    for at in range(len(sounds)):
        if alignment.extend(sounds, at) > bound:
            return math.inf
    return alignment.cost


def sound_distance(first: str, second: str, bound: float = math.inf) -> float:
    """Return the `distance` of two words, one Latin and one in Hangul; infinity for other pairs."""
    latin, hangul = (first, second) if first.isascii() else (second, first)
    return distance(latin, jamo(hangul), bound) if latin.isascii() and is_hangul(hangul) else math.inf


def sounds_like(first: str, second: str) -> bool:
    """Return whether one word is Latin and the other nearly its reading in Hangul."""
    bound = MAX_COST / 3 * len(first if first.isascii() else second)
    return sound_distance(first, second, bound) <= bound


@cache
def _first_letters(sound: str) -> frozenset[str]:
    """Return the possible first letters of a word with this first jamo, silent ones included."""
    return frozenset(
        letters.strip("^")[0]
        for letters, readings in (*_rules().items(), *_letter_names().items())
        if any(not reading or reading[0] == sound for reading, _cost in readings)
    )
