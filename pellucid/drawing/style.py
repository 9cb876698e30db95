"""The style sheet: light and dark, for phones, screens and paper. Every rule stands under .pellucid."""

import re

from pellucid.drawing.colours import DARK, LIGHT, colour_rules, variables

LINES_LIGHT = ("#0b6fb8", "#c95a06", "#00856a", "#a33f89", "#7d6400", "#3f444c", "#1487a8", "#b3262e")
LINES_DARK = ("#62b1f0", "#f59b4e", "#3fc79f", "#de8ecb", "#d9bb52", "#c9ced6", "#67d0ea", "#f18186")
_LIGHT = (
    "--pl-ground:#f5f5f3;--pl-muted:#5d6470;--pl-edge:#dfe1e4;--pl-soft:#f0f1f2;--pl-accent:#9a4700;"
    "--pl-good:#00694f;--pl-bad:#a5262c;--pl-warn:#b8860b;"
)
_DARK = (
    "--pl-ground:#131519;--pl-muted:#a3aab5;--pl-edge:#363b44;--pl-soft:#23272e;--pl-accent:#f5a45c;"
    "--pl-good:#55cfa6;--pl-bad:#f3888c;--pl-warn:#d9b552;"
)

TEXT = """
.pellucid{color:rgb(var(--pl-ink));background:rgb(var(--pl-paper));line-height:1.55;font-size:1rem;
 font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;
 -webkit-text-size-adjust:100%;text-size-adjust:100%;overflow-wrap:break-word}
.pellucid *{box-sizing:border-box}
.pellucid p,.pellucid figure,.pellucid dl,.pellucid dd,.pellucid ol,.pellucid ul{margin:0;padding:0}
.pellucid small{font-size:.8125rem}
.pellucid .pl-text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;
 font:1.125rem/1.85 Charter,"Bitstream Charter","Iowan Old Style",Georgia,"Liberation Serif",serif}
.pellucid .pl-text i{font-style:normal}
.pellucid .pl-u,.pellucid .pl-folded i,.pellucid .pl-example i{border-radius:3px;padding:.14em 0;-webkit-box-decoration-break:clone;
 box-decoration-break:clone;
 -webkit-print-color-adjust:exact;print-color-adjust:exact}
.pellucid .pl-for,.pellucid .pl-against{font-weight:700;text-decoration:underline solid 2px;
 text-underline-offset:.28em}
.pellucid .pl-against{text-decoration-style:dashed}
.pellucid .pl-unread{background-image:repeating-linear-gradient(135deg,rgb(var(--pl-ink)/.34) 0 1.1px,transparent 1.1px 5px);
 -webkit-print-color-adjust:exact;print-color-adjust:exact}
.pellucid .pl-asked{box-shadow:0 0 0 2px rgb(var(--pl-ink));border-radius:3px}
.pellucid .pl-marked{text-decoration:underline dotted 2.5px;text-underline-offset:.3em}
.pellucid .pl-span{border-bottom:5px solid rgb(var(--pl-plus));padding-bottom:.06em;
 -webkit-print-color-adjust:exact;print-color-adjust:exact}
.pellucid .pl-s2{border-bottom-width:3px}
.pellucid .pl-s3{border-bottom-width:1.5px}
.pellucid .pl-segment+.pl-segment{margin-top:.5rem}
.pellucid .pl-which{display:block;color:var(--pl-muted);font-size:.8125rem}
.pellucid .pl-excerpts{display:grid;gap:.7rem;max-width:46rem;margin-top:.3rem}
.pellucid .pl-overview{display:block;width:100%;height:2.2rem;border-bottom:1px solid var(--pl-edge)}
.pellucid .pl-overview rect{fill:var(--pl-muted)}
.pellucid .pl-whole .pl-text{margin-top:.6rem}
"""

