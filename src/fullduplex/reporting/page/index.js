// What the page knows of all items, and where an item's details lie.

const known = JSON.parse(byId("index").textContent);
byId("index").remove();

const items = known.items.map(([system, scenario, task, item, duration, sound, facts], number) => ({
  number, system, scenario, task, item, duration, sound, facts,
}));
const keyOf = (item) => [item.system, item.scenario, item.item].map(part).join("/");
const byName = new Map(items.map((item) => [keyOf(item), item]));
const changed = new Set(known.flips.map(([scenario, item]) => `${part(scenario)}/${part(item)}`));
const titleOf = (metric) => known.metrics[metric]?.title || metric;
const unitOf = (metric) => known.metrics[metric]?.unit || "";
const scenarioTitle = (scenario) => known.scenarios[scenario] || scenario;

/** The item that the address names, or undefined. */
const itemOf = (hash) => {
  const parts = hash.replace(/^#/, "").split("/");
  if (parts.length !== 3) return undefined;
  try {
    return byName.get(parts.map((one) => part(decodeURIComponent(one))).join("/"));
  } catch {
    return undefined;
  }
};

/** An item's facts: [variant, metric, value or reason], a text being the reason for no value. */
const factsOf = (item) => {
  const made = [];
  for (let i = 0; i < item.facts.length; i += 2) made.push([...known.columns[item.facts[i]], item.facts[i + 1]]);
  return made;
};
/** The value or reason of one metric under one variant, or undefined where it is not measured. */
const factOf = (item, variant, metric) => {
  const column = columnOf.get(JSON.stringify([variant, metric]));
  for (let i = 0; i < item.facts.length; i += 2) if (item.facts[i] === column) return item.facts[i + 1];
  return undefined;
};
const columnOf = new Map(known.columns.map((column, i) => [JSON.stringify(column), i]));

/** Whether the variants disagree about the item in any metric that they share. */
const isMoved = (item) => {
  const seen = new Map();
  for (const [, metric, value] of factsOf(item)) {
    const shown = typeof value === "number" ? figure(value, unitOf(metric)) : value;
    if (seen.has(metric) && seen.get(metric) !== shown) return true;
    seen.set(metric, shown);
  }
  return false;
};
/** Metrics whose every value is 0 or 1, and not by chance: verdicts, shown as yes and no. */
const AVERAGED = ["mean", "median", "trimmed"];
const verdicts = (() => {
  const other = new Set();
  const all = new Set();
  for (const item of items) {
    for (let i = 0; i < item.facts.length; i += 2) {
      const metric = known.columns[item.facts[i]][1];
      const value = item.facts[i + 1];
      all.add(metric);
      if (typeof value === "number" && value !== 0 && value !== 1) other.add(metric);
    }
  }
  return new Set([...all].filter((metric) => !other.has(metric) && ["", "share"].includes(unitOf(metric)) && !AVERAGED.includes(known.metrics[metric]?.kind)));
})();
/** A value as people read it; a reason stays as it is. */
const told = (metric, value) => {
  if (typeof value === "string") return value;
  if (verdicts.has(metric)) return value ? say("yes") : say("no");
  const unit = unitOf(metric);
  return figure(value, unit) + (["s", "ms", "Hz", "dB"].includes(unit) ? ` ${unit}` : "");
};

// The script runs before the items' own elements are read; the list and the tables need none of them.
const whole = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve();
});
/** The details of an item: tracks, events, facts, and the address of its sound. */
const detailsOf = async (item) => {
  await whole;
  const details = JSON.parse(byId(`item-${item.number}`).textContent);
  const embedded = byId(`sound-${item.number}`);
  return { ...details, source: embedded ? JSON.parse(embedded.textContent) : details.audio };
};
