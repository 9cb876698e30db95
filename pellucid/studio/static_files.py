"""What every page of the studio loads: its style sheet, that of reports with what can be clicked; its icon and script."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from pellucid.drawing.style import page_style

STUDIO = """
body{margin:0}
.pellucid .st-skip{position:absolute;left:-999rem}
.pellucid .st-skip:focus{left:1rem;top:.5rem;background:rgb(var(--pl-paper));padding:.3rem .6rem;z-index:9}
.pellucid .st-nav{display:flex;flex-wrap:wrap;gap:.3rem 1.25rem;align-items:baseline;padding:.6rem max(1rem,calc((100% - 69rem)/2));
 border-bottom:1px solid var(--pl-edge)}
.pellucid .st-nav a{color:var(--pl-muted);text-decoration:none;padding:.35rem 0}
.pellucid .st-nav a[aria-current]{color:rgb(var(--pl-ink));border-bottom:2px solid var(--pl-accent)}
.pellucid .st-nav a:hover{color:rgb(var(--pl-ink))}
.pellucid.st-page h1{font-size:1.35rem;margin:.2rem 0 .3rem}
.pellucid.st-page h2{font-size:1.1rem;margin:1.8rem 0 .3rem}
.pellucid.st-page main>section:first-of-type h2{margin-top:.8rem}
.pellucid .st-trust{border-left:3px solid var(--pl-warn);padding:.15rem 0 .15rem .7rem;font-size:.9375rem;max-width:60rem;margin:.3rem 0 .9rem}
.pellucid .st-measured{border-color:var(--pl-good)}
.pellucid .st-form{display:grid;gap:.7rem;margin:.8rem 0;max-width:52rem}
.pellucid .st-rows{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:center;max-width:none}
.pellucid .st-rows input{width:7rem}
.pellucid .st-rows input[type=number]{width:4.5rem}
.pellucid .st-ask>.st-form{margin:.7rem 0 1.2rem}
.pellucid .pl-field{display:flex;flex-wrap:wrap;gap:.3rem .6rem;align-items:baseline}
.pellucid .pl-field>span{font-size:.875rem;font-weight:600;white-space:pre}
.pellucid .st-area{display:grid}
.pellucid .st-form textarea{width:100%;font:1.05rem/1.5 Charter,"Bitstream Charter",Georgia,"Liberation Serif",serif}
.pellucid textarea,.pellucid select,.pellucid input[type=text],.pellucid input[type=number]{
 color:inherit;background:rgb(var(--pl-paper));border:1px solid var(--pl-muted);border-radius:4px;padding:.4rem .5rem;
 font-size:1rem;max-width:100%}
.pellucid select{padding:.3rem .3rem}
.pellucid button{font:inherit;font-size:.9375rem;color:inherit;background:var(--pl-soft);border:1px solid var(--pl-muted);
 border-radius:4px;padding:.35rem .8rem;cursor:pointer;width:fit-content}
.pellucid button:hover{border-color:rgb(var(--pl-ink))}
.pellucid button.st-main{background:rgb(var(--pl-ink));color:rgb(var(--pl-paper));border-color:rgb(var(--pl-ink));padding:.5rem 1.4rem}
.pellucid :is(button,select,textarea,input):focus-visible{outline:2px solid var(--pl-accent);outline-offset:2px}
.pellucid button.st-example{width:100%;max-width:52rem;text-align:left;margin:.2rem 0;font:1rem/1.5 Charter,"Bitstream Charter",Georgia,
 "Liberation Serif",serif;background:rgb(var(--pl-paper));border-color:var(--pl-edge)}
.pellucid .st-methods{display:flex;flex-wrap:wrap;gap:.25rem 1.2rem;align-items:baseline;margin:.4rem 0}
.pellucid .st-methods h4{flex-basis:100%;margin:.4rem 0 0;font-size:.8125rem;color:var(--pl-muted);font-weight:600}
.pellucid .pl-check{font-size:.9375rem;padding:.15rem 0}
.pellucid .pl-check small{color:var(--pl-muted)}
.pellucid .st-form .st-choice{margin-top:0}
.pellucid .st-bars{display:grid;grid-template-columns:fit-content(16rem) minmax(5rem,22rem) max-content max-content;
 gap:.3rem .8rem;align-items:center;margin:.7rem 0}
.pellucid .st-bar{display:contents}
.pellucid .st-bars .pl-probability{width:100%;height:.85rem}
.pellucid .st-bars .pl-full{fill:var(--pl-line-1)}
.pellucid .st-value{font-variant-numeric:tabular-nums;min-width:5.2rem}
.pellucid .st-before{color:var(--pl-muted)}
.pellucid .st-bars .st-class{grid-column:1}
.pellucid .st-bars .st-value{grid-column:3}
.pellucid .st-bars .st-before{grid-column:4}
.pellucid .st-answer{margin:.1rem 0 .5rem}
.pellucid .st-slider{display:none;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;margin:.6rem 0;padding:.5rem .7rem;
 background:var(--pl-soft);border-radius:6px}