CARD = """
.pellucid .pl-card{background:rgb(var(--pl-paper));min-width:0}
.pellucid .pl-id{margin:0 0 .35rem;font-size:.8125rem;font-weight:600;color:var(--pl-muted);
 letter-spacing:.02em}
.pellucid .pl-answer{display:flex;flex-wrap:wrap;align-items:center;gap:.15rem .5rem}
.pellucid .pl-label{font-size:1.125rem}
.pellucid .pl-probability{width:5.5rem;height:.5rem;flex:none}
.pellucid .pl-empty{fill:var(--pl-edge)}
.pellucid .pl-full{fill:var(--pl-muted)}
.pellucid .pl-sure{font-variant-numeric:tabular-nums;white-space:nowrap}
.pellucid .pl-right,.pellucid .pl-wrong{font-size:.875rem;margin-left:.25rem}
.pellucid .pl-right{color:var(--pl-good)}
.pellucid .pl-wrong{color:var(--pl-bad);font-weight:650;border:1.5px solid;border-radius:4px;padding:0 .4em}
.pellucid .pl-target{color:var(--pl-muted);font-size:.8125rem;margin-left:auto}
.pellucid .pl-misled{margin-top:.4rem}
.pellucid .pl-map{margin-top:1.15rem}
.pellucid .pl-map+.pl-answer{margin-top:2rem}
.pellucid .pl-method{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 1rem;max-width:46rem;
 font-size:.8125rem;font-weight:600;margin-bottom:.1rem}
.pellucid .pl-bar{display:inline-flex;align-items:center;gap:.4rem;font-weight:400;font-size:.75rem;
 color:var(--pl-muted);
 font-variant-numeric:tabular-nums;white-space:nowrap}
.pellucid .pl-steps{display:inline-flex;border-radius:3px;overflow:hidden;border:1px solid var(--pl-edge)}
.pellucid .pl-steps span{width:.55rem;height:.55rem;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.pellucid .pl-wide span{width:1rem;height:.9rem}
.pellucid .pl-numbers{margin:0;font-weight:400;font-size:.75rem}
.pellucid .pl-numbers summary{list-style:none;text-decoration:underline dotted;text-underline-offset:.2em;padding:.2rem 0}
.pellucid .pl-numbers summary::-webkit-details-marker{display:none}
.pellucid .pl-numbers[open] summary{color:rgb(var(--pl-ink));text-decoration-style:solid}
.pellucid .pl-map:has(.pl-numbers[open]) .pl-u[title]::after,
.pellucid .pl-card:has(.pl-scale .pl-numbers[open]) .pl-u[title]::after,
.pellucid .pl-folded:has(>.pl-numbers[open]) i[title]::after,
.pellucid .pl-map:has(.pl-numbers[open]) .pl-span[title]::after{content:attr(title);margin-left:.15em;
 font:.625em/1 system-ui,sans-serif;color:var(--pl-muted);vertical-align:.5em;font-variant-numeric:tabular-nums;
 background:rgb(var(--pl-paper));padding:0 .15em;border-radius:2px}
.pellucid .pl-numbers[open]+.pl-scroll td[title]::after{content:attr(title);display:block;font-size:.6875rem;
 color:var(--pl-muted);max-width:9rem}
.pellucid .pl-scale .pl-numbers{display:inline-block;margin-right:.6rem}
.pellucid .pl-of-table{margin-bottom:.5rem}
.pellucid .pl-method .pl-numbers{margin-left:auto}
.pellucid .pl-note{color:var(--pl-muted);font-size:.8125rem;margin-top:.25rem}
.pellucid .pl-spans{margin:.35rem 0 0;padding-left:1.3rem;font-size:.9375rem}
.pellucid .pl-spans small{color:var(--pl-muted);margin-left:.35rem;white-space:nowrap}
.pellucid .pl-caution{font-size:.875rem;border-left:3px solid var(--pl-warn);padding:.1rem 0 .1rem .7rem;
 margin-top:.5rem}
.pellucid details{font-size:.875rem;margin-top:1rem}
.pellucid details>.pl-facts{margin-top:.6rem}
.pellucid summary{cursor:pointer;color:var(--pl-muted);width:fit-content}
.pellucid summary:hover{color:rgb(var(--pl-ink))}
.pellucid .pl-code{font-family:ui-monospace,"Liberation Mono",monospace}
.pellucid .pl-key .pl-note{margin-top:.2rem}
.pellucid a:focus-visible,.pellucid summary:focus-visible,.pellucid .pl-scroll:focus-visible{
 outline:2px solid var(--pl-accent);outline-offset:2px}
"""

