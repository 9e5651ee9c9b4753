// The page: which variant is shown, which item is open, and the keys.

const state = { variant: known.variants[0] ?? "", item: null };
let view = null; // the open item's timeline and sound

/** How many of how many things a share is of, where its reason counts them: "3 of 21 turns". */
const sharesOf = (metric, fact) => (unitOf(metric) === "share" && !verdicts.has(metric) && /^\d+ \p{L}+ \d+ \p{L}+$/u.test(fact.why ?? "") ? fact.why : undefined);
const linkTo = (item) => `#${keyOf(item)}`;
const verdictTable = (details, seek) => {
  const by = new Map();
  for (const fact of details.facts) {
    if (!by.has(fact.metric)) by.set(fact.metric, []);
    by.get(fact.metric).push(fact);
  }
  if (!by.size) return make("p", { class: "empty" }, say("Nothing was measured on this item."));
  const rows = [];
  for (const [metric, facts] of by) {
    const shown = new Set(facts.map((fact) => (fact.value === null ? fact.absent : figure(fact.value, fact.unit))));
    facts.forEach((fact, i) => {
      const absent = fact.value === null;
      rows.push(make("tr", { class: fact.variant === state.variant ? "chosen" : "", "data-variant": fact.variant },
        i ? null : make("th", { scope: "rowgroup", class: "metric", rowspan: facts.length }, titleOf(metric), shown.size > 1 ? [" ", make("span", { class: "tag" }, say("variants differ"))] : null),
        make("th", { scope: "row" }, fact.variant),
        make("td", { class: "number" }, absent ? make("span", { class: "small" }, say("absent")) : make("strong", {}, sharesOf(metric, fact) ?? told(metric, fact.value))),
        make("td", {}, fact.at === null || fact.at === undefined ? "" : make("button", { type: "button", onclick: () => seek(fact.at), "aria-label": say("Go to {time} seconds", { time: figure(fact.at) }) }, `${figure(fact.at)} s`)),
        make("td", { class: "why" }, sharesOf(metric, fact) ? "" : [absent ? fact.absent : "", fact.why].filter(Boolean).join(say(": ")))));
    });
  }
  const heads = [say("Metric"), say("Variant"), say("Value"), say("At"), say("Why")].map((head, i) => make("th", { scope: "col", class: i === 2 ? "number" : "" }, head));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("Verdicts") },
    make("table", { class: "facts" }, make("caption", {}, say("Verdicts under each variant, and why")), make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
};

/** A button that leads to a moment. */
const goTo = (time, seek) => make("button", { type: "button", onclick: () => seek(Math.max(0, time - 0.5)), "aria-label": say("Go to {time} seconds", { time: figure(time) }) }, clock(time));

/** A row for each probe of a conversation, as the variant in sight reads it. */
const probeTable = (details, seek) => {
  const read = details.probes?.length ? details.probes : [];
  return read.map(({ variants, rows }) => {
    const line = (one) => {
      const tags = [one.rests && make("span", { class: "tag" }, say("rests on what the assistant said")), one.doubted && make("span", { class: "tag" }, say("premise doubted, not confirmed"))];
      return make("tr", {},
        make("th", { scope: "row" }, make("span", { class: "small" }, `${one.id} `), one.type, one.kind ? make("span", { class: "small" }, ` (${one.kind})`) : null, tags.map((tag) => tag || null)),
        make("td", {}, one.asked === null ? make("span", { class: "small" }, `${say("never asked")} `) : goTo(one.asked, seek), " ", one.question, make("span", { class: "small block" }, say("right: {answer}", { answer: one.expected }))),
        make("td", {}, one.replied === null ? null : [goTo(one.replied, seek), " "], one.reply === null ? make("span", { class: "small" }, one.replied === null ? say("none") : say("words not known")) : one.reply),
        make("td", {}, make("strong", { class: one.known ? (one.state === "passed" ? "pass" : "fail") : "small" }, one.shown ?? one.state), make("span", { class: "small" }, [one.by, one.votes].filter(Boolean).map((text) => ` · ${text}`).join("")), one.reason ? make("span", { class: "small block" }, one.reason) : null));
    };
    const passed = rows.filter((one) => one.state === "passed").length;
    const heads = [say("Probe"), say("Question"), say("Reply"), say("Verdict")].map((head) => make("th", { scope: "col" }, head));
    return make("div", { class: "scroll probed", "data-variants": JSON.stringify(variants), hidden: !variants.includes(state.variant), tabindex: 0, role: "region", "aria-label": say("Probes") },
      make("table", { class: "probes" }, make("caption", {}, make("strong", {}, say("Probes")), ` · ${say("{passed} of {all} passed", { passed, all: rows.length })}`, known.variants.length > 1 ? ` · ${say("under {variants}", { variants: variants.join(", ") })}` : ""), make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows.map(line))));
  });
};

