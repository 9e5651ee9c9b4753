// The review: a name, then one clip after another, by keys or by pointer.

const given = JSON.parse(byId("given").textContent);
const form = given.form;
// What the report's own scripts, and these, say in another language.
const known = { messages: given.messages };
const KEYS = [
  [say("Space"), say("play or pause")], ["← →", say("back or forward 1 second")], ["R", say("hear the event again")],
  ...(form.pairwise ? [["X", say("the other clip")]] : []),
  [say("the key of an answer"), say("give it")], ...(form.questions.length > 1 ? [["↑ ↓", say("the question before or after")]] : []),
  ["Z", say("take the last answer back")], [say("Enter"), say("next clip")], ["P", say("previous clip")], ["C", say("write a note")],
  [say("Esc"), say("leave the note")], ["?", say("these keys")],
];
const LEAD = 1;

let rater = "", clips = [], at = -1, views = [], active = 0, current = null, busy = false, warned = false;
let sheet = null; // what came of the clip that is open, and what it adds up to
const ahead = new Map();

const trouble = (text) => { byId("trouble").textContent = text; byId("trouble").hidden = !text; };
const announce = (text) => { byId("said").textContent = text; };
const post = async (path, body, more = {}) => {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Review-Token": given.token }, body: JSON.stringify(body), ...more });
  } catch {
    throw new Error(say("The review does not answer. Start it again with the same command and open the address it prints: what was kept is there."));
  }
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(value.error || say("The review could not do that."));
  return value;
};
const show = (name) => { for (const id of ["door", "desk", "end"]) byId(id).hidden = id !== name; };

const progress = () => {
  const done = clips.filter((clip) => clip.done).length;
  byId("progress").hidden = !clips.length;
  byId("bar").max = Math.max(clips.length, 1);
  byId("bar").value = done;
  byId("count").textContent = say("{done} of {all} answered", { done, all: clips.length }) + (at >= 0 && !byId("desk").hidden ? ` · ${say("clip {n}", { n: at + 1 })}` : "");
  return done;
};

// What was answered is sent at once, one after another; what could not be sent is sent with the next.
let unsent = {}, sending = Promise.resolve(true), stored = 0;
const pending = () => Object.keys(unsent).length > 0;
const keep = (answers = {}, leaving = false) => {
  if (!sheet) return sending;
  Object.assign(unsent, answers);
  const mine = sheet, clip = clips[at], body = { id: clip.id, answers: unsent, note: mine.field.value.trim(), seconds: spent(), heard: heardShare() };
  unsent = {};
  stored = body.heard;
  mine.note = body.note;
  const send = async () => {
    try {
      const { done } = await post("/answer", body, leaving ? { keepalive: true } : {});
      clip.done = done;
      for (const key of Object.keys(body.answers)) delete unsent[key];
      ahead.delete(clip.id);
      trouble("");
      progress();
      return true;
    } catch (error) {
      if (mine === sheet) unsent = { ...unsent, ...body.answers }; // sent in order: what fails later is newer
      trouble(say("Not kept: {reason}", { reason: error.message }));
      return false;
    }
  };
  // A page that is being closed cannot wait for its turn.
  sending = leaving ? send() : sending.then(send, send);
  return sending;
};
/** Seconds that the clip was before the rater, with those of earlier visits. */
const spent = () => sheet.before + (performance.now() - sheet.since) / 1000;
/** The share of the clip that was played so far; of a pair, of the one that was heard less. */
const heardShare = () => Math.max(sheet.heard, Math.min(...views.map((view) => view.share())));

const questions = makeQuestions(form, { changed: (answers) => { warned = false; keep(answers); } });

/** Send what is not sent yet of the clip that is left. */
const settle = async (leaving = false) => {
  if (!sheet) return true;
  const note = sheet.field.value.trim() !== sheet.note;
  const more = questions.some() && heardShare() > stored + 0.02;
  return note || more || pending() ? keep({}, leaving) : sending;
};

const transcript = (name, label, words, seek) => {
  const spans = words.map(([text, start]) => (typeof start === "number" ? make("span", { class: "word", onclick: () => seek(start) }, text) : make("span", { class: "word untimed" }, text)));
  const body = spans.length ? spans.flatMap((span) => [span, " "]) : [make("span", { class: "small" }, say("no words at hand"))];
  return { spans, box: make("div", { class: `voice ${name}` }, make("h4", {}, label), make("p", {}, body)) };
};

