// Moves the slider's bars, words and line. Everything else on the pages works without this file.
"use strict";

(() => {
  const box = document.querySelector(".st-data");
  if (!box) return;
  const cuts = JSON.parse(box.dataset.cuts);
  const control = (name) => document.querySelector(`.st-${name}`);
  const range = control("range"), which = control("which"), method = control("method"), count = control("count");
  const words = new Map([...document.querySelectorAll(".st-word")].map((word) => [Number(word.dataset.words), word]));
  const bars = new Map([...document.querySelectorAll(".st-hiding .st-bar")].map((bar) => [Number(bar.id.slice(6)), bar]));
  const cursor = document.querySelector(".st-cursor"), card = document.querySelector(".st-hiding");
  const width = 320, isByHand = Boolean(document.querySelector(".st-out"));
  let shown = new Set();

  const percent = (share) => {
    if (share > 0 && share < 0.005) return "under 1 %";
    if (share > 0.995 && share < 1) return "over 99 %";
    return `${Math.round(share * 100)} %`;
  };

  const number = (value) => String(Number(value.toPrecision(3)));

  // The order in which words are hidden, and the answers at all cuts.
  const hiding = () => {
    if (which.value === "random") return cuts.random;
    const most = cuts.most[method.value];
    if (which.value === "most") return most;
    return { order: [...most.order].reverse(), values: cuts.least[method.value] };
  };

  const drawWords = (hidden) => {
    for (const word of shown) if (!hidden.has(word)) words.get(word)?.classList.remove("st-slid");
    for (const word of hidden) if (!shown.has(word)) words.get(word)?.classList.add("st-slid");
    shown = hidden;
  };

  const parts = (bar) => [".pl-full", ".st-value", ".st-before"].map((part) => bar.querySelector(part));

  // What the page came with: the whole text, or the text without the words that were hidden by hand.
  const whole = [...bars.values()].map((bar) => [bar, parts(bar)[0]?.getAttribute("width"), parts(bar)[1].textContent]);
  const answered = control("now")?.textContent, counted = count.textContent;

  const drawByHand = () => {
    for (const [bar, share, value] of whole) {
      const [full, text, before] = parts(bar);
      full?.setAttribute("width", share);
      text.textContent = value;
      if (before) before.hidden = false;
    }
    if (control("now")) control("now").textContent = answered;
    count.textContent = counted;
  };

  const drawBars = (values) => {
    const areShares = values.length > 1 || (values[0] >= 0 && values[0] <= 1);
    const best = values.indexOf(Math.max(...values)), answer = control("now");
    if (answer && bars.has(best)) answer.textContent = bars.get(best).querySelector(".st-class").textContent;
    for (const [index, bar] of bars) {
      const [full, text, before] = parts(bar);
      full?.setAttribute("width", String(Math.min(1, Math.max(0, values[index])) * 100));
      text.textContent = areShares ? percent(values[index]) : number(values[index]);
      if (before) before.hidden = true;
    }
  };

  const draw = () => {
    const cut = Number(range.value), { order, values } = hiding();
    const hidden = cuts.counts[cut];
    method.disabled = which.value === "random";
    const bySlider = isByHand ? ", by the slider" : "";
    card.classList.toggle("st-sliding", isByHand && cut > 0);
    drawWords(new Set(order.slice(0, hidden)));
    if (isByHand && cut === 0) drawByHand();
    else {
      drawBars(values[cut]);
      count.textContent = `${hidden} of ${order.length} words${bySlider}`;
    }
    range.setAttribute("aria-valuetext", count.textContent);
    const x = String((width * cut) / (cuts.counts.length - 1));
    cursor?.setAttribute("x1", x);
    cursor?.setAttribute("x2", x);
  };

  for (const each of [range, which, method]) each.addEventListener("input", draw);
  control("slider").classList.add("st-works");
})();

(() => {
  // A question is sent once, however often the button is pressed.
  for (const form of document.querySelectorAll("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.poll) event.preventDefault();
      form.dataset.poll = "sent";
    });
  }
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[method=post]")) delete form.dataset.poll;
  });
})();

(() => {
  // Shows how far the work is, every second.
  if (document.querySelector(".st-waiting")) setTimeout(() => location.reload(), 1000);
})();

(() => {
  // Loads the page again once its slider is ready; nobody is drawn away from what is being read.
  if (!document.querySelector(".st-coming")) return;
  const look = async () => {
    const answer = await fetch(location.href);
    if (answer.ok && !(await answer.text()).includes("st-coming")) location.reload();
    else setTimeout(look, 1000);
  };
  setTimeout(look, 500);
})();
