// The two-track timeline: what sounded, what was said, what was annotated, on one clock.

const WAVE = 54, BAR = 9, WORDS = 20, LANE = 17, RULER = 20, GAP = 10, EDGE = 5;
const MOST = 400;
/** The colour of each kind of stretch that an action is judged by. */
const STRETCH = { wait: "s5", ignored: "s7", entry: "s2", backchannel: "s3", target: "s1" };

/** The fewest spans that cover the given ones. */
const union = (spans) => {
  const made = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = made[made.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else made.push([start, end]);
  }
  return made;
};
/** The moments that two sets of spans share. */
const shared = (a, b) => {
  const made = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const start = Math.max(a[i][0], b[j][0]), end = Math.min(a[i][1], b[j][1]);
    if (start < end) made.push([start, end]);
    if (a[i][1] < b[j][1]) i++; else j++;
  }
  return made;
};
const timed = (words) => words.filter(([, start, end]) => typeof start === "number" && typeof end === "number" && end > start);
/** When a voice is heard: the detector's speech, else its words. */
const heard = (track) => union(track.speech.length ? track.speech : timed(track.words).map(([, start, end]) => [start, end]));

/** A side of the talk with every part there, whatever the file had. */
const sideOf = (track = {}) => ({
  words: track.words ?? [], speech: track.speech ?? [], words_from: track.words_from ?? "", speech_from: track.speech_from ?? "",
  // The square root of each stretch's largest sample, as it was written.
  peaks: Uint8Array.from(atob(track.peaks ?? ""), (c) => c.charCodeAt(0)),
});

/** Put marks, in order of time, into lanes; where there are none to spare, a label's `room` ends where the next begins. */
const lanes = (marks, most) => {
  const last = [];
  for (const mark of marks) {
    mark.room = mark.width;
    let lane = last.findIndex((one) => one.from + one.width <= mark.from);
    if (lane < 0) lane = last.length < most ? last.length : last.reduce((best, one, i) => (one.from + one.width < last[best].from + last[best].width ? i : best), 0);
    const before = last[lane];
    if (before) before.room = Math.min(before.room, Math.max(0, mark.from - before.from));
    last[lane] = mark;
    mark.lane = lane;
  }
  return last.length;
};
/** A text cut to so many pixels, "" where not even a letter fits. */
const fitted = (context, text, room) => {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > room) end -= 1;
  return end ? `${text.slice(0, end).trimEnd()}…` : "";
};

