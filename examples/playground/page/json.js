// Formatting of JSON without reading its values.

// format returns a JSON text with one member per line, or undefined if the text is not valid JSON.
// It copies strings and numbers as they are: JSON.parse would change numbers such as 1.0 or 2^60.
export function format(text) {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const out = [];
  let indent = '\n';
  // The text is valid, so each token ends where the next one can begin.
  const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;
  let last = '';
  for (let m = token.exec(text); m; m = token.exec(text)) {
    const t = m[0];
    const opened = last === '{' || last === '[';
    if (t === '}' || t === ']') {
      indent = indent.slice(0, -2);
      if (!opened) out.push(indent);
    } else if (opened || last === ',') {
      out.push(indent);
    }
    out.push(t === ':' ? ': ' : t);
    if (t === '{' || t === '[') indent += '  ';
    last = t;
  }
  return out.join('');
}

// formatOneLine formats a text that is a JSON document on one line. It returns undefined for other texts.
export function formatOneLine(text) {
  const one = text.trim();
  return /^[{[]/.test(one) && !one.includes('\n') && one.length > 40 ? format(one) : undefined;
}