const makeView = (clip, place) => {
  let timeline = null;
  const stage = make("div", { class: "stage", role: "slider", tabindex: 0, "aria-label": clip.name ? say("Timeline of {name}: place in the recording", { name: clip.name }) : say("Timeline: place in the recording") });
  const clockBox = make("span", { class: "clock" });
  const play = make("button", { type: "button", class: "play" }, `▶ ${say("Play")}`);
  let words = [];
  const moved = (time, playing) => {
    timeline?.place(time, playing);
    clockBox.textContent = `${clock(time)} / ${clock(clip.duration)}`;
    for (const { span, start, end } of words) span.classList.toggle("now", start <= time && time < end);
  };
  const sound = makeSound(`/clip/${clip.sound}.wav`, clip.duration, {
    moved,
    changed: (playing) => { play.textContent = playing ? `❚❚ ${say("Pause")}` : `▶ ${say("Play")}`; play.setAttribute("aria-pressed", String(playing)); },
    trouble: () => trouble(say("This clip does not play. Go on to the next, and tell who started the review.")),
  });
  const seek = (time) => { turnTo(place); sound.seek(time); };
  const events = [...clip.events].sort((a, b) => a.start - b.start);
  const replay = () => {
    turnTo(place);
    // The event after the one that was heard last, round and round.
    const next = events.find((event) => event.start - LEAD > sound.now() - 0.05) ?? events[0];
    sound.seek(Math.max(0, (events.length > 1 ? next : events[0]).start - LEAD));
    if (sound.audio.paused) sound.toggle();
  };
  const sides = [["both", say("Both")], ["user", say("User")], ["system", clip.person ? say("Other person") : say("System")]].map(([side, text]) => make("button", {
    type: "button", "aria-pressed": String(side === "both"),
    onclick: (event) => { sound.solo(side); for (const one of sides) one.setAttribute("aria-pressed", String(one === event.currentTarget)); },
  }, text));
  const zoom = (factor) => timeline.zoomBy(factor);
  play.addEventListener("click", (event) => { turnTo(place); sound.toggle(); if (event.detail) play.blur(); });
  const user = transcript("user", say("User"), clip.tracks.user.words, seek);
  const other = clip.others?.length ? transcript("other", say("Somebody else"), clip.others, seek) : null;
  // An item that no system has heard yet may have no line of the script's either.
  const system = clip.script && !clip.tracks.system.words.length ? null : transcript("system", clip.script ? say("Assistant, as the script has it: not spoken") : clip.person ? say("Other person") : say("System"), clip.tracks.system.words, seek);
  words = [[user, clip.tracks.user.words], [other, clip.others], [system, clip.tracks.system.words]].filter(([said]) => said)
    .flatMap(([said, track]) => track.map(([, start, end], i) => ({ span: said.spans[i], start, end }))).filter(({ start }) => typeof start === "number");
  const patch = (shade, text) => { const colourOf = make("i"); colourOf.className = `patch ${shade}`; return make("span", {}, colourOf, text); };
  const box = make("div", { class: "clip", role: "group", "aria-label": clip.name ? say("Clip {name}", { name: clip.name }) : say("The clip") },
    make("div", { class: "controls" },
      clip.name ? make("span", { class: "letter" }, clip.name, " ", make("kbd", { class: "other", title: say("X turns to the other clip") }, "X")) : null, play, clockBox,
      events.length ? make("button", { type: "button", onclick: (event) => { replay(); if (event.detail) event.currentTarget.blur(); } }, clip.script || clip.person ? say("Mark again") : say("Event again"), make("kbd", {}, "R")) : null,
      clip.script ? null : make("span", { class: "group", role: "group", "aria-label": say("Who is heard") }, sides),
      make("span", { class: "gap" }),
      make("span", { class: "group", role: "group", "aria-label": say("Zoom") },
        make("button", { type: "button", "aria-label": say("Zoom out"), onclick: () => zoom(1 / 1.6) }, "−"),
        make("button", { type: "button", "aria-label": say("Zoom in"), onclick: () => zoom(1.6) }, "+"),
        make("button", { type: "button", "aria-label": say("The whole recording"), onclick: () => zoom(0) }, say("Fit")))),
    stage, make("div", { class: "legend" }, patch("user", say("user")), patch(clip.script ? "system scripted" : "system", clip.script ? say("script, not spoken") : clip.person ? say("other person") : say("system")), patch("overlap", say("both at once")), events.length ? patch("event", clip.script || clip.person ? say("mark") : say("event")) : null),
    make("div", { class: "said" }, user.box, other?.box, system?.box));
  const start = () => {
    timeline = makeTimeline(stage, { duration: clip.duration }, { tracks: clip.tracks, events: clip.events, second: clip.person ? say("other person").toUpperCase() : undefined }, () => [], seek);
    timeline.show("");
    moved(0, false);
  };
  const share = () => {
    const played = sound.audio.played;
    let sum = 0;
    for (let i = 0; i < played.length; i++) sum += played.end(i) - played.start(i);
    return between(0, sum / Math.max(clip.duration, 0.01), 1);
  };
  return { box, stage, sound, start, share, replay, length: clip.duration, end: () => { sound.end(); timeline?.end(); } };
};

