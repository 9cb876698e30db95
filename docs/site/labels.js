// What the theme's script adds to a page gets a name for screen readers, and wide tables can be scrolled by keyboard.
const label = () => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, place) => {
    nav.setAttribute("aria-label", `Code ${place + 1}`)
  })
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach(table => {
    table.tabIndex = 0
  })
  document.querySelector("nav.md-path")?.setAttribute("aria-label", "Path")
}
new MutationObserver(label).observe(document.body, { childList: true, subtree: true })
label()
