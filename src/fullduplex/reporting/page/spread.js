// How latencies are distributed: every item a point, the share below a curve.

const TALL = { chart: 130, strip: 26, axis: 34, top: 8, left: 38, right: 14, least: 320, most: 560 };

const makeSpreads = (state, open) => {
  const box = byId("spreads");
  const shade = (system) => `var(--s${Math.max(0, known.systems.indexOf(system)) % 8})`;

  /** Values by scenario, metric and system, under the variant that is shown. */
  const gather = () => {
    const found = new Map();
    for (const item of items) {
      for (const [variant, metric, value] of factsOf(item)) {
        if (variant !== state.variant || unitOf(metric) !== "s") continue;
        const key = JSON.stringify([item.scenario, metric]);
        if (!found.has(key)) found.set(key, new Map());
        const systems = found.get(key);
        if (!systems.has(item.system)) systems.set(item.system, { points: [], absent: 0 });
        const one = systems.get(item.system);
        if (typeof value === "number") one.points.push({ value, item });
        else one.absent++;
      }
    }
    return [...found].map(([key, systems]) => [...JSON.parse(key), systems]);
  };

  /** Ends of the axis: all of it, unless a few far values would squeeze the rest. */
  const range = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const far = Math.max(quantile(sorted, 0.95) * 1.6, quantile(sorted, 0.5) * 3, 1);
    const near = Math.min(quantile(sorted, 0.05) * 1.6, 0);
    return [Math.max(Math.min(sorted[0], 0), near), Math.min(sorted[sorted.length - 1], far)];
  };
  const steps = (low, high) => {
    const rough = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
    const made = [];
    for (let i = Math.ceil(low / step); i * step <= high + 1e-9; i++) made.push(Number((i * step).toFixed(6)));
    return made;
  };

  const figureOf = (scenario, metric, systems) => {
    for (const one of systems.values()) one.points.sort((a, b) => a.value - b.value);
    const values = [...systems.values()].flatMap((one) => one.points.map((point) => point.value));
    const caption = make("figcaption", {}, make("strong", {}, `${titleOf(metric)}, ${scenarioTitle(scenario)}`), ` · ${known.benchmark}@${state.variant}`);
    const figureBox = make("figure", { class: "spread" }, caption);
    if (!values.length) {
      figureBox.append(make("p", { class: "empty" }, say("No item has a value.")));
      figureBox.append(summary(systems));
      return figureBox;
    }
    let [low, high] = range(values);
    if (high - low < 0.1) high = low + 0.1;
    const { chart, strip, axis, top, left, right } = TALL;
    // Drawn as wide as a phone where the page is narrow, so that the letters keep their size.
    const wide = between(TALL.least, box.clientWidth - 26, TALL.most);
    const named = [...systems].filter(([, one]) => one.points.length);
    const floor = top + chart + named.length * strip;
    const x = (value) => left + ((between(low, value, high) - low) / (high - low)) * (wide - left - right);
    const y = (share) => top + chart - 8 - share * (chart - 16);
    const picture = svg("svg", { viewBox: `0 0 ${wide} ${floor + axis}`, role: "img" });
    picture.append(svg("title", {}, say("{metric} in {scenario}: {values}; the table below has the figures", { metric: titleOf(metric), scenario: scenarioTitle(scenario), values: count(values.length, "{n} value", "{n} values") })));
    if (low < 0) {
      picture.append(svg("rect", { x: x(low), y: top, width: x(0) - x(low), height: floor - top, fill: "var(--overlap)", opacity: 0.09 }));
      if (x(0) - x(low) > 60) picture.append(svg("text", { x: x(low) + 4, y: top + 12 }, say("negative")));
    }
    for (const at of steps(low, high)) {
      picture.append(svg("line", { x1: x(at), x2: x(at), y1: top, y2: floor, stroke: at === 0 ? "var(--soft)" : "var(--line)", "stroke-width": 1 }));
      picture.append(svg("text", { x: x(at), y: floor + 14, "text-anchor": "middle" }, digits(String(at))));
    }
    picture.append(svg("text", { x: wide - right, y: floor + 28, "text-anchor": "end" }, say("seconds")));
    for (const share of [0, 0.5, 0.9]) {
      picture.append(svg("line", { x1: left, x2: wide - right, y1: y(share), y2: y(share), stroke: "var(--line)", "stroke-width": 1, "stroke-dasharray": share % 1 ? "3 3" : "none" }));
      picture.append(svg("text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, say("{n}%", { n: share * 100 })));
    }
    const spots = [];
    let beyond = 0, before = 0;
    named.forEach(([system, { points }], place) => {
      let line = `M${x(low)} ${y(0)}`;
      points.forEach(({ value }, i) => { line += `H${x(value).toFixed(1)}V${y((i + 1) / points.length).toFixed(1)}`; });
      picture.append(svg("path", { d: `${line}H${x(high)}`, fill: "none", stroke: shade(system), "stroke-width": 1.8 }));
      const middle = top + chart + place * strip + strip / 2;
      // One path for all points: a round cap makes each zero-length stroke a dot, however many there are.
      let dots = "";
      points.forEach(({ value, item }, i) => {
        const height = middle + (((i * 7) % 11) - 5) * 1.3;
        dots += `M${x(value).toFixed(1)} ${height.toFixed(1)}h0`;
        spots.push([x(value), height, item]);
        if (value > high) beyond++;
        if (value < low) before++;
      });
      picture.append(svg("path", { d: dots, fill: "none", stroke: shade(system), "stroke-width": 5, "stroke-linecap": "round", opacity: 0.5 }));
      const sorted = points.map((point) => point.value);
      for (const [share, wideLine] of [[0.5, 2.5], [0.9, 1.5]]) {
        const at = x(quantile(sorted, share));
        picture.append(svg("line", { x1: at, x2: at, y1: middle - 11, y2: middle + 11, stroke: "var(--ink)", "stroke-width": wideLine, "stroke-dasharray": share === 0.9 ? "2 2" : "none" }));
      }
    });
    picture.addEventListener("click", (event) => {
      const area = picture.getBoundingClientRect();
      const scale = wide / area.width;
      const at = [(event.clientX - area.left) * scale, (event.clientY - area.top) * scale];
      let nearest = null, least = 14 ** 2;
      for (const [sx, sy, item] of spots) {
        const away = (sx - at[0]) ** 2 + (sy - at[1]) ** 2;
        if (away < least) { least = away; nearest = item; }
      }
      if (nearest) open(nearest, true);
    });
    figureBox.append(picture);
    const cut = [before ? say("{n} below {limit} s", { n: before, limit: figure(low) }) : "", beyond ? say("{n} above {limit} s", { n: beyond, limit: figure(high) }) : ""].filter(Boolean);
    if (cut.length) figureBox.append(make("p", { class: "small" }, say("Drawn at the edge: {values}.", { values: cut.join(", ") })));
    figureBox.append(summary(systems));
    return figureBox;
  };

  const summary = (systems) => {
    const cells = (one) => {
      const sorted = one.points.map((point) => point.value);
      const at = (share) => (sorted.length ? figure(quantile(sorted, share)) : "—");
      const negative = sorted.filter((value) => value < 0).length;
      return [sorted.length, at(0.5), at(0.9), at(0), at(1), negative, one.absent].map((value) => make("td", { class: "number" }, String(value)));
    };
    const heads = ["n", say("median"), say("90 %"), say("least"), say("most"), say("negative"), say("absent")];
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("Latency figures") }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("System")), heads.map((head) => make("th", { scope: "col", class: "number" }, head)))),
      make("tbody", {}, [...systems].map(([system, one]) => {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = shade(system);
        return make("tr", {}, make("th", { scope: "row" }, swatch, system), cells(one));
      }))));
  };

  return {
    draw: () => {
      const all = gather();
      box.replaceChildren(...(all.length ? all.map((one) => figureOf(...one)) : [make("p", { class: "empty" }, say("Nothing under {variant} is measured in seconds.", { variant: state.variant || say("this variant") }))]));
    },
  };
};
