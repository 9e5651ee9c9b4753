// Playing one stereo file. A plain audio element always plays; one side alone needs more.

const makeSound = (source, duration, { moved, changed: told, trouble }) => {
  const audio = make("audio", { preload: "metadata", "aria-label": say("The item's sound: the user left, the system right") });
  let resting = 0, frame = 0, graph = null;
  if (source) audio.src = source;

  const now = () => Math.min(duration, source ? audio.currentTime : resting);
  const tick = () => {
    moved(now(), true);
    frame = audio.paused ? 0 : requestAnimationFrame(tick);
  };
  const run = () => { if (!frame) frame = requestAnimationFrame(tick); };
  audio.addEventListener("play", () => { told(true); run(); });
  audio.addEventListener("pause", () => { told(false); moved(now(), false); });
  audio.addEventListener("ended", () => told(false));
  audio.addEventListener("seeked", () => moved(now(), false));
  audio.addEventListener("error", () => {
    if (source) trouble(source.startsWith("data:") ? say("This browser cannot play the sound in the page.") : say("The sound could not be opened: {source}. Keep the page in its folder.", { source }));
  });

  // A browser gives a page on disk no samples of the files beside it: through Web Audio they would
  // be silent. Sound that is in the page, or that comes from where a served page does, can be taken apart.
  const apart = Boolean(source) && (source.startsWith("data:") || location.protocol.startsWith("http")) && typeof AudioContext === "function";
  const solo = (side) => {
    if (!apart) return;
    if (!graph) {
      if (side === "both") return;
      const context = new AudioContext();
      const split = context.createChannelSplitter(2);
      const join = context.createChannelMerger(2);
      context.createMediaElementSource(audio).connect(split);
      // gains[from][to]: one side alone is heard in both ears.
      const gains = [0, 1].map((from) => [0, 1].map((to) => {
        const gain = context.createGain();
        split.connect(gain, from);
        gain.connect(join, 0, to);
        return gain;
      }));
      join.connect(context.destination);
      graph = { context, gains };
    }
    graph.context.resume();
    const levels = { both: [[1, 0], [0, 1]], user: [[1, 1], [0, 0]], system: [[0, 0], [1, 1]] }[side];
    graph.gains.forEach((row, from) => row.forEach((gain, to) => { gain.gain.value = levels[from][to]; }));
  };

  return {
    audio, apart, solo, now,
    toggle: () => {
      if (!source) return;
      if (audio.paused) audio.play().catch((error) => { if (error.name !== "AbortError") trouble(say("The sound does not play: {reason}", { reason: error.message })); });
      else audio.pause();
    },
    seek: (time) => {
      resting = between(0, time, duration);
      if (source) audio.currentTime = resting;
      moved(resting, false);
    },
    rate: (value) => { audio.playbackRate = value; },
    end: () => {
      cancelAnimationFrame(frame);
      audio.pause();
      audio.removeAttribute("src");
      audio.load();
      graph?.context.close();
      source = null;
    },
  };
};