TABLE = """
.pellucid .pl-scroll{overflow-x:auto;max-width:100%}
.pellucid .pl-scroll:has(tbody tr:nth-child(12)){overflow:auto;max-height:85vh}
.pellucid .pl-scroll:has(tbody tr:nth-child(12)) thead>tr>*{position:sticky;top:0;z-index:1;background:rgb(var(--pl-paper))}
.pellucid table{border-collapse:collapse;font-size:.875rem;margin:.5rem 0;background:none;border:0;
 table-layout:auto}
.pellucid th,.pellucid td{text-align:left;vertical-align:top;padding:.5rem .9rem .5rem 0;border:0;
 border-bottom:1px solid var(--pl-edge);background:none;white-space:normal;max-width:none}
.pellucid thead th,.pellucid thead td{font-weight:600;vertical-align:bottom;
 border-bottom:1.5px solid var(--pl-muted)}
.pellucid tbody tr,.pellucid thead tr{background:none}
.pellucid .pl-table{font-variant-numeric:tabular-nums;width:100%;margin:0}
.pellucid .pl-table th,.pellucid .pl-table td{padding:.55rem .55rem .55rem 0;overflow-wrap:normal}
.pellucid .pl-table thead th{font-size:.8125rem}
.pellucid .pl-table .pl-sentence{min-width:15rem}
.pellucid .pl-table tbody th,.pellucid .pl-table thead th:first-child{position:sticky;left:0;min-width:6.5rem;
 background:rgb(var(--pl-paper));font-weight:600}
.pellucid .pl-table small{display:block;font-size:.75rem;font-weight:400;color:var(--pl-muted);
 white-space:nowrap}
.pellucid .pl-value{display:block;font-size:.9375rem}
.pellucid .pl-table small.pl-better{color:var(--pl-good)}
.pellucid .pl-table small.pl-worse{color:var(--pl-bad)}
.pellucid .pl-floor th,.pellucid .pl-floor td{border-top:1.5px solid var(--pl-muted)}
.pellucid .pl-expert table{min-width:32rem}
.pellucid .pl-facts{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.4rem 1.5rem}
.pellucid .pl-facts dt{color:var(--pl-muted);font-weight:400}
.pellucid .pl-facts dd{margin:0;min-width:0}
.pellucid .pl-facts .pl-facts{gap:.1rem 1rem}
.pellucid .pl-key{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.9rem 1.5rem;
 margin:0 0 2rem}
.pellucid .pl-note+.pl-key,.pellucid .pl-caution+.pl-key,.pellucid .pl-caution+.pl-class{margin-top:1.25rem}
.pellucid .pl-key dt{font-weight:600}
.pellucid .pl-key dd{margin:0;min-width:0}
.pellucid .pl-key .pl-bar{margin-left:.5rem}
.pellucid .pl-edit-before,.pellucid .pl-edit-after{font-style:normal;border-bottom:2px solid}
.pellucid .pl-edit-before{border-color:var(--pl-muted);border-bottom-style:dashed}
.pellucid .pl-edit-after{border-color:var(--pl-accent);font-weight:600}
.pellucid .pl-trust p+p{margin-top:.4rem}
.pellucid .pl-trust details{margin-top:.2rem}
.pellucid .pl-trust details ul{padding-left:1.2rem;font-variant-numeric:tabular-nums}
.pellucid .pl-key details{margin-top:.25rem}
"""

ROWS = """
.pellucid .pl-family{margin-top:1.1rem}
.pellucid .pl-family h4{margin:0 0 .25rem;font-size:.9375rem;font-weight:650}
.pellucid .pl-family h4 small{font-weight:400;color:var(--pl-muted);margin-left:.35rem}
.pellucid .pl-scale .pl-bar{margin:0 .25rem}
.pellucid .pl-row{display:grid;grid-template-columns:14rem minmax(0,1fr) 10rem;gap:.15rem 1.25rem;
 border-top:1px solid var(--pl-edge);padding:.45rem 0;break-inside:avoid}
.pellucid .pl-row figcaption{display:flex;gap:.5rem;font-size:.875rem;font-weight:600;min-width:0}
.pellucid .pl-row figcaption small{display:block;font-size:.75rem;font-weight:400;color:var(--pl-muted);line-height:1.35}
.pellucid .pl-row-number{color:var(--pl-muted);font-weight:400;min-width:1.1rem;flex:none;text-align:right;
 font-variant-numeric:tabular-nums}
.pellucid .pl-row .pl-text{font-size:1.0625rem;line-height:1.7}
.pellucid .pl-row .pl-for,.pellucid .pl-row .pl-against{font-weight:inherit}
.pellucid .pl-row-facts{font-size:.75rem;color:var(--pl-muted);font-variant-numeric:tabular-nums;min-width:0}
.pellucid .pl-row-facts small{display:block;font-size:.75rem;line-height:1.45}
.pellucid .pl-cautions{margin-top:.1rem;font-size:.75rem}
.pellucid .pl-cautions summary{color:rgb(var(--pl-ink));border-left:3px solid var(--pl-warn);padding-left:.4rem}
.pellucid .pl-cautions p{margin-top:.3rem;color:rgb(var(--pl-ink));line-height:1.4}
.pellucid .pl-left-out{font-size:.875rem;grid-template-columns:minmax(7rem,18rem) minmax(0,1fr)}
.pellucid .pl-matrix{font-variant-numeric:tabular-nums;margin:0}
.pellucid .pl-matrix th,.pellucid .pl-matrix td{padding:.2rem .35rem;font-size:.75rem;white-space:nowrap;
 border-bottom:1px solid var(--pl-edge)}
.pellucid .pl-matrix td,.pellucid .pl-matrix thead th{text-align:right;min-width:2.1rem}
.pellucid .pl-matrix tbody th{font-weight:400;position:sticky;left:0;background:rgb(var(--pl-paper))}
.pellucid .pl-matrix td{-webkit-print-color-adjust:exact;print-color-adjust:exact}
@media (max-width:48rem){
 .pellucid .pl-row{grid-template-columns:minmax(0,1fr);padding:.7rem 0}
 .pellucid .pl-row figcaption small{display:inline;margin-left:.4rem}
 .pellucid .pl-row-facts small{display:inline;margin-right:.8rem}
 .pellucid .pl-left-out{grid-template-columns:minmax(0,1fr)}}
"""

