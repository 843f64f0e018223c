// Texts about texts.

const encoder = new TextEncoder();

// size returns the size of a text in UTF-8, such as "3.4 KB".
export function size(text) {
  const n = encoder.encode(text).length;
  if (n < 1000) return `${n} B`;
  return n < 1e6 ? `${(n / 1e3).toFixed(n < 1e4 ? 1 : 0)} KB` : `${(n / 1e6).toFixed(1)} MB`;
}

// milliseconds returns a duration such as "0.4 ms".
export function milliseconds(n) {
  return n === undefined ? '' : `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
}