/** What the user says, a line a turn; what was recognised of it is folded away. */
const turnList = (turns, seek) => make("ol", { class: "turns" }, turns.map((turn) => make("li", {},
  turn.start === null ? make("span", { class: "small" }, say("never said")) : goTo(turn.start, seek), " ", turn.text)));

const transcript = (name, label, track, seek, turns = []) => {
  const from = [track.words_from && say("words: {source}", { source: track.words_from }), track.speech_from && say("speech: {source}", { source: track.speech_from })].filter(Boolean).join(" · ");
  const words = track.words.map(([text, start]) => typeof start === "number"
    ? make("span", { class: "word", onclick: () => seek(start) }, text)
    : make("span", { class: "word untimed", title: say("without a time") }, text));
  const body = words.length ? words.flatMap((word) => [word, " "]) : [make("span", { class: "small" }, say("No words."))];
  const head = make("h4", {}, label, " ", make("span", { class: "small" }, from));
  const said = make("p", {}, body);
  if (!turns.length) return { words, box: make("div", { class: `voice ${name}` }, head, said) };
  return { words, box: make("div", { class: `voice ${name}` }, head, turnList(turns, seek),
    words.length ? make("details", {}, make("summary", {}, say("as recognised")), said) : null) };
};

/** When the reply's first word and its first sound begin: rules count one or the other. */
const firstsLine = (firsts, seek) => {
  if (firsts?.word === undefined) return null;
  const button = (time) => make("button", { type: "button", onclick: () => seek(Math.max(0, time - 0.5)), "aria-label": say("Go to {time} seconds", { time: figure(time) }) }, `${figure(time)} s`);
  return make("p", { class: "small firsts" }, say("The reply’s first word:"), " ", button(firsts.word), " · ", say("its first sound:"), " ", button(firsts.sound),
    firsts.apart ? [" ", make("span", { class: "tag" }, say("{time} s apart: a latency by words is that much off", { time: figure(Math.abs(firsts.word - firsts.sound)) }))] : null);
};

/** Names in order, each once: "probe × 5, pause". */
const counted = (names) => [...new Set(names)].map((name) => {
  const n = names.filter((one) => one === name).length;
  return n > 1 ? `${name} × ${n}` : name;
}).join(", ");

/** What an item of an action calls for, and what it is judged by. */
const conditionBox = (condition, seek) => {
  if (!condition?.title) return null;
  const line = (name, ...told) => make("div", {}, make("dt", {}, name), make("dd", {}, told));
  const whose = (one) => make("span", { class: "mark", title: say("whose it is") }, one);
  const marks = condition.marks.map((mark) => make("span", { class: "block" },
    mark.start === null ? make("span", { class: "small" }, say("never said")) : goTo(mark.start, seek), ` ${mark.means}`,
    mark.start === null ? "" : ` (${figure(mark.end - mark.start)} s)`, mark.text ? `${say(": ")}${mark.text}` : ""));
  return make("dl", { class: "tells condition" },
    line(say("Condition"), condition.title, " ", whose(condition.whose), make("span", { class: "small block" }, condition.definition)),
    line(say("Calls for"), condition.calls_for),
    line(say("Criteria"), make("span", { class: "block" }, `I${say(": ")}`, condition.immediate, " ", whose(condition.criteria)), make("span", { class: "block" }, `S${say(": ")}`, condition.follow_through), condition.timing ? make("span", { class: "block" }, `T${say(": ")}`, condition.timing) : null),
    condition.target ? line(say("Target"), condition.target) : null,
    marks.length ? line(say("Marks"), ...marks) : null,
    condition.setting || condition.origin ? line(say("Made"), [condition.setting, condition.origin].filter(Boolean).join(", ")) : null);
};