CORPUS = """
.pellucid .pl-columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem 2.5rem}
.pellucid .pl-columns h4{margin:0 0 .3rem;font-size:.8125rem;font-weight:600;color:var(--pl-muted)}
.pellucid .pl-columns>div{min-width:0}
.pellucid .pl-columns>.pl-wide{grid-column:1/-1}
.pellucid .pl-words{list-style:none;font-size:.875rem}
.pellucid .pl-words li{display:grid;grid-template-columns:6rem minmax(2rem,1fr) 4.6rem minmax(9.4rem,14rem);gap:0 .45rem;
 align-items:center;padding:.06rem 0}
.pellucid .pl-words small{color:var(--pl-muted);font-size:.6875rem;font-variant-numeric:tabular-nums}
.pellucid .pl-words .pl-sure{text-align:right;white-space:nowrap}
.pellucid .pl-words.pl-answers li{grid-template-columns:7rem minmax(3rem,1fr) 6rem}
.pellucid .pl-word{overflow-wrap:anywhere;line-height:1.25}
.pellucid .pl-words .pl-probability{width:100%}
.pellucid .pl-word-bar{width:100%;height:.8rem;display:block}
.pellucid .pl-bar-for{fill:rgb(var(--pl-plus)/var(--pl-most))}
.pellucid .pl-bar-against{fill:rgb(var(--pl-minus)/var(--pl-most))}
.pellucid .pl-whisker{stroke:rgb(var(--pl-ink));stroke-width:1.2;vector-effect:non-scaling-stroke}
.pellucid .pl-word-bar .pl-axis{vector-effect:non-scaling-stroke}
.pellucid .pl-big{font-size:1.5rem}
.pellucid .pl-heading{font-size:1.0625rem;margin:1.5rem 0 .5rem}
.pellucid .pl-columns>div>.pl-heading,.pellucid .pl-class>.pl-heading{margin-top:.4rem}
.pellucid .pl-class+.pl-class{margin-top:1.2rem}
.pellucid .pl-class{border:1px solid var(--pl-edge);border-radius:12px;padding:1rem 1.5rem;background:rgb(var(--pl-paper))}
.pellucid .pl-confusion td,.pellucid .pl-confusion th{font-size:.8125rem;padding:.3rem .6rem}
.pellucid .pl-on-diagonal{background:var(--pl-soft);font-weight:600}
.pellucid .pl-line{display:grid;align-items:baseline;gap:0 .6rem;
 grid-template-columns:6rem 1.4rem minmax(5rem,11rem) 4.4rem minmax(0,1fr)}
.pellucid .pl-nr,.pellucid .pl-start{color:var(--pl-muted)}
.pellucid .pl-nr{text-align:right;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-variant-numeric:tabular-nums}
.pellucid .pl-start{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;unicode-bidi:plaintext}
.pellucid .pl-folded .pl-wrong{border:0;padding:0;margin:0}
.pellucid .pl-folded .pl-right{margin:0}
.pellucid .pl-folded details:not(.pl-numbers):not(.pl-expert):not(.pl-whole){margin:0;border-top:1px solid var(--pl-edge)}
.pellucid summary.pl-line{width:auto;padding:.28rem 0;font-size:.8125rem;color:rgb(var(--pl-ink))}
.pellucid .pl-versions{display:grid;margin-top:.7rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:.4rem 2rem}
.pellucid .pl-versions>div{min-width:0}
.pellucid .pl-folded details>div{background:rgb(var(--pl-paper));padding:.6rem 1rem 1rem;border-radius:8px;margin-bottom:.6rem}
@media (max-width:40rem){
 .pellucid .pl-words li{grid-template-columns:6rem minmax(3rem,1fr) 4rem}
 .pellucid .pl-words small{grid-column:2/-1}
 .pellucid .pl-class{padding:.7rem .9rem}
 .pellucid .pl-confusion td,.pellucid .pl-confusion th{padding:.3rem .35rem}
 .pellucid .pl-line{grid-template-columns:6rem 1rem minmax(0,1fr) 4.4rem}
 .pellucid .pl-start{grid-column:2/-1}}
"""

