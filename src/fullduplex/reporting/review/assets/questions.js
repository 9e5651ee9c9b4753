// The questions of a form: one is in turn, keys and buttons answer it.

const makeQuestions = (form, { changed }) => {
  let box = null, asked = [], answers = {}, at = 0, blocks = [], history = [], told = {};

  const isOpen = (question) => answers[question.key] === undefined || answers[question.key] === "" || answers[question.key] === null;
  // Of a staged form, a question is put once those before it are answered.
  const reached = () => {
    const first = form.staged ? asked.findIndex((question) => question.required && isOpen(question)) : -1;
    return first < 0 ? asked.length - 1 : first;
  };
  const draw = () => blocks.forEach(({ block, buttons, field, question }, place) => {
    block.hidden = place > reached();
    block.classList.toggle("on", place === at && asked.length > 1);
    for (const [value, button] of buttons) button.setAttribute("aria-pressed", String(answers[question.key] === value));
    if (field && field !== document.activeElement) field.value = answers[question.key] ?? "";
  });
  const turnTo = (place) => {
    at = between(0, place, Math.max(reached(), 0));
    draw();
    blocks[at]?.block.scrollIntoView({ block: "nearest" });
  };
  const set = (question, value, keep = true) => {
    if (keep) history.push([question.key, answers[question.key] ?? null]);
    answers[question.key] = value;
    draw();
    changed({ [question.key]: value });
  };
  const give = (place, value) => {
    set(asked[place], value);
    // The next one that is still open; the last one stays in turn.
    const next = asked.findIndex((question, i) => i > place && isOpen(question) && question.kind !== "text");
    turnTo(next < 0 ? place : next);
  };

  const block = (question, place) => {
    const id = `q-${place}`;
    const head = make("h2", { id }, question.ask, question.required ? "" : make("span", { class: "small" }, ` (${say("may be left out")})`));
    const shown = told[question.key]?.length ? make("dl", { class: "shown" }, told[question.key].flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])) : null;
    const help = question.help ? make("p", { class: "note" }, question.help) : null;
    if (question.kind === "text") {
      const field = make("textarea", { rows: 1, maxlength: 4000, "aria-labelledby": id });
      field.addEventListener("focus", () => { at = place; draw(); });
      field.addEventListener("change", () => set(question, field.value.trim() || null));
      return { question, field, buttons: [], block: make("div", { class: "question", role: "group", "aria-labelledby": id }, shown, head, help, field) };
    }
    const buttons = question.options.map(([value, label, key, about]) => [value, make("button", {
      type: "button", "aria-pressed": "false", "aria-keyshortcuts": key,
      onclick: (event) => {
        give(place, value);
        // After a click the keys belong to the page again: Space plays, Enter goes on.
        if (event.detail) event.currentTarget.blur();
      },
    }, make("kbd", {}, key), make("span", {}, String(value) === key && about ? "" : [make("span", { class: "label" }, label), " "], about ? make("span", { class: "about" }, about) : ""))]);
    const short = question.options.every(([, , , about]) => about.length < 26);
    return { question, buttons, field: null, block: make("div", { class: "question", role: "group", "aria-labelledby": id }, shown, head, help,
      make("div", { class: short ? "options short" : "options" }, buttons.map(([, button]) => button))) };
  };

  return {
    into: (element) => { box = element; },
    show: (keys, given, with_each = {}) => {
      told = with_each;
      asked = form.questions.filter((question) => keys.includes(question.key));
      answers = { ...given };
      history = [];
      blocks = asked.map(block);
      box.replaceChildren(...blocks.map((one) => one.block));
      const open = asked.findIndex((question) => question.required && isOpen(question));
      at = Math.max(open, 0);
      draw();
    },
    /** Answer the question in turn with a key; false where the key is none of its answers. */
    press: (key) => {
      const option = asked[at]?.options.find(([, , one]) => one === key.toLowerCase());
      if (!option) return false;
      give(at, option[0]);
      return true;
    },
    step: (by) => turnTo(at + by),
    undo: () => {
      const last = history.pop();
      if (!last) return false;
      const place = asked.findIndex((question) => question.key === last[0]);
      set(asked[place], last[1], false);
      turnTo(place);
      return true;
    },
    missing: () => asked.filter((question) => question.required && isOpen(question)),
    turnToMissing: () => turnTo(asked.findIndex((question) => question.required && isOpen(question))),
    some: () => asked.some((question) => !isOpen(question)),
  };
};