const legend = (timeline, events, condition) => {
  const total = timeline.overlaps.reduce((sum, [start, end]) => sum + end - start, 0);
  const entry = (shade, text) => {
    const patch = make("i");
    patch.style.background = `var(--${shade})`;
    return make("span", {}, patch, text);
  };
  const kinds = new Map((condition?.marks ?? []).map((mark) => [mark.kind, [mark.shown ?? mark.kind, mark.means]]));
  return make("div", { class: "legend" },
    entry("user", say("user")), entry("system", say("system")),
    entry("overlap", timeline.overlaps.length ? say("both at once: {time} s", { time: figure(total) }) : say("both at once: never")),
    ...[...kinds].map(([kind, [shown, means]]) => entry(STRETCH[kind] ?? "event", `${shown}${say(": ")}${means}`)),
    condition?.title && !events.length ? null : entry("event", events.length ? say("events: {events}", { events: counted(events.map((event) => (event.shown ?? event.kind) + (event.source ? ` (${event.source})` : ""))) }) : say("no event annotated")));
};

const openItem = async (item, scroll = false, named = true) => {
  state.item = item;
  list.goTo(item);
  if (named && location.hash !== linkTo(item)) history.replaceState(null, "", linkTo(item));
  const details = await detailsOf(item);
  if (state.item !== item) return;
  const before = view;
  before?.sound.end();
  before?.timeline.end();

  const stage = make("div", { class: "stage", role: "slider", tabindex: 0, "aria-label": say("Timeline: place in the recording") });
  const clockBox = make("span", { class: "clock" });
  const trouble = make("p", { class: "trouble", role: "alert", hidden: true });
  const play = make("button", { type: "button", class: "play", disabled: !details.source, onclick: () => view.sound.toggle() }, `▶ ${say("Play")}`);
  let words = [];
  const moved = (time, playing) => {
    timeline?.place(time, playing);
    clockBox.textContent = `${clock(time)} / ${clock(length)}`;
    for (const { word, start, end } of words) word.classList.toggle("now", start <= time && time < end);
  };
  let timeline = null, length = item.duration;
  const sound = makeSound(details.source, item.duration, {
    moved,
    changed: (playing) => { play.textContent = playing ? `❚❚ ${say("Pause")}` : `▶ ${say("Play")}`; play.setAttribute("aria-pressed", String(playing)); },
    trouble: (text) => { trouble.textContent = text; trouble.hidden = false; },
  });
  const marks = (variant) => details.facts
    .filter((fact) => fact.variant === variant && typeof fact.at === "number")
    .map((fact) => ({ at: fact.at, text: `${titleOf(fact.metric)} ${fact.value === null ? fact.absent : told(fact.metric, fact.value)}` }));
  const seek = (time) => sound.seek(time);
  const rate = make("select", { "aria-label": say("Speed"), onchange: () => sound.rate(Number(rate.value)) },
    [0.5, 0.75, 1, 1.25, 1.5, 2].map((value) => make("option", { value, selected: value === 1 }, `${digits(String(value))}×`)));
  const sides = [["both", say("Both")], ["user", say("User")], ["system", say("System")]].map(([side, text]) => make("button", {
    type: "button", "aria-pressed": String(side === "both"), disabled: !sound.apart && side !== "both",
    onclick: (event) => {
      sound.solo(side);
      for (const one of sides) one.setAttribute("aria-pressed", String(one === event.currentTarget));
    },
  }, text));
  const alone = make("span", { class: "group", role: "group", "aria-label": say("Who is heard") }, sides);
  if (!sound.apart) alone.title = say("A page on disk can play one side alone only where the sound is in the page (--single-file) or the folder is served");
  const zoom = make("span", { class: "group", role: "group", "aria-label": say("Zoom") },
    make("button", { type: "button", "aria-label": say("Zoom out"), onclick: () => timeline.zoomBy(1 / 1.6) }, "−"),
    make("button", { type: "button", "aria-label": say("Zoom in"), onclick: () => timeline.zoomBy(1.6) }, "+"),
    make("button", { type: "button", "aria-label": say("The whole recording"), onclick: () => timeline.zoomBy(0) }, say("Fit")));
  const files = details.audio
    ? [make("a", { href: details.audio, target: "_blank", rel: "noopener" }, say("sound file")), make("a", { href: `${details.audio.replace(/[^/]*$/, "")}` || "./", target: "_blank", rel: "noopener" }, say("folder"))]
    : [];

  // The other systems on the same item: the quickest way to hear a difference.
  const others = items.filter((one) => one !== item && one.scenario === item.scenario && one.item === item.item);

  byId("item").replaceChildren(
    make("div", { class: "top" }, make("h3", {}, make("span", { class: "set" }, `${item.scenario}/`), item.item), make("span", { class: "links" }, make("a", { href: linkTo(item) }, say("link to this item")), files)),
    make("p", { class: "sub" }, [scenarioTitle(item.scenario), item.task, item.system].filter((text, i, all) => text && all.indexOf(text) === i).join(" · "),
      others.length ? [` · ${say("the same item by")} `, ...others.flatMap((one, i) => [i ? ", " : "", make("a", { href: linkTo(one) }, one.system)])] : ""),
    make("div", { class: "controls" }, play, clockBox, rate, alone, make("span", { class: "gap" }), zoom),
    details.source ? "" : make("p", { class: "small" }, say("No sound is at hand for this item; the timeline shows what was measured.")),
    trouble, stage);
  timeline = makeTimeline(stage, item, details, marks, seek);
  length = timeline.length;
  view = { timeline, sound, stage };
  const user = transcript("user", say("User"), timeline.user, seek, details.turns), system = transcript("system", say("System"), timeline.system, seek);
  words = [[user, timeline.user], [system, timeline.system]].flatMap(([said, track]) => track.words
    .map(([, start, end], i) => ({ word: said.words[i], start, end: end ?? start })).filter(({ start }) => typeof start === "number"));
  byId("item").append(legend(timeline, details.events, details.condition), ...[conditionBox(details.condition, seek)].filter(Boolean), make("div", { class: "said" }, user.box, system.box), ...[firstsLine(details.firsts, seek)].filter(Boolean), ...probeTable(details, seek), verdictTable(details, (time) => seek(Math.max(0, time - 0.5))), sound.audio);
  timeline.show(state.variant);
  moved(0, false);
  list.draw();
  if (scroll) byId("item").scrollIntoView({ block: matchMedia("(max-width: 52rem)").matches ? "start" : "nearest" });
};

