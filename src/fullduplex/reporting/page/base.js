// Small words for the rest: elements, numbers, colours.

/** Make an element. Texts become text nodes, never markup. */
const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
};
const svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const byId = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const between = (low, value, high) => Math.min(Math.max(value, low), high);

/** The language of the page, and how its numbers and its plurals go. */
const tongue = document.documentElement.lang || "en";
const POINT = new Intl.NumberFormat(tongue).formatToParts(1.5).find(({ type }) => type === "decimal").value;
const PLURAL = new Intl.PluralRules(tongue);
/** A text of the page in its language, with `values` in its places. A page without catalogue says it as it stands. */
const say = (text, values = {}) => ((typeof known === "undefined" ? undefined : known.messages?.[text]) ?? text).replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
const digits = (text) => text.replace(".", POINT);

const DECIMALS = { ms: 0, count: 0, Hz: 1, dB: 1, "%": 1 };
/** A value as the tables print it. */
const figure = (value, unit = "") => {
  if (value === null || value === undefined) return "—";
  const decimals = unit === "count" && !Number.isInteger(value) ? 1 : DECIMALS[unit] ?? 3;
  const text = value.toFixed(decimals);
  if (value !== 0 && Number(text) === 0) return digits(String(Number(value.toPrecision(2))));
  return digits(Number(text) === 0 ? text.replace("-", "") : text);
};
/** A time as minutes and seconds: 1:02.35. */
const clock = (time) => {
  const hundredths = Math.round(Math.max(time, 0) * 100);
  const seconds = (hundredths % 6000) / 100;
  return `${Math.floor(hundredths / 6000)}:${seconds < 10 ? "0" : ""}${digits(seconds.toFixed(2))}`;
};
/** How many there are, thousands set apart, in the form that one or many take. */
const count = (n, one, many) => say(PLURAL.select(n) === "one" ? one : many, { n: n.toLocaleString(tongue) });
/** The value below which a share of the sorted values lies, interpolated. */
const quantile = (sorted, share) => {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
};
/** One address part; half a surrogate pair, which no address can hold, becomes U+FFFD. */
const part = (text) => encodeURIComponent(text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd"));