LAYERS = """
.pellucid .pl-layers{width:auto;margin:0 0 .6rem;border-collapse:collapse}
.pellucid .pl-layers td,.pellucid .pl-layers th{text-align:center;padding:.22rem .4rem}
.pellucid .pl-layers thead th{font-size:.8125rem;vertical-align:bottom;min-width:2.6rem}
.pellucid .pl-layers tbody th,.pellucid .pl-layers thead th:first-child{text-align:right;position:sticky;left:0;
 background:rgb(var(--pl-paper));color:var(--pl-muted)}
.pellucid .pl-layers .pl-sum,.pellucid .pl-layers .pl-next{border-left:1.5px solid var(--pl-muted)}
.pellucid .pl-layers .pl-sum{color:var(--pl-muted)}
.pellucid .pl-maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:.5rem 2rem}
.pellucid .pl-maps>div{min-width:0}
.pellucid .pl-layers tr{break-inside:avoid}
.pellucid .pl-plots+.pl-scroll{margin-top:1rem}
.pellucid .pl-heading,.pellucid .pl-card h3,.pellucid .pl-card h4,.pellucid .pl-lead,.pellucid .pl-note,
.pellucid .pl-lines li{overflow-wrap:anywhere;min-width:0}
"""

PLOT = """
.pellucid .pl-plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));
 gap:2rem;margin-top:2.5rem}
.pellucid .pl-figure{max-width:34rem}
.pellucid .pl-figure figcaption{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;
 margin-bottom:.35rem}
.pellucid .pl-figure small{color:var(--pl-muted)}
.pellucid .pl-plot{display:block;width:100%;height:auto}
.pellucid .pl-plot text{font-size:10px;fill:var(--pl-muted);font-variant-numeric:tabular-nums}
.pellucid .pl-plot .pl-direct{fill:var(--pl-line);font-weight:600;paint-order:stroke;
 stroke:rgb(var(--pl-paper));
 stroke-width:3px;stroke-linejoin:round}
.pellucid .pl-grid{stroke:var(--pl-edge);stroke-width:.6}
.pellucid .pl-own{stroke:var(--pl-line);stroke-width:1;stroke-dasharray:1.5 3}
.pellucid .pl-unit-plot{margin:1.25rem 0 0;max-width:none}
.pellucid .pl-plot.pl-natural{width:auto}
@media print{.pellucid .pl-plot.pl-natural{max-width:100%}}
.pellucid .pl-tests td:last-child{min-width:17rem}
.pellucid .pl-tests .pl-lines-of{min-width:11rem}
.pellucid .pl-verdict{max-width:52rem;display:grid;gap:.6rem;margin-bottom:1rem}
.pellucid .pl-axis{stroke:var(--pl-muted);stroke-width:.8}
.pellucid .pl-line{fill:none;stroke:var(--pl-line);stroke-width:1.6;stroke-linejoin:round;
 stroke-linecap:round}
.pellucid .pl-band{fill:var(--pl-line);opacity:.09;stroke:none}
.pellucid .pl-marker{fill:rgb(var(--pl-paper));stroke:var(--pl-line);stroke-width:1.3}
.pellucid .pl-chance{--pl-line:var(--pl-muted)}
.pellucid .pl-chance .pl-line{stroke-dasharray:3 3.5;stroke-linecap:butt}
.pellucid .pl-band.pl-chance{opacity:.13}
.pellucid .pl-d2 .pl-line{stroke-dasharray:7 3}
.pellucid .pl-d3 .pl-line{stroke-dasharray:1.5 3}
.pellucid .pl-d4 .pl-line{stroke-dasharray:8 2.5 1.5 2.5}
.pellucid .pl-many{display:block}
.pellucid .pl-panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.8rem 1.25rem;margin-top:.8rem}
.pellucid .pl-panels>div{break-inside:avoid;min-width:0}
.pellucid .pl-panels p{font-size:.75rem;line-height:1.3}
.pellucid .pl-panel text{font-size:20px}
.pellucid .pl-panel .pl-line{stroke-width:4}
.pellucid .pl-panel .pl-chance .pl-line{stroke-width:3;stroke-dasharray:8 7}
.pellucid .pl-panel .pl-band{opacity:.16}
.pellucid .pl-lines,.pellucid .pl-legend{list-style:none;display:flex;flex-wrap:wrap;gap:.4rem 1.4rem;
 margin:1rem 0 0;padding:0;
 font-size:.875rem}
.pellucid .pl-lines li,.pellucid .pl-legend li{display:inline-flex;align-items:center;gap:.5rem;margin:0}
.pellucid .pl-muted{color:var(--pl-muted)}
"""