const spreads = makeSpreads(state, (item) => openItem(item, true));
const list = makeList(state, (item) => { openItem(item, matchMedia("(max-width: 52rem)").matches); });

makeCards(state, list, (item) => openItem(item, true));

const showVariant = (variant) => {
  state.variant = variant;
  for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.dataset.variant !== variant;
  spreads.draw();
  list.refresh();
  view?.timeline.show(variant);
  for (const row of document.querySelectorAll(".facts tr[data-variant]")) row.classList.toggle("chosen", row.dataset.variant === variant);
  for (const box of document.querySelectorAll(".probed")) box.hidden = !JSON.parse(box.dataset.variants).includes(variant);
};
if (byId("variant")) {
  byId("variant-choice").hidden = false;
  byId("variant").addEventListener("change", (event) => showVariant(event.target.value));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  if (target.closest("input, select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const pressed = target.closest("button, a, summary");
  const inList = target.id === "list";
  const by = (seconds) => view && view.sound.seek(view.sound.now() + seconds);
  const acts = {
    j: () => list.step(1), k: () => list.step(-1),
    "/": () => byId("f-text").focus(),
    " ": () => view?.sound.toggle(),
    ArrowLeft: () => by(-1), ArrowRight: () => by(1),
    "+": () => view?.timeline.zoomBy(1.6), "=": () => view?.timeline.zoomBy(1.6), "-": () => view?.timeline.zoomBy(1 / 1.6), 0: () => view?.timeline.zoomBy(0),
    Enter: () => list.current() && openItem(list.current()),
  };
  if (inList) Object.assign(acts, { ArrowDown: acts.j, ArrowUp: acts.k, PageDown: () => list.step(8), PageUp: () => list.step(-8), Home: () => list.step(-Infinity), End: () => list.step(Infinity) });
  else if (target === view?.stage) Object.assign(acts, { Home: () => view.sound.seek(0), End: () => view.sound.seek(view.timeline.length) });
  // A button, a link or a table that scrolls has its own use for these keys.
  if (pressed && (event.key === " " || event.key === "Enter")) return;
  if (target.matches(".scroll") && event.key.startsWith("Arrow")) return;
  if (event.key === " " && !view) return;
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const follow = () => {
  const item = itemOf(location.hash);
  if (item && item !== state.item) openItem(item, true);
};
window.addEventListener("hashchange", follow);
showVariant(state.variant);
const asked = itemOf(location.hash);
if (asked) openItem(asked, true);
// An item that nobody asked for leaves the address as it is.
else if (items.length) openItem(items[0], false, false);
document.documentElement.dataset.ready = "true";
