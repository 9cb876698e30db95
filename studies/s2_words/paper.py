"""Tables 2, 4, 5 and 6 of the paper: the five highest and the five lowest words of each method, from the first row
down.
"""

from collections.abc import Mapping

ENDS = ("highest", "lowest")
_Lists = Mapping[str, tuple[str, str]]  # method -> the highest words, and the lowest ones

TABLES: Mapping[str, _Lists] = {
    "sst5": {
        "GS": ("mess disturbing slick fine laugh", "ka create were ni michael"),
        "GI": ("mess slick disturbing fine miss", "create ka were the michael"),
        "LRP": ("repetitive lacks anything hilarious thriller", "post close el ga ca"),
        "LAT": ("repetitive in disturbing lacks stupid", "el des lo ka ho"),
    },
    "semeval": {
        "GS": ("weird sad nice sweet excellent", "co 29 30 48 ar"),
        "GI": ("weird nice sad sweet excellent", "29 co 30 48 21"),
        "LRP": ("excited awesome jurassic amazing happy", "green return stream fr en"),
        "LAT": ("in undertaker to fleetwood excited", "sy wo mi je ac"),
    },
    "imdb": {
        "GS": ("succeeds nightmare joke creep perfection", "passed rave rose ernest pac"),
        "GI": ("succeeds perfection nightmare joke creep", "passed rose ernest rave feet"),
        "LRP": ("simpsons emotionally mtv animated immensely", "fist semi stu mar cad"),
        "LAT": ("mtv countless emotionally everyday include", "br mon ac mon hal"),
    },
    "yelp5": {
        "GS": ("tooth edible superb thrilled pink", "tar tree lu keeping ke"),
        "GI": ("tooth edible superb grade odd", "tar tree lu national keeping"),
        "LRP": ("waitress amazing disappointing detail disgusting", "tar rico nr trees nun"),
        "LAT": ("email amazing dessert convenience upset", "lu ha ni z ke"),
    },
}
