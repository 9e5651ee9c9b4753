// A table that is wider than the page says so: its edge fades, and a button above it goes on to the right.

for (const box of document.querySelectorAll(".scroll")) {
  const onward = make("button", { type: "button", class: "onward", hidden: true, onclick: () => box.scrollBy({ left: 0.8 * box.clientWidth }) }, say("The table goes on to the right"), " →");
  box.before(onward);
  const look = () => {
    const beyond = box.scrollWidth - box.clientWidth;
    const more = box.scrollLeft < beyond - 2;
    box.classList.toggle("more", more);
    onward.hidden = beyond <= 2;
    onward.disabled = !more;
  };
  box.addEventListener("scroll", look, { passive: true });
  // A table of another variant, or in what is folded, has its width once it is shown.
  const seen = new ResizeObserver(look);
  seen.observe(box);
  if (box.firstElementChild) seen.observe(box.firstElementChild);
}