const makeTimeline = (stage, item, details, marks, seek) => {
  const user = sideOf(details.tracks.user), system = sideOf(details.tracks.system);
  const spoken = { user: heard(user), system: heard(system) };
  const stretches = (details.condition?.marks ?? []).filter((mark) => Number.isFinite(mark.start));
  const overlaps = shared(spoken.user, spoken.system);
  const ends = [...[...details.events, ...stretches].map((event) => event.end), ...spoken.user.map((s) => s[1]), ...spoken.system.map((s) => s[1])];
  const length = Math.max(item.duration, ...ends.filter(Number.isFinite), 0.1);
  const canvas = make("canvas");
  const cursor = make("div", { class: "cursor" });
  const pane = make("div", { class: "pane" }, canvas, cursor);
  const inner = make("div", { class: "width" }, pane);
  stage.replaceChildren(inner);
  let zoom = 1, position = 0, high = 0, variant = "";

  const width = () => Math.max(stage.clientWidth, 50);
  const full = () => width() * zoom;
  // Pixels from the left edge of what is in sight; EDGE keeps time 0 off the border.
  const x = (time) => EDGE + (time / length) * (full() - 2 * EDGE) - stage.scrollLeft;
  const timeAt = (pixels) => between(0, ((pixels + stage.scrollLeft - EDGE) / (full() - 2 * EDGE)) * length, length);

  const draw = () => {
    const ink = Object.fromEntries(["ink", "soft", "line", "wash", "paper", "user", "system", "overlap", "event", "mark", ...Object.values(STRETCH)].map((name) => [name, colour(name)]));
    const ratio = window.devicePixelRatio || 1;
    const wide = width();
    const context = canvas.getContext("2d");
    const face = getComputedStyle(document.body).fontFamily;
    const font = (size, weight = 400) => { context.font = `${weight} ${size}px ${face}`; };
    const labelled = (from, text) => ({ from, text, width: context.measureText(text).width + 10 });
    font(11, 600);
    const events = [...details.events, ...stretches].filter((event) => Number.isFinite(event.start)).map((event) => ({ event, ...labelled(x(event.start), (event.text ? `${event.shown ?? event.kind}${say(": ")}${event.text}` : event.shown ?? event.kind).slice(0, 60)) }));
    font(11);
    const flags = marks(variant).map((mark) => ({ mark, ...labelled(x(mark.at), mark.text) }));
    // A label at the right edge leans back into sight.
    for (const one of [...events, ...flags]) if (one.from > -1 && one.from < wide) one.from = Math.min(one.from, Math.max(0, wide - one.width));
    for (const row of [events, flags]) row.sort((a, b) => a.from - b.from);
    const above = lanes(events, 3) * LANE, below = lanes(flags, 4) * LANE;
    const top = RULER + above + 4;
    const userWords = top, userWave = userWords + WORDS, userBar = userWave + WAVE;
    const strip = userBar + BAR + GAP;
    const systemBar = strip + BAR + GAP, systemWave = systemBar + BAR, systemWords = systemWave + WAVE;
    const bottom = systemWords + WORDS;
    high = bottom + below + 4;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    pane.style.width = `${wide}px`;
    inner.style.width = `${full()}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    const box = (start, end, y, height) => {
      const left = Math.max(x(start), -2), right = Math.min(x(end), wide + 2);
      if (right > -2 && left < wide + 2) context.fillRect(left, y, Math.max(right - left, 1), height);
    };

    // The ruler: a step of 1, 2 or 5 that leaves room for its numbers.
    const least = (length / full()) * 64;
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((one) => one >= least) ?? 1800;
    context.textBaseline = "middle";
    for (let i = Math.floor(timeAt(0) / step); i * step <= timeAt(wide); i++) {
      context.fillStyle = ink.line;
      context.fillRect(Math.round(x(i * step)), RULER - 5, 1, bottom - RULER + 5);
      context.fillStyle = ink.soft;
      const text = digits(step < 1 ? (i * step).toFixed(1) : String(i * step));
      if (x(i * step) + 30 < wide) context.fillText(`${text} s`, x(i * step) + 3, RULER / 2);
    }

    // Events: a band through both tracks, its name above.
    for (const { event, from, text, lane, room } of events) {
      // What an action is judged by has its kind's own colour.
      context.fillStyle = ink[event.means ? STRETCH[event.kind] ?? "event" : "event"];
      context.globalAlpha = event.means ? 0.22 : 0.13;
      box(event.start, Math.max(event.end ?? event.start, event.start), RULER + lane * LANE, bottom - RULER - lane * LANE);
      context.globalAlpha = 1;
      const left = x(event.start);
      if (left > -1) context.fillRect(left, RULER + lane * LANE, 1.5, bottom - RULER - lane * LANE);
      font(11, 600);
      const shown = fitted(context, text, room - 8);
      if (from + room > 0) context.fillText(shown, from + 4, RULER + lane * LANE + LANE / 2);
      font(11);
    }

    // Overlap: a strip between the tracks and a band through them.
    context.fillStyle = ink.overlap;
    for (const [start, end] of overlaps) {
      context.globalAlpha = 0.16;
      box(start, end, userWave, systemWords - userWave);
      context.globalAlpha = 1;
      box(start, end, strip, BAR);
    }

    const side = (track, voice, shade, words, wave, bar) => {
      context.fillStyle = shade;
      const middle = wave + WAVE / 2;
      context.globalAlpha = 0.25;
      context.fillRect(Math.max(x(0), 0), middle - 0.5, Math.min(x(length), wide) - Math.max(x(0), 0), 1);
      context.globalAlpha = 0.75;
      if (track.peaks.length) {
        const each = item.duration / track.peaks.length;
        const largest = Math.max(...track.peaks, 40);
        const first = Math.max(0, Math.floor(timeAt(0) / each)), last = Math.min(track.peaks.length, Math.ceil(timeAt(wide) / each) + 1);
        for (let i = first; i < last; i++) {
          const height = (track.peaks[i] / largest) ** 1.4 * (WAVE - 6);
          if (height >= 0.5) context.fillRect(x(i * each), middle - height / 2, Math.max((each / length) * full() * 0.9, 0.7), height);
        }
      }
      context.globalAlpha = 1;
      const detected = track.speech.length > 0;
      for (const [start, end] of voice) {
        if (detected) box(start, end, bar, BAR - 2);
        else { context.globalAlpha = 0.45; box(start, end, bar + 2, BAR - 6); context.globalAlpha = 1; }
      }
      let free = -Infinity;
      for (const [text, start, end] of timed(track.words)) {
        const left = x(start), right = x(end);
        if (right < 0 || left > wide) continue;
        context.fillStyle = shade;
        context.globalAlpha = 0.35;
        context.fillRect(left, words + WORDS - 3, Math.max(right - left - 1, 1), 2);
        context.globalAlpha = 1;
        context.fillStyle = ink.ink;
        const room = context.measureText(text).width;
        if (left >= free && left + room <= wide) {
          context.fillText(text, left, words + 9);
          free = left + room + 4;
        }
      }
    };
    side(user, spoken.user, ink.user, userWords, userWave, userBar);
    side(system, spoken.system, ink.system, systemWords, systemWave, systemBar);

    // Where the verdicts point.
    const inSight = flags.filter(({ mark }) => x(mark.at) >= -1 && x(mark.at) <= wide + 1);
    for (const { mark, lane } of inSight) {
      const at = x(mark.at);
      context.strokeStyle = context.fillStyle = ink.mark;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(at, RULER);
      context.lineTo(at, bottom + lane * LANE + 4);
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(at - 4, bottom); context.lineTo(at + 4, bottom); context.lineTo(at, bottom + 6);
      context.fill();
    }
    // Their labels over all the lines, so that none is struck through.
    for (const { from, text, lane, room } of inSight) {
      const shown = fitted(context, text, room - 9);
      if (!shown) continue;
      context.fillStyle = ink.paper;
      context.fillRect(from + 5, bottom + lane * LANE + 3, context.measureText(shown).width + 4, LANE - 3);
      context.fillStyle = ink.ink;
      context.fillText(shown, from + 7, bottom + lane * LANE + LANE / 2 + 2);
    }
    // The names of the tracks, over everything, where they never scroll away.
    font(10, 600);
    for (const [name, shade, y] of [[say("USER"), ink.user, userWave], [details.second ?? say("SYSTEM"), ink.system, systemWave + WAVE - 14]]) {
      context.fillStyle = ink.paper;
      context.globalAlpha = 0.8;
      context.fillRect(2, y, context.measureText(name).width + 8, 14);
      context.globalAlpha = 1;
      context.fillStyle = shade;
      context.fillText(name, 6, y + 7);
    }
    place(position);
  };

  /** Move the cursor; `follow` keeps it in sight when zoomed. */
  const place = (time, follow = false) => {
    position = time;
    if (follow && zoom > 1 && (x(time) > width() * 0.92 || x(time) < 0)) stage.scrollLeft += x(time) - width() * 0.08;
    cursor.style.transform = `translateX(${x(time).toFixed(2)}px)`;
    cursor.hidden = x(time) < -1 || x(time) > width() + 1;
    stage.setAttribute("aria-valuenow", time.toFixed(2));
    stage.setAttribute("aria-valuetext", say("{time} of {length}", { time: clock(time), length: clock(length) }));
  };
  const zoomTo = (wanted, anchor = x(position)) => {
    const time = timeAt(anchor);
    zoom = between(1, wanted, Math.max(1, Math.min(MOST, length * 4)));
    inner.style.width = `${full()}px`;
    stage.scrollLeft += x(time) - anchor;
    draw();
  };

  stage.setAttribute("aria-valuemin", "0");
  stage.setAttribute("aria-valuemax", length.toFixed(2));
  let queued = false;
  const soon = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; draw(); });
  };
  const stop = new AbortController();
  const on = (target, kind, act, options = {}) => target.addEventListener(kind, act, { ...options, signal: stop.signal });
  on(stage, "scroll", soon, { passive: true });
  on(matchMedia("(prefers-color-scheme: dark)"), "change", soon);
  on(stage, "click", (event) => seek(timeAt(event.clientX - stage.getBoundingClientRect().left - stage.clientLeft)));
  on(stage, "wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(zoom * Math.exp(-event.deltaY / 300), event.clientX - stage.getBoundingClientRect().left - stage.clientLeft);
  }, { passive: false });
  const watcher = new ResizeObserver(soon);
  watcher.observe(stage);
  return {
    length, overlaps, user, system, place,
    zoomBy: (factor) => zoomTo(factor === 0 ? 1 : zoom * factor),
    show: (name) => { variant = name; draw(); },
    end: () => { stop.abort(); watcher.disconnect(); },
  };
};
