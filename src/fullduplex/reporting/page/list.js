// The list of items: filtered, and only as many rows in the page as are in sight.

const ROW = 52;
const SPARE = 6;

const makeList = (state, open) => {
  const box = byId("list");
  const spacer = box.querySelector(".spacer");
  let shown = items;
  let at = 0;
  let drawn = "";

  const choose = (id, options, keep) => {
    const select = byId(id);
    const before = keep ?? select.value;
    select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
    select.value = options.some(([value]) => value === before) ? before : options[0][0];
  };
  const chosen = (id) => byId(id)?.value ?? "";
  const metrics = () => [...new Set(known.columns.filter(([variant]) => variant === state.variant).map(([, metric]) => metric))];

  /** What can be asked of a metric: its values where they are few, the reasons for none, and what stands out. */
  const questions = () => {
    const metric = chosen("f-metric");
    if (!metric) return [["", say("any")]];
    const values = items.map((item) => factOf(item, state.variant, metric)).filter((value) => value !== undefined);
    const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
    const made = [["", say("any")], ["has", say("has a value ({n})", { n: numbers.length })]];
    const distinct = [...new Set(numbers)];
    if (distinct.length && (verdicts.has(metric) || (distinct.length <= 8 && distinct.every(Number.isInteger)))) {
      for (const value of distinct) made.push([`=${value}`, `${told(metric, value)} (${numbers.filter((n) => n === value).length})`]);
    } else if (numbers.length) {
      const negative = numbers.filter((n) => n < 0).length;
      if (negative) made.push(["<0", say("negative ({n})", { n: negative })]);
      const limit = quantile(numbers, 0.9);
      const slow = numbers.filter((n) => n > limit).length;
      if (slow) made.push([`>${limit}`, say("above {limit}, the highest tenth ({n})", { limit: told(metric, limit), n: slow })]);
    }
    const reasons = new Map();
    for (const value of values) if (typeof value === "string") reasons.set(value, (reasons.get(value) || 0) + 1);
    for (const [reason, n] of [...reasons].sort((a, b) => b[1] - a[1])) made.push([`!${reason}`, say("absent: {reason} ({n})", { reason, n })]);
    return made;
  };
  const answers = (value, question) => {
    if (question === "") return true;
    if (question[0] === "!") return value === question.slice(1);
    if (typeof value !== "number") return false;
    if (question === "has") return true;
    const limit = Number(question.slice(1));
    return question[0] === "=" ? value === limit : question[0] === "<" ? value < limit : value > limit;
  };

  const filter = () => {
    const [system, scenario, metric, question, order] = ["f-system", "f-scenario", "f-metric", "f-verdict", "f-order"].map(chosen);
    const text = chosen("f-text").trim().toLowerCase();
    const flips = byId("f-flips")?.checked;
    const moved = byId("f-moved")?.checked;
    const before = shown[at];
    const value = (item) => factOf(item, state.variant, metric);
    shown = items.filter((item) =>
      (!system || item.system === system) &&
      (!scenario || item.scenario === scenario) &&
      (!metric || value(item) !== undefined) &&
      (!metric || answers(value(item), question)) &&
      (!text || `${item.item} ${item.scenario} ${scenarioTitle(item.scenario)} ${item.system}`.toLowerCase().includes(text)) &&
      (!flips || changed.has(`${part(item.scenario)}/${part(item.item)}`)) &&
      (!moved || isMoved(item)));
    if (order && metric) {
      const sign = order === "up" ? 1 : -1;
      const rank = (item) => (typeof value(item) === "number" ? value(item) * sign : Infinity);
      shown = shown.map((item) => [rank(item), item]).sort((a, b) => (a[0] === b[0] ? a[1].number - b[1].number : a[0] - b[0])).map(([, item]) => item);
    }
    at = Math.max(0, shown.indexOf(before));
    byId("found").textContent = shown.length === items.length ? count(items.length, "{n} item", "{n} items") : say("{shown} of {all}", { shown: shown.length.toLocaleString(tongue), all: count(items.length, "{n} item", "{n} items") });
    box.querySelector(".empty")?.remove();
    if (!shown.length && items.length) box.prepend(make("p", { class: "empty" }, say("No item answers these filters.")));
    spacer.style.height = `${shown.length * ROW}px`;
    drawn = "";
    show(at);
  };

  /** The metric that a row tells: the chosen one, else the first that the item has. */
  const verdictOf = (item) => {
    const metric = chosen("f-metric");
    if (metric) return [metric, factOf(item, state.variant, metric)];
    const found = factsOf(item).find(([variant]) => variant === state.variant);
    return found ? [found[1], found[2]] : ["", undefined];
  };
  const rowOf = (item, place) => {
    const [metric, value] = verdictOf(item);
    const verdict = value === undefined ? "" : `${titleOf(metric)} ${typeof value === "string" ? "— " : ""}${told(metric, value)}`;
    const where = scenarioTitle(item.scenario) + (known.systems.length > 1 ? ` · ${item.system}` : "");
    const row = make("div", {
      class: `row${place === at ? " at" : ""}${item === state.item ? " open" : ""}`, role: "option", id: `row-${item.number}`,
      "aria-selected": String(item === state.item), "aria-setsize": shown.length, "aria-posinset": place + 1,
      onclick: () => { at = place; open(item); },
    },
      make("span", { class: "name" }, make("span", { class: "set" }, `${item.scenario}/`), item.item),
      make("span", { class: `verdict${typeof value === "string" ? " none" : ""}`, title: verdict }, verdict),
      make("span", { class: "where" }, where),
      make("span", { class: "length" }, `${item.sound ? "" : `${say("no sound")} · `}${clock(item.duration)}`));
    row.style.top = `${place * ROW}px`;
    return row;
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const last = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + SPARE);
    const now = `${first} ${last} ${at} ${state.item?.number}`;
    if (now === drawn) return;
    drawn = now;
    spacer.replaceChildren(...shown.slice(first, last).map((item, i) => rowOf(item, first + i)));
    if (shown[at]) box.setAttribute("aria-activedescendant", `row-${shown[at].number}`);
    else box.removeAttribute("aria-activedescendant");
  };
  /** Bring a place into sight. */
  const show = (place) => {
    const top = place * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    draw();
  };
  const step = (by) => {
    if (!shown.length) return;
    at = between(0, at + by, shown.length - 1);
    show(at);
  };
  /** Go to an item; the filters give way where they hide it. */
  const goTo = (item) => {
    if (!shown.includes(item)) clear();
    at = shown.indexOf(item);
    show(at);
  };
  const metricChoices = () => choose("f-metric", [["", say("any")], ...metrics().map((metric) => [metric, titleOf(metric)])]);
  const refresh = () => {
    metricChoices();
    choose("f-verdict", questions());
    filter();
  };
  const clear = () => {
    for (const id of ["f-system", "f-scenario", "f-metric", "f-order", "f-text"]) byId(id).value = "";
    for (const id of ["f-flips", "f-moved"]) if (byId(id)) byId(id).checked = false;
    byId("f-verdict").value = "";
    refresh();
  };

  /** Show the items of one scenario that answer one question about a metric; the text names an answer that is not listed. */
  const only = (scenario, metric, [question, text]) => {
    clear();
    byId("f-scenario").value = scenario;
    byId("f-metric").value = metric;
    choose("f-verdict", questions());
    const verdict = byId("f-verdict");
    if (![...verdict.options].some((option) => option.value === question)) verdict.append(make("option", { value: question }, text));
    verdict.value = question;
    at = 0;
    filter();
  };

  choose("f-system", [["", say("all")], ...known.systems.map((system) => [system, system])]);
  byId("system-choice").hidden = known.systems.length < 2;
  choose("f-scenario", [["", say("all")], ...[...new Set(items.map((item) => item.scenario))].map((scenario) => [scenario, scenarioTitle(scenario)])]);
  for (const id of ["f-system", "f-scenario", "f-verdict", "f-flips", "f-moved"]) byId(id)?.addEventListener("change", filter);
  byId("f-order").addEventListener("change", () => {
    // An order needs a metric to order by.
    if (!chosen("f-metric") && metrics().length) byId("f-metric").value = metrics().find((metric) => !verdicts.has(metric)) ?? metrics()[0];
    refresh();
  });
  byId("f-metric").addEventListener("change", () => { byId("f-verdict").value = ""; refresh(); });
  byId("f-text").addEventListener("input", filter);
  byId("f-clear").addEventListener("click", clear);
  byId("show-flips")?.addEventListener("click", () => {
    clear();
    byId("f-flips").checked = true;
    filter();
    byId("items").scrollIntoView();
  });
  if (byId("show-flips")) byId("show-flips").hidden = false;
  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  refresh();
  return { step, goTo, only, draw, refresh, current: () => shown[at], focus: () => box.focus({ preventScroll: true }) };
};