/** Make one of two clips the one that the keys play; the other one is silent then. */
const turnTo = (place) => {
  active = place;
  views.forEach((view, i) => {
    if (i !== place) view.sound.audio.pause();
    view.box.classList.toggle("on", i === place && views.length > 1);
  });
};

const load = (place) => {
  const { id } = clips[place];
  if (!ahead.has(id)) ahead.set(id, post("/open", { id }).catch((error) => { ahead.delete(id); throw error; }));
  return ahead.get(id);
};

const leave = () => { for (const view of views) view.end(); views = []; sheet = null; unsent = {}; };

const openClip = async (place) => {
  if (!(await settle())) return; // it is still there to be sent
  leave();
  at = place;
  current = null;
  warned = false;
  show("desk");
  progress();
  const answerBox = byId("answer"), listenBox = byId("listen");
  const previous = make("button", { type: "button", disabled: at === 0, onclick: () => go(at - 1) }, say("Previous"), make("kbd", {}, "P"));
  const onward = make("button", { type: "button", class: "main", onclick: () => next() }, at + 1 < clips.length ? say("Next") : say("Finish"), make("kbd", {}, say("Enter")));
  const hint = make("span", { class: "small hint", role: "status" });
  const foot = make("div", { class: "foot" }, previous, onward, hint, make("span", { class: "gap" }), make("span", { class: "small" }, say("every answer is kept at once")));
  let card;
  try {
    card = await load(place);
    trouble("");
  } catch (error) {
    listenBox.replaceChildren();
    answerBox.replaceChildren(foot);
    trouble(error.message);
    return;
  }
  if (at !== place) return;
  const field = make("textarea", { id: "note", rows: 1, maxlength: 4000 });
  field.value = card.note;
  field.addEventListener("change", () => { if (questions.some() || field.value.trim()) keep(); });
  const box = make("div");
  views = card.clips.map(makeView);
  listenBox.replaceChildren(
    card.shown.length ? make("dl", { class: "shown" }, card.shown.flatMap(([head, text]) => [make("dt", {}, head), make("dd", {}, text)])) : "",
    ...views.map((view) => view.box));
  answerBox.replaceChildren(box, make("div", { class: "question remark-field" }, make("label", { for: "note" }, `${say("Note")} `, make("kbd", {}, "C")), field), foot);
  questions.into(box);
  questions.show(card.asked, card.answers, card.told);
  current = { hint };
  sheet = { field, note: card.note, before: card.seconds, heard: card.heard, since: performance.now() };
  stored = card.heard;
  turnTo(0);
  for (const view of views) view.start();
  window.scrollTo(0, 0);
  announce(say("Clip {n} of {all}", { n: place + 1, all: clips.length }));
  byId("desk").dataset.clip = String(place + 1);
  if (place + 1 < clips.length) load(place + 1).catch(() => {});
};

const go = async (place) => {
  if (busy || place < 0 || place >= clips.length) return;
  busy = true;
  try { await openClip(place); } finally { busy = false; }
};

const next = async () => {
  const missing = sheet ? questions.missing() : [];
  if (missing.length && !warned) {
    warned = true;
    questions.turnToMissing();
    current.hint.textContent = say("Open: {questions} Enter again leaves it for later.", { questions: missing.map((question) => question.ask).join(" ") });
    return;
  }
  if (at + 1 < clips.length) { await go(at + 1); return; }
  if (busy) return;
  busy = true;
  try { if (await settle()) finish(); } finally { busy = false; }
};