WORD_LISTS = """
.pellucid .pl-heading small{font-weight:400;color:var(--pl-muted);margin-left:.35rem}
.pellucid .pl-three{grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:1.2rem 2rem}
.pellucid .pl-words.pl-sums li{grid-template-columns:6rem minmax(2rem,1fr) 3.6rem 6.6rem}
.pellucid .pl-words.pl-sums small{grid-column:auto}
.pellucid .pl-sums .pl-word{line-height:1.5;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.pellucid .pl-cloud-box{min-width:0}
.pellucid .pl-cloud-box figcaption{font-size:.8125rem;color:var(--pl-muted);margin-bottom:.3rem}
.pellucid .pl-cloud{display:block;width:100%;height:auto;max-width:34rem;margin:0 auto}
.pellucid .pl-cloud text{fill:rgb(var(--pl-ink));font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.pellucid .pl-cloud .pl-bright{fill:var(--pl-accent);font-weight:600}
.pellucid .pl-cloud .pl-stop{font-style:italic}
.pellucid .pl-overlap-words{margin-bottom:.7rem;max-width:30rem}
.pellucid .pl-shared-words small{white-space:normal;line-height:1.6}
.pellucid .pl-shared-words td{min-width:8rem}
@media (max-width:26rem){.pellucid .pl-words.pl-sums li{grid-template-columns:6rem minmax(2rem,1fr) 3.6rem}
 .pellucid .pl-words.pl-sums small{grid-column:2/-1}}
"""

