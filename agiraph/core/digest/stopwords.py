"""Words that carry no subject, by language, and the guess which language it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

# Of the words of running text at least this part is stop words, else we do not guess.
_LEAST_SHARE = 0.08

_ENGLISH = """
a about above after again against all almost along already also although always am
among an and another any are around as at away be became because become becomes been
before being below between both but by can cannot could did do does doing done down
during each either else enough even ever every few first for from further get gets
give given gives go goes had has have having he hence her here hers him his how
however i if in indeed into is isn't it its itself just last least less like made make
makes making many may me might mine more most much must my near nearly need needs
neither never next no nor not nothing now of off often on once one only onto or other
others our out over own per perhaps quite rather said same say says seem seems several
shall she should since so some still such take taken takes than that the their them
themselves then there therefore these they this those though three through thus to
together too toward towards two under until up upon us use used uses using usually
very was way we well were what when where whether which while who whole whom whose why
will with within without would yet you your don't doesn't didn't can't won't wasn't
weren't it's that's i'm i've you're they're we're let's second four five six seven
eight nine ten called behind
way ways thing things something nothing long small large whole kind far
"""
_GERMAN = """
aber alle allem allen aller alles als also am an andere anderen anderer anderes auch
auf aus bei beide beiden beim bereits bis bin bist da dabei dadurch dafür daher damit
danach dann daran darauf daraus darin darüber das dass davon dazu dem den denen denn
der deren des dessen deshalb die dies diese diesem diesen dieser dieses doch dort du
durch ein eine einem einen einer eines einige einigen einmal er erst es etwa etwas
euch euer für gegen gibt hat hatte hatten habe haben hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im immer in indem ins ist ja je jede jedem jeden jeder
jedes jedoch jetzt kann kein keine keinem keinen keiner können könnte man mehr mein
mit muss müssen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine
seinem seinen seiner seit selbst sich sie sind so sogar solche solchen soll sollte
sondern sonst sowie über um und uns unser unter viel viele vielen vom von vor wann war
waren warum was weil weiter welche welchem welchen welcher wenig wenn wer werden wie
wieder wir wird wo wurde wurden während zu zum zur zwar zwei zwischen
"""
_FRENCH = """
à afin ai ainsi alors après as assez au aucun aucune aujourd'hui auquel aussi autre
autres aux avaient avait avant avec avoir beaucoup bien c'est car ce ceci cela celle
celles celui cependant ces cet cette ceux chaque chez comme comment contre d'un d'une
dans de depuis des dès deux donc dont du elle elles en encore entre est et étaient
était été être eu eux fait faire font il ils j'ai je jusqu la là laquelle le lequel
les lesquels leur leurs lors lorsque lui ma mais me même mêmes mes moins mon n'est ne
ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus plusieurs
pour pourquoi puis qu'il qu'elle qu'on quand que quel quelle quelles quels qui quoi sa
sans se selon ses si soit son sont sous souvent sur ta te tes toi ton toujours tous
tout toute toutes très trop tu un une vers voici voilà vos votre vous y
"""
_SPANISH = """
a acá ahí al algo algún alguna algunas alguno algunos allí ambos ante antes aquel
aquella aquí así aún aunque bajo bien cabe cada casi como con contra cual cuales
cualquier cuando cuanto de del desde donde dos durante e el él ella ellas ellos en
entonces entre era eran eres es esa esas ese eso esos esta está estaba estas este esto
estos están fue fueron ha hace hacia han hasta hay he hemos incluso la las le les lo
los luego más mas me menos mi mientras mis mismo misma mucho mucha muchos muchas muy
nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por
porque pues que qué quien quienes se sea según ser si sí sido siempre sin sino sobre
son su sus también tampoco tan tanto te tiene tienen toda todas todo todos tras tu tus
un una unas uno unos usted ya yo
"""

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()),
    "es": frozenset(_SPANISH.split()),
}
LANGUAGES: Final[Mapping[str, str]] = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "": "not known",
}


def language_of(counts: Counter[str]) -> str:
    """The code of the language whose stop words fill most of the text; "" for none.

    Args:
        counts: the words in lower case and how often they stand.
    """
    total = sum(counts.values())
    best, share = "", _LEAST_SHARE
    for code, stops in STOP_WORDS.items():
        part = sum(counts[word] for word in stops if word in counts) / max(1, total)
        if part > share:
            best, share = code, part
    return best


def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language; of none where it is not known."""
    return STOP_WORDS.get(language, frozenset())