const finish = () => {
  leave();
  at = clips.length;
  const open = clips.findIndex((clip) => !clip.done);
  show("end");
  const done = progress();
  const head = !clips.length ? say("There is nothing left for you here.") : open < 0 ? say("Thank you, {name}.", { name: rater }) : say("Not all is answered yet.");
  const told = !clips.length ? say("Enough people have judged every clip.") : open < 0 ? count(done, "You answered the one clip. Everything is kept; you can close this page.", "You answered all {n} clips. Everything is kept; you can close this page.") : `${say("{done} of {all} clips are answered and kept", { done, all: clips.length })}${say("; ")}${count(clips.length - done, "{n} is open.", "{n} are open.")}`;
  byId("end").firstElementChild.replaceChildren(make("h2", {}, head), make("p", {}, told), make("div", { class: "foot" },
    open < 0 ? null : make("button", { type: "button", class: "main", onclick: () => go(open) }, say("To the first open one"), make("kbd", {}, say("Enter"))),
    clips.length ? make("button", { type: "button", onclick: () => go(clips.length - 1) }, say("Look at your answers"), make("kbd", {}, "P")) : null,
    make("button", { type: "button", onclick: door }, say("Another rater"))));
  byId("end").focus();
  announce(`${head} ${told}`);
};

const door = () => {
  leave();
  clips = [];
  rater = "";
  at = -1;
  ahead.clear();
  byId("who").textContent = "";
  progress();
  show("door");
  byId("name").value = "";
  byId("name").focus();
};

byId("join").addEventListener("submit", async (event) => {
  event.preventDefault();
  const wrong = byId("join").querySelector(".trouble");
  try {
    const found = await post("/join", { rater: byId("name").value });
    wrong.hidden = true;
    ({ rater, clips } = found);
    byId("who").textContent = rater;
    byId("name").blur();
    const open = clips.findIndex((clip) => !clip.done);
    if (open < 0) finish(); else await go(open);
  } catch (error) {
    wrong.textContent = error.message;
    wrong.hidden = false;
  }
});

const help = byId("help");
byId("help-open").addEventListener("click", () => help.showModal());
byId("help-close").addEventListener("click", () => help.close());
help.querySelector("dl").append(...KEYS.flatMap(([key, means]) => [make("dt", {}, key.length > 9 ? key : make("kbd", {}, key)), make("dd", {}, means)]));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  const target = event.target;
  if (target.closest("input, textarea")) {
    if (event.key === "Escape") target.blur();
    else if (event.key === "Enter" && target.matches("#note, .question textarea") && !event.shiftKey) { event.preventDefault(); target.blur(); }
    return;
  }
  if (event.key === "?") { help.showModal(); event.preventDefault(); return; }
  if (!byId("end").hidden && !target.closest("button")) {
    const open = clips.findIndex((clip) => !clip.done);
    if (event.key === "Enter" && open >= 0) { event.preventDefault(); go(open); }
    if (event.key.toLowerCase() === "p" && clips.length) { event.preventDefault(); go(clips.length - 1); }
    return;
  }
  if (byId("desk").hidden) return;
  const view = views[active];
  const by = (seconds) => view?.sound.seek(view.sound.now() + seconds);
  const acts = {
    " ": () => view?.sound.toggle(), arrowleft: () => by(-1), arrowright: () => by(1),
    r: () => view && view.replay(), x: () => views.length > 1 && turnTo(1 - active),
    arrowup: () => questions.step(-1), arrowdown: () => questions.step(1), k: () => questions.step(-1), j: () => questions.step(1),
    z: () => questions.undo(), enter: next, p: () => go(at - 1), c: () => sheet?.field.focus(),
    home: target === view?.stage && (() => view.sound.seek(0)), end: target === view?.stage && (() => view.sound.seek(view.length)),
  };
  // A button that was reached with Tab has its own use for these keys.
  if (target.closest("button") && (event.key === " " || event.key === "Enter")) return;
  const act = acts[event.key.toLowerCase()];
  // Up and down scroll a page that asks one question.
  if (event.key.startsWith("Arrow") && !["ArrowLeft", "ArrowRight"].includes(event.key) && form.questions.length < 2) return;
  if (act) { event.preventDefault(); act(); } else if (sheet && !event.repeat && questions.press(event.key)) event.preventDefault();
});

window.addEventListener("pagehide", () => { settle(true); });
door();
document.documentElement.dataset.ready = "true";