PAGE = """
html{scroll-padding-top:1rem}
body{margin:0}
.pl-page{background:var(--pl-ground);min-height:100vh}
.pl-page main{max-width:72rem;margin:0 auto;padding:2rem 1.5rem 4rem}
.pl-page h1{font-size:clamp(1.6rem,1.2rem + 1.8vw,2.25rem);line-height:1.2;letter-spacing:-.015em;margin:0;
 font-weight:680;
 text-wrap:balance}
.pl-page h2{font-size:1.375rem;line-height:1.3;margin:0 0 .5rem;font-weight:660;letter-spacing:-.01em}
.pl-page main>section{margin-top:3.25rem}
.pl-page header+section{margin-top:1.5rem}
.pl-page .pl-lead{max-width:44rem;margin-bottom:.9rem}
.pl-page header .pl-lead{margin:.5rem 0 0;max-width:none;font-size:.9375rem}
.pl-page header .pl-bar{margin-left:.35rem}
.pl-page header .pl-steps span{width:.8rem;height:.8rem}
.pl-page .pl-guide{margin-top:.4rem}
.pl-page .pl-guide .pl-legend{margin-top:.8rem}
.pl-page .pl-shared{margin:0 0 .8rem}
.pl-page .pl-legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));
 gap:.6rem 2rem;max-width:52rem}
.pl-page .pl-legend+.pl-note{margin-top:1rem;max-width:44rem}
.pl-page .pl-contents{margin-top:1rem}
.pellucid .pl-known{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.45rem 0 0;overflow:hidden;color:var(--pl-muted);font-size:.875rem}
.pellucid .pl-known span{min-width:0;overflow-wrap:anywhere}
.pellucid .pl-known span+span::before{content:"·";margin-left:-.7rem;margin-right:.45rem}
.pellucid .pl-believed{margin:.45rem 0 0;max-width:none;font-size:.9375rem}
.pellucid .pl-caution.pl-believed{font-weight:600}
.pellucid .pl-believed .pl-code{overflow-wrap:anywhere}
.pellucid .pl-examples{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:1rem;margin-top:1rem}
.pellucid .pl-example{border:1px solid var(--pl-edge);border-radius:12px;padding:.9rem 1.1rem;background:rgb(var(--pl-paper));
 min-width:0;display:flex;flex-direction:column;gap:.35rem}
.pellucid .pl-example p{margin:0}
.pellucid .pl-example>p:last-child{margin-top:auto;font-size:.8125rem}
.pellucid .pl-example .pl-text{font-size:1rem;line-height:1.65}
.pellucid .pl-example .pl-example-title{font-size:.8125rem;font-weight:600;letter-spacing:0;margin:0;color:var(--pl-muted)}
.pellucid .pl-cut{color:var(--pl-muted)}
.pl-page .pl-contents ol{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;font-size:.9375rem}
.pl-page a{color:var(--pl-accent);text-underline-offset:.2em;text-decoration-thickness:1px}
.pl-page .pl-key{max-width:52rem}
.pl-page .pl-cards{display:grid;gap:1.5rem}
.pl-page .pl-card{border:1px solid var(--pl-edge);border-radius:12px;padding:1.5rem 1.75rem 1.25rem}
.pl-page .pl-card .pl-text,.pl-page .pl-folded .pl-text{max-width:46rem}
.pl-page .pl-steps,.pl-page .pl-sample{background-color:rgb(var(--pl-paper))}
.pl-page main>section>.pl-scroll,.pl-page .pl-plots{background:rgb(var(--pl-paper));
 border:1px solid var(--pl-edge);
 border-radius:12px;padding:.75rem 1.25rem}
.pl-page .pl-plots{padding:1.5rem 1.25rem}
.pl-page .pl-scroll>.pl-table tbody tr:last-child>*{border-bottom:0}
.pl-page .pl-scroll+.pl-note{margin-top:.75rem;max-width:52rem}
.pellucid .pl-scroll+dl{margin-top:1.25rem}
.pl-page .pl-caveats{padding-left:1.2rem;max-width:44rem;display:grid;gap:.6rem}
.pl-page footer{margin-top:4.5rem;color:var(--pl-muted);font-size:.8125rem}
@media (max-width:40rem){
 .pl-page main{padding:1.1rem 1rem 3rem}
 .pl-page h1{font-size:1.375rem}
 .pl-page h2{font-size:1.1875rem}
 .pl-page main>section{margin-top:2.5rem}
 .pl-page header+section{margin-top:1rem}
 .pellucid .pl-table{font-size:.8125rem}
 .pl-page .pl-card{padding:1.1rem 1.1rem 1rem;border-radius:10px}
 .pellucid .pl-key,.pellucid .pl-facts{grid-template-columns:1fr;gap:.1rem}
 .pellucid .pl-key dd,.pellucid .pl-facts dd{margin-bottom:.9rem}
 .pellucid .pl-wide span{width:.6rem}
 .pellucid .pl-target{margin-left:0;width:100%}
 .pl-page main>section>.pl-scroll,.pl-page .pl-plots{padding:.5rem .9rem}
 .pl-page .pl-plots{padding:1.1rem .9rem}
}
@media print{
 .pellucid .pl-whole::details-content,.pellucid .pl-cautions::details-content,
 .pellucid .pl-full::details-content{content-visibility:visible;display:block}
 html{background:#fff;color-scheme:only light}
 .pl-page{background:none}
 .pl-page main{padding:0;max-width:none}
 .pl-page main>section{margin-top:2.2rem}
 .pl-page .pl-contents,.pl-page .pl-expert,.pl-page .pl-key details,.pl-page .pl-guide,.pellucid .pl-numbers:not([open]){display:none}
 .pl-page .pl-card:not(:has(.pl-plots)),.pl-page .pl-class,.pl-page .pl-example,.pl-page .pl-caution{break-inside:avoid}
 .pl-page .pl-figure,.pl-page tr,.pl-page .pl-scroll:not(:has(tbody tr:nth-child(9))){break-inside:avoid}
 .pl-page h2,.pl-page h3,.pl-page .pl-lead{break-after:avoid}
 .pl-page .pl-lead,.pl-page .pl-card .pl-plots{break-inside:avoid}
 .pellucid .pl-scroll,.pellucid .pl-scroll:has(tbody tr:nth-child(12)){overflow:visible;max-height:none}
 .pellucid .pl-table{font-size:.7rem}
 .pellucid .pl-table .pl-value{font-size:.75rem}
 .pellucid .pl-table small{font-size:.55rem}
 .pellucid .pl-table thead th{font-size:.65rem}
 .pellucid .pl-table th,.pellucid .pl-table td{padding:.45rem .4rem .45rem 0}
 .pl-page main>section>.pl-scroll,.pl-page .pl-plots{padding:.5rem .75rem}
 .pellucid .pl-plots{grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:1rem}
 .pellucid .pl-table tbody th,.pellucid .pl-table thead th:first-child{position:static;min-width:0}
}
"""
# What the style sheets of notebooks set for plain elements, set back: floats of terms, widths in per cent, large margins.
RESET = """
.pellucid dl,.pellucid dt,.pellucid dd{float:none;width:auto;padding:0;margin:0}
.pellucid dt{display:block;font-style:normal;font-weight:400}
.pellucid dd{display:block}
.pellucid dl{display:block}
.pellucid h2,.pellucid h3,.pellucid h4{margin:0;padding:0;border:0;line-height:1.3;font-style:normal;color:inherit;
 word-break:normal;letter-spacing:normal;text-transform:none;font-size:1rem;font-weight:650}
.pellucid p,.pellucid li,.pellucid small,.pellucid strong,.pellucid i,.pellucid em,.pellucid summary,.pellucid figcaption{
 color:inherit;background:none;border:0;text-align:start;word-break:normal;max-width:none;text-indent:0}
.pellucid ol,.pellucid ul,.pellucid li{list-style-position:outside;padding:0;margin:0}
.pellucid table{display:table;width:auto;margin:.5rem 0;color:inherit;overflow:visible;text-align:start}
.pellucid thead{display:table-header-group}
.pellucid tbody{display:table-row-group}
.pellucid tr,.pellucid tr:nth-child(even),.pellucid tr:nth-child(odd),.pellucid tr:hover{display:table-row;background:none}
.pellucid th{font-weight:bold}
.pellucid th,.pellucid td{display:table-cell;float:none;width:auto;max-width:none;color:inherit}
.pellucid svg{max-width:none;margin:0}
.pellucid details,.pellucid summary{margin:0;padding:0;border:0;background:none}
.pellucid summary{display:list-item}
"""
NOTEBOOK = """
.pellucid.pl-notebook{padding:1rem 1.25rem;border-radius:8px;max-width:60rem}
.pellucid .pl-spans{list-style:decimal}
"""


