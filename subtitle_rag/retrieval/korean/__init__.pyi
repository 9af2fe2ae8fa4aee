from . import (
    expansion as expansion,
    keyboard as keyboard,
    lexical as lexical,
    morphemes as morphemes,
    numerals as numerals,
    periods as periods,
    pronunciation as pronunciation,
    readings as readings,
)