.pellucid .st-slider.st-works{display:flex}
.pellucid .st-slider .pl-field{flex-wrap:nowrap;align-items:center}
.pellucid .st-range{width:min(13rem,60vw);height:1.8rem;accent-color:rgb(var(--pl-ink))}
.pellucid .st-count{font-variant-numeric:tabular-nums;font-size:.9375rem;min-width:9rem}
.pellucid .st-data{display:none}
.pellucid .st-words{margin:.5rem 0;max-width:46rem}
.pellucid a.st-word{color:inherit;text-decoration:none;border-radius:3px;padding:.14em 0}
.pellucid a.st-word:hover{background:var(--pl-edge);text-decoration:underline}
.pellucid a.st-out,.pellucid a.st-slid{text-decoration:line-through;color:var(--pl-muted);background:var(--pl-soft)}
.pellucid .st-sliding a.st-out:not(.st-slid){text-decoration:none;color:inherit;background:none}
.pellucid .st-hand{margin:.6rem 0}
.pellucid .st-save{margin-top:1.25rem}
.pellucid .st-sliding .st-hand{visibility:hidden}
.pellucid .st-alone{margin-top:.9rem}
.pellucid .st-singles{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem 1.2rem}
.pellucid .st-curve{margin:1rem 0 .4rem;max-width:34rem}
.pellucid .st-curve figcaption{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.8125rem}
.pellucid .st-key{display:inline-flex;align-items:center;gap:.35rem;white-space:nowrap}
.pellucid .st-plot{width:100%;height:auto;display:block;border-bottom:1px solid var(--pl-muted);border-left:1px solid var(--pl-muted)}
.pellucid .st-plot polyline,.pellucid .st-key line{fill:none;stroke:var(--pl-line);stroke-width:2}
.pellucid .st-band{fill:var(--pl-edge);stroke:none}
.pellucid .st-cursor{stroke:rgb(var(--pl-ink));stroke-width:1.2;stroke-dasharray:3 3}
.pellucid .st-waiting progress{display:block;width:min(24rem,90%);margin:.6rem 0}
.pellucid .st-changed{box-shadow:0 0 0 2px var(--pl-accent);border-radius:3px}
.pellucid .st-both{table-layout:fixed}.pellucid .st-both .pl-probability{width:min(14rem,60%);height:.7rem}
.pellucid .st-line{display:flex;flex-wrap:wrap;gap:.5rem .8rem;align-items:center;margin:.6rem 0}
.pellucid .st-proposals{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:.4rem 1.5rem}
.pellucid .st-proposals li{display:flex;flex-wrap:wrap;gap:.2rem .6rem;align-items:baseline}
.pellucid .st-attacks{list-style:none;display:grid;gap:.6rem}
.pellucid .st-method-pair{padding:.8rem 0}
.pellucid .st-beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1rem 2rem}
.pellucid .st-beside>*{min-width:0}
@media (pointer:coarse){.pellucid button,.pellucid select,.pellucid .pl-check,.pellucid .st-nav a{min-height:2.75rem;
 display:inline-flex;align-items:center;gap:.35rem}.pellucid a.st-word{padding:.32em .05em}}
@media (max-width:40rem){.pellucid .st-bars{grid-template-columns:minmax(0,1fr) max-content;grid-auto-flow:dense}
 .pellucid .st-bars .pl-probability{grid-row:auto;grid-column:1/-1}.pellucid .st-bars .st-value{grid-column:2}
 .pellucid .st-bars .st-class{grid-column:1}.pellucid .st-bars .st-before{grid-column:1/-1}}
@media print{.pellucid .st-nav,.pellucid .st-form,.pellucid .st-ask,.pellucid .st-slider.st-works{display:none}}
"""


def sheet() -> str:
    """The whole sheet."""
    return page_style() + STUDIO


STATIC = {"style.css": "text/css", "icon.svg": "image/svg+xml", "studio.js": "text/javascript"}


@dataclass(frozen=True)
class StaticFile:
    """A file that all pages load. media_type: of its content."""

    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """What stands behind the address of a version that never changes."""
        return sha256(self.content).hexdigest()[:16]


@cache
def static_file(name: str) -> StaticFile:
    """The file of a name."""
    content = sheet().encode() if name == "style.css" else files("pellucid.studio").joinpath(name).read_bytes()
    return StaticFile(STATIC[name], content)