TABLE_RULE = re.compile(r"[^{}]*(?:\b(?:table|thead|tbody|tr|td|th)\b|pl-(?:table|matrix|scroll))[^{}]*\{[^{}]*\}")
OVERRULED = re.compile(r"((?:border(?:-top|-bottom|-left|-right|-collapse|-spacing)?|text-align):[^;}!]+)(?=[;}])")


def fragment_style() -> str:
    """The sheet of a notebook fragment; it styles nothing outside .pellucid.

    The class stands three times in every rule, so that no rule of the notebook for elements weighs more. VS Code's
    notebook takes the borders and the alignment of tables away with `!important`, so ours have it too.
    """
    sheet = _themes() + RESET + TEXT + CARD + ROWS + TABLE + CORPUS + LAYERS + PLOT + colour_rules() + NOTEBOOK
    important = TABLE_RULE.sub(lambda rule: OVERRULED.sub(r"\1!important", rule[0]), sheet)
    return important.replace(".pellucid", ".pellucid" * 3)


def page_style() -> str:
    """The sheet of a whole page."""
    return _themes() + TEXT + CARD + ROWS + TABLE + CORPUS + LAYERS + PLOT + WORD_LISTS + colour_rules() + PAGE


def _themes() -> str:
    light = f".pellucid{{color-scheme:light;{variables(LIGHT)}{_LIGHT}{_line_variables(LINES_LIGHT)}}}\n"
    dark = f".pellucid{{color-scheme:dark;{variables(DARK)}{_DARK}{_line_variables(LINES_DARK)}}}"
    use = "\n".join(f".pellucid .pl-c{n}{{--pl-line:var(--pl-line-{n})}}" for n in range(1, len(LINES_LIGHT) + 1))
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}\n{use}"


def _line_variables(colours: tuple[str, ...]) -> str:
    return "".join(f"--pl-line-{position}:{colour};" for position, colour in enumerate(colours, 1))
