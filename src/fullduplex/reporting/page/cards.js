// The cards: from a scenario to what it sounds like.

/** Whether an item is an example of success, by its value in the card's metric; undefined where it is neither. */
const succeeded = (value) => (typeof value === "number" ? value >= 1 : undefined);

/** Two voices on one line of time, small: user above, system below, red where both sound. A click plays from there. */
const makeStrip = (item, details, from) => {
  const user = heard(sideOf(details.tracks.user)), system = heard(sideOf(details.tracks.system));
  const both = shared(user, system);
  const length = Math.max(item.duration, ...user.map((span) => span[1]), ...system.map((span) => span[1]), 0.1);
  const spans = (list, y, shade) => list.map(([start, end]) => svg("rect", { x: start, y, width: Math.max(end - start, length / 400), height: 8, class: shade }));
  const cursor = svg("rect", { x: 0, y: 0, width: length / 250, height: 20, class: "at" });
  const over = both.reduce((sum, [start, end]) => sum + end - start, 0);
  const picture = svg("svg", {
    class: "strip", viewBox: `0 0 ${length} 20`, preserveAspectRatio: "none", role: "img",
    "aria-label": say("{length} of talk, user above and system below; both at once for {over} s", { length: clock(length), over: figure(over) }),
  }, ...spans(user, 1, "user"), ...spans(system, 11, "system"), ...spans(both, 1, "overlap"), ...spans(both, 11, "overlap"), cursor);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    from(between(0, (event.clientX - box.left) / box.width, 1) * length);
  });
  return { picture, place: (time) => cursor.setAttribute("x", between(0, time, length)) };
};

const makeExample = (item, passed, open) => {
  const box = make("div", { class: `example ${passed ? "passes" : "fails"}` });
  detailsOf(item).then((details) => {
    let sound = null;
    const play = make("button", { type: "button", disabled: !details.source, "aria-label": (passed ? say("Play {item} of {system}, which passes", item) : say("Play {item} of {system}, which fails", item)), onclick: () => heardAt(null) }, "▶");
    const trouble = make("p", { class: "trouble", role: "alert", hidden: true });
    const strip = makeStrip(item, details, (time) => heardAt(time));
    const heardAt = (time) => {
      // Sound is fetched for what is played, not for all that could be.
      sound ??= makeSound(details.source, item.duration, {
        moved: strip.place,
        changed: (playing) => { play.textContent = playing ? "❚❚" : "▶"; play.setAttribute("aria-pressed", String(playing)); },
        trouble: (text) => { trouble.textContent = text; trouble.hidden = false; },
      });
      if (!sound.audio.isConnected) box.append(sound.audio);
      if (time !== null) sound.seek(time);
      if (time === null || sound.audio.paused) sound.toggle();
    };
    box.append(play, strip.picture, make("a", { href: `#${keyOf(item)}`, onclick: (event) => { event.preventDefault(); open(item); } }, item.item), trouble);
  });
  return box;
};

const makeCards = (state, list, open) => {
  const box = byId("cards");
  if (!box) return;
  // One voice at a time, wherever it is played.
  document.addEventListener("play", (event) => {
    for (const audio of document.querySelectorAll("audio")) if (audio !== event.target) audio.pause();
  }, true);
  for (const card of box.querySelectorAll(".card")) {
    const { scenario, metric, counts } = card.dataset;
    // A conversation holds several probes, and fails by any of them.
    const named = counts === "items"
      ? (passed, n) => (passed ? say("List passed ({n})", { n }) : say("List failed ({n})", { n }))
      : (passed, n) => (passed ? say("List conversations with no failed probe ({n})", { n }) : say("List conversations with a failed probe ({n})", { n }));
    const { variant } = card.closest(".panel").dataset;
    const those = items.filter((item) => item.scenario === scenario).map((item) => [item, succeeded(factOf(item, variant, metric))]);
    const counted = (passed) => those.filter(([, found]) => found === passed).length;
    const first = (system, passed) => those.find(([item, found]) => item.system === system && found === passed)?.[0];
    if (!those.some(([, found]) => found !== undefined)) continue;
    const jump = (passed) => make("button", { type: "button", disabled: !counted(passed), onclick: () => {
      if (state.variant !== variant) return;
      list.only(scenario, metric, passed ? ["=1", say("passed")] : ["<1", say("failed")]);
      byId("items").scrollIntoView();
      list.focus();
    } }, named(passed, counted(passed)));
    const order = [...card.querySelectorAll(".ranks tbody tr > th")].map((head) => JSON.parse(head.dataset.system));
    const row = (system) => make("div", { class: "hear-row" }, make("span", { class: "who" }, system), [false, true].map((passed) => {
      const item = first(system, passed);
      return item ? makeExample(item, passed, open) : make("span", { class: "example none small" }, passed ? say("none passes") : say("none fails"));
    }));
    const rows = make("div", { class: "hear-rows" });
    const listen = make("details", { ontoggle: () => {
      if (rows.childElementCount || !listen.open) return;
      rows.append(make("div", { class: "hear-row heads small" }, make("span", {}, say("user above, system below")), make("span", {}, say("✗ first that fails")), make("span", {}, say("✓ first that passes"))), ...order.map(row));
    } }, make("summary", {}, say("Listen")), rows);
    const place = card.querySelector(".examples");
    place.append(make("div", { class: "jumps" }, jump(false), jump(true)), listen);
    place.hidden = false;
  }
};
