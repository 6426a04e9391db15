// When a page draws: at most once a frame, and for at most a fifth of the time, however fast its texts arrive, so that it stays
// quick to scroll and to press.

const SHARE = 5;

/** Returns a function that asks for a drawing; what was asked for before it comes is drawn with it. */
export function drawing(draw: () => void): () => void {
  let isAsked = false;
  let rests = 0;
  const run = () => {
    isAsked = false;
    const began = performance.now();
    draw();
    rests = performance.now() + (SHARE - 1) * (performance.now() - began);
  };
  return () => {
    if (!isAsked) {
      isAsked = true;
      const wait = rests - performance.now();
      setTimeout(() => requestAnimationFrame(run), Math.max(0, wait));
    }
  };
}
