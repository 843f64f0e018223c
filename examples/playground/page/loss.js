// Losses and violations, as the page names them.

// severities are all kinds of marks, most severe first.
export const severities = ['violation', 'dropped', 'degraded', 'hint'];

export const symbols = { violation: '!', dropped: '×', degraded: '~', hint: 'i' };

export function plural(n, noun) {
  const nouns = noun === 'loss' ? 'losses' : `${noun}s`;
  return `${n.toLocaleString('en')} ${n === 1 ? noun : nouns}`;
}

// places returns the number of places of items.
const places = (items) => items.reduce((n, i) => n + 1 + (i.more ?? 0), 0);

// counts returns [severity, phrase] for the severities that occur, most severe first: "2 violations", at
// their places, or "1 dropped", "2 degraded", "5 hints", which are reasons.
export function counts(items) {
  return severities.map((s) => [s, items.filter((i) => i.severity === s)]).filter(([, some]) => some.length).map(([s, some]) => {
    const n = s === 'violation' ? places(some) : group(some).length;
    return [s, s === 'hint' || s === 'violation' ? plural(n, s) : `${n.toLocaleString('en')} ${s}`];
  });
}

// total returns a phrase such as "3 reasons, 121 places", or "" if there are only violations.
export function total(items) {
  const losses = items.filter((i) => i.severity !== 'violation');
  return losses.length ? `${plural(group(losses).length, 'reason')}, ${plural(places(losses), 'place')}` : '';
}

// inWords returns a phrase such as "3 reasons, 121 places: 1 dropped, 2 degraded".
export const inWords = (items) => [total(items), counts(items).map(([, phrase]) => phrase).join(', ')].filter(Boolean).join(': ');

// group returns the items by severity and reason, most severe first.
export function group(items) {
  const groups = new Map();
  for (const i of items) {
    const key = `${i.severity} ${i.reason}`;
    if (groups.has(key)) groups.get(key).push(i);
    else groups.set(key, [i]);
  }
  return [...groups.values()].sort((a, b) => severities.indexOf(a[0].severity) - severities.indexOf(b[0].severity));
}

// marksOf returns the marks of items at the places that range returns. Items at the same place share a
// mark.
export function marksOf(items, ranges) {
  const marks = new Map();
  for (const item of items) {
    for (const r of ranges(item)) {
      const key = `${r.from} ${r.to} ${!!r.enclosing}`;
      const mark = marks.get(key);
      if (!mark) {
        marks.set(key, { from: r.from, to: r.to, enclosing: !!r.enclosing, severity: item.severity, items: [item] });
        continue;
      }
      mark.items.push(item);
      if (severities.indexOf(item.severity) < severities.indexOf(mark.severity)) mark.severity = item.severity;
    }
  }
  return [...marks.values()];
}

export function symbol(severity) {
  const s = document.createElement('span');
  s.className = `sym ${severity}`;
  s.textContent = symbols[severity];
  s.setAttribute('aria-hidden', 'true');
  return s;
}

// pathElement returns an element with a path, which may break after its steps.
export function pathElement(path) {
  const code = document.createElement('code');
  for (const step of path.split(/(?<=\.)/)) code.append(step, document.createElement('wbr'));
  return code;
}
