// A text field for large documents, with marks.
//
// The browser edits the text in a <textarea> whose own glyphs are transparent. The visible lines are
// rendered below it, with colours and marks, and again as rows of a gutter. Only the lines in view
// have elements, so the work for a key does not depend on the length of the text, except for
// finding the starts of lines. The font has one width, so positions are computed and not measured.

import { severities, symbols, plural } from './loss.js';

const lineHeight = 18; // as in style.css
const overscan = 12; // lines above and below the view
const maxTokens = 2000; // longer lines are rendered in chunks, as far as they are in view
const chunk = 400; // characters
const maxInserted = 500; // lines that insertText inserts
const padding = 6; // above the first line, in pixels

// A mark is {from, to, severity, items, enclosing}: a range of the text, its most severe item, and
// the items for which it is there. The range of an enclosing mark contains the place of something
// that the text does not have.

export class Editor {
  // options: label, readOnly, syntax ('json', 'stream' or 'events'), tooltip, onInput(), onPaste(text), onPasted(),
  // onSelect(items), onPoint(offset).
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.syntax = options.syntax ?? 'json';
    this.wrap = false;
    this.text = '';
    this.starts = [0];
    this.marks = [];
    this.shades = [];
    this.selected = new Set();
    this.lines = new Map(); // number -> {line, row, version}
    this.marked = new Map(); // number of a line -> marks that begin there
    this.version = 0;
    this.active = -1; // line whose gutter button is in the tab order
    this.spans = new WeakMap(); // span -> marks
    this.build();
  }

  build() {
    const el = (name, tag = 'div') => {
      const e = document.createElement(tag);
      e.className = name;
      return e;
    };
    this.root.classList.add('ed');
    this.size = el('ed-size');
    this.gutter = el('ed-gutter');
    this.gutter.setAttribute('role', 'toolbar');
    this.gutter.setAttribute('aria-orientation', 'vertical');
    this.body = el('ed-body');
    this.back = el('ed-back');
    this.back.setAttribute('aria-hidden', 'true');
    this.area = el('ed-text', 'textarea');
    Object.assign(this.area, { spellcheck: false, wrap: 'off', autocomplete: 'off', readOnly: !!this.options.readOnly });
    this.area.setAttribute('autocapitalize', 'off');
    this.area.setAttribute('autocorrect', 'off');
    this.label = this.options.label;
    this.body.append(this.back, this.area);
    this.size.append(this.gutter, this.body);
    this.root.append(this.size);

    this.root.addEventListener('scroll', () => this.render(), { passive: true });
    new ResizeObserver(() => this.invalidate(true)).observe(this.root);
    this.area.addEventListener('input', () => this.edited());
    this.area.addEventListener('paste', (e) => this.pasted(e));
    this.area.addEventListener('mousemove', (e) => this.pointed(e));
    this.area.addEventListener('mouseleave', () => this.options.tooltip?.leave());
    this.area.addEventListener('click', (e) => this.clicked(e));
    if (!this.options.readOnly) this.area.addEventListener('keydown', (e) => this.paged(e));
    this.gutter.addEventListener('keydown', (e) => this.moved(e));
  }

  set label(text) {
    this.area.setAttribute('aria-label', text);
    this.gutter.setAttribute('aria-label', `Marks of: ${text}`);
  }

  // setText replaces the text and removes all marks. With keep the view stays where it is.
  setText(text, keep) {
    this.text = lines(text);
    this.area.value = this.text;
    this.area.setSelectionRange(0, 0);
    this.marks = [];
    this.shades = [];
    this.selected = new Set();
    this.changed();
    if (!keep) this.root.scrollTop = this.root.scrollLeft = 0;
  }

  // setSyntax selects the colours of the text.
  setSyntax(syntax) {
    if (syntax === this.syntax) return;
    this.syntax = syntax;
    this.drop();
    this.invalidate(true);
  }

  // setWrap chooses whether long lines continue on the next row.
  setWrap(wrap) {
    if (wrap === this.wrap) return;
    this.wrap = wrap;
    this.root.classList.toggle('wrap', wrap);
    this.area.wrap = wrap ? 'soft' : 'off';
    this.drop();
    this.invalidate(true);
  }

  // replace replaces the whole text as if it had been typed, so that it can be undone, and shows its beginning.
  replace(text) {
    const { area } = this;
    const result = lines(text);
    area.focus();
    area.select();
    // No other calls keep the undo history. Chromium needs a minute for insertText with 10,000 lines, and its
    // insertHTML adds a line break after an undo. Firefox has insertHTML only outside of text fields.
    const html = result.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const long = result.split('\n', maxInserted).length === maxInserted;
    if (!long || !document.execCommand('insertHTML', false, html)) document.execCommand('insertText', false, result);
    if (area.value !== result) {
      area.value = result;
      this.edited();
    }
    // The browser scrolls to the cursor, also later. At the end of a long line the text would look empty.
    area.setSelectionRange(0, 0);
    this.flush();
    this.root.scrollTop = this.root.scrollLeft = 0;
  }

  setMarks(marks) {
    this.marks = marks.filter((m) => m.to >= m.from).sort((a, b) => a.from - b.from || b.to - a.to);
    this.indexMarks();
    this.invalidate();
  }

  // setShades sets classes of ranges: [{from, to, name}].
  setShades(shades) {
    this.shades = shades;
    this.invalidate();
  }

  setSelected(items) {
    this.selected = items;
    this.invalidate();
  }

  // reveal scrolls to a range if it is not in view.
  reveal(from, to, smooth = true) {
    this.flush();
    const first = this.lineAt(from);
    const last = this.lineAt(Math.max(from, to - 1));
    const column = from - this.starts[first];
    const top = this.top(first) + (this.wrap ? Math.floor(column / this.fit) * lineHeight : 0);
    const height = Math.min(this.top(last + 1) - top, this.root.clientHeight / 2);
    const view = this.root.scrollTop;
    const target = {};
    if (top < view + lineHeight || top + height > view + this.root.clientHeight - lineHeight) {
      target.top = Math.max(0, top - this.root.clientHeight / 3);
    }
    const x = this.wrap ? 0 : this.x(first, column);
    const wide = this.root.clientWidth - this.gutter.offsetWidth;
    if (x < this.root.scrollLeft || x > this.root.scrollLeft + wide - 40) target.left = Math.max(0, x - wide / 3);
    if ('top' in target || 'left' in target) {
      this.root.scrollTo({ ...target, behavior: smooth && !matchMedia('(prefers-reduced-motion: reduce)').matches ? 'smooth' : 'instant' });
    }
  }

  // edited reads the text after a change by the user and moves the marks with it.
  edited() {
    const text = this.area.value;
    const delta = text.length - this.text.length;
    const at = this.area.selectionEnd - Math.max(delta, 0);
    for (const r of [...this.marks, ...this.shades]) {
      if (r.from >= at) r.from = Math.max(at, r.from + delta);
      if (r.to > at) r.to = Math.max(r.from, at, r.to + delta);
    }
    this.text = text;
    this.changed();
    // The browser has scrolled to the cursor, but only as far as the text was wide before.
    if (Math.abs(delta) > 1) this.reveal(this.area.selectionEnd, this.area.selectionEnd, false);
    this.options.onInput?.();
  }

  // pasted replaces the whole text if the user has selected it. Other pastes are left to the browser.
  pasted(e) {
    const text = e.clipboardData?.getData('text/plain');
    const whole = this.area.selectionEnd - this.area.selectionStart >= this.text.trimEnd().length;
    if (!text || !whole || this.options.readOnly) return;
    e.preventDefault();
    this.take(text);
  }

  // take replaces the whole text by one from the clipboard or a file.
  take(text) {
    this.replace(this.options.onPaste?.(text) ?? text);
    this.options.onPasted?.();
  }

  // changed finds the lines of the text.
  changed() {
    const { text } = this;
    const starts = [0];
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
    this.starts = starts;
    this.widths = new Map();
    this.measureFont();
    let most = 0;
    const plain = !/[^\n\x20-\x7e]/.test(text);
    for (let i = 0; i < starts.length; i++) {
      const length = (starts[i + 1] ?? text.length + 1) - 1 - starts[i];
      if (plain) {
        most = Math.max(most, length);
      } else if (length * 4 > most) {
        // A character of another script or a tab has the width of at most four.
        const other = this.line(i).replace(/[\x20-\x7e]/g, '');
        most = Math.max(most, length + other.length + 2 * (other.split('\t').length - 1));
      }
    }
    this.columns = most;
    this.fit = 0;
    this.indexMarks();
    this.invalidate(true);
  }

  indexMarks() {
    this.marked.clear();
    for (const m of this.marks) {
      const line = this.lineAt(Math.min(m.from, this.text.length));
      if (this.marked.has(line)) this.marked.get(line).push(m);
      else this.marked.set(line, [m]);
    }
    if (!this.marked.has(this.active)) this.active = -1;
  }

  measureFont() {
    if (this.charWidth) return;
    const style = getComputedStyle(this.area);
    context.font = this.font = `${style.fontSize} ${style.fontFamily}`;
    this.charWidth = context.measureText('0'.repeat(100)).width / 100;
  }

  resize() {
    const digits = String(this.starts.length).length;
    this.gutter.style.width = `${Math.ceil(Math.max(2, digits) * 6.6) + 31}px`;
    const gutter = this.gutter.offsetWidth;
    const room = this.root.clientWidth - gutter;
    if (!room) return;
    this.wrapLines(room);
    const width = this.wrap ? room : Math.max(Math.ceil(this.columns * this.charWidth) + 24, room);
    const height = Math.max(this.top(this.starts.length) + padding + lineHeight, this.root.clientHeight);
    this.size.style.width = `${width + gutter}px`;
    this.size.style.height = `${height}px`;
    this.sized = true;
  }

  // wrapLines computes the rows of lines that are wrapped in this width.
  wrapLines(room) {
    if (!this.wrap) {
      this.rows = undefined;
      this.body.style.removeProperty('--fit');
      return;
    }
    const fit = Math.max(8, Math.floor((room - 16) / this.charWidth));
    if (fit === this.fit && this.rows) return;
    this.fit = fit;
    // The half character keeps rounding from changing where lines break.
    const width = (fit + 0.5) * this.charWidth;
    this.body.style.setProperty('--fit', `${width}px`);
    this.rows = [0]; // before each line
    for (let i = 0; i < this.starts.length; i++) {
      const length = (this.starts[i + 1] ?? this.text.length + 1) - 1 - this.starts[i];
      const rows = length < fit / 2 || !/[^\x20-\x7e]/.test(this.line(i)) ? Math.ceil(length / fit) : this.measureRows(this.line(i));
      this.rows.push(this.rows[i] + Math.max(1, rows));
    }
    this.drop();
  }

  measureRows(text) {
    const probe = document.createElement('div');
    probe.className = 'ed-line';
    probe.textContent = text;
    this.back.append(probe);
    const rows = Math.round(probe.scrollHeight / lineHeight);
    probe.remove();
    return rows;
  }

  // drop removes the elements of all lines.
  drop() {
    for (const { line, row } of this.lines.values()) {
      line.remove();
      row.remove();
    }
    this.lines.clear();
  }

  // top returns the distance of a line from the top of the text, in pixels.
  top(n) {
    return padding + (this.rows ? this.rows[n] : n) * lineHeight;
  }

  // lineAtHeight returns the number of the line at a distance from the top of the text.
  lineAtHeight(y) {
    const row = Math.max(0, Math.floor((y - padding) / lineHeight));
    const last = this.starts.length - 1;
    if (!this.rows) return Math.min(row, last);
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rows[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // invalidate renders all lines in view again, soon. With size it computes the size of the text, too.
  invalidate(size) {
    this.version++;
    this.sized = this.sized && !size;
    if (this.invalid) return;
    this.invalid = true;
    queueMicrotask(() => this.flush());
  }

  flush() {
    if (!this.invalid) return;
    if (!this.sized) this.resize();
    this.invalid = false;
    this.render();
  }

  render() {
    // Read once: reading after a change of an element makes the browser compute the layout.
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.root;
    if (!clientHeight) return;
    this.view = { scrollLeft, scrollTop, clientWidth, clientHeight };
    const seen = this.lineAtHeight(scrollTop);
    const unseen = this.lineAtHeight(scrollTop + clientHeight) + 1;
    const first = Math.max(0, seen - overscan);
    const last = Math.min(this.starts.length, unseen + overscan);
    this.chooseActive(seen, unseen);
    for (const [n, entry] of this.lines) {
      if ((n < first || n >= last) && n !== this.active) {
        entry.line.remove();
        entry.row.remove();
        this.lines.delete(n);
      }
    }
    const from = this.starts[first];
    const to = this.starts[last] ?? this.text.length + 1;
    const touches = (r) => r.from < to && r.to >= from;
    this.near = { first, last, marks: this.marks.filter(touches), shades: this.shades.filter(touches) };
    for (let n = first; n < last; n++) this.renderLine(n);
    if (this.active >= 0 && (this.active < first || this.active >= last)) this.renderLine(this.active);
  }

  // chooseActive chooses the gutter button that the Tab key reaches: the first in view.
  chooseActive(first, last) {
    if (this.gutter.contains(document.activeElement)) return;
    if (this.active >= first && this.active < last) return;
    let best = -1;
    for (const n of this.marked.keys()) {
      if (best < 0 || (n >= first && (n < best || best < first))) best = n;
    }
    if (best === this.active) return;
    const before = this.lines.get(this.active);
    this.active = best;
    before?.button?.setAttribute('tabindex', '-1');
    this.lines.get(best)?.button?.setAttribute('tabindex', '0');
  }

  line(n) {
    return this.text.slice(this.starts[n], (this.starts[n + 1] ?? this.text.length + 1) - 1);
  }

  // lineAt returns the number of the line that contains an offset.
  lineAt(offset) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  renderLine(n) {
    const start = this.starts[n];
    const text = this.line(n);
    const long = text.length > maxTokens;
    let entry = this.lines.get(n);
    const { scrollLeft, scrollTop } = this.view;
    if (entry && entry.version === this.version && !(long && (entry.left !== scrollLeft || entry.above !== scrollTop))) return;
    if (!entry) {
      entry = { line: document.createElement('div'), row: document.createElement('div') };
      entry.line.className = 'ed-line';
      entry.number = document.createElement('span');
      entry.number.textContent = n + 1;
      entry.number.setAttribute('aria-hidden', 'true');
      entry.row.append(entry.number);
      entry.row.className = 'ed-row';
      const top = `${this.top(n)}px`;
      const height = `${this.top(n + 1) - this.top(n)}px`;
      Object.assign(entry.line.style, { top, height });
      Object.assign(entry.row.style, { top, height });
      this.back.append(entry.line);
      this.gutter.append(entry.row);
      this.lines.set(n, entry);
    }
    entry.version = this.version;
    entry.left = scrollLeft;
    entry.above = scrollTop;
    const end = start + text.length;
    const touches = (r) => r.from <= end && r.to >= start && (r.to > r.from || r.from >= start) && !(r.to === start && r.from < start);
    const marks = this.near.marks.filter(touches).filter((m) => !m.enclosing || m.from >= start);
    const shades = this.near.shades.filter(touches);
    entry.line.replaceChildren(...(long ? this.chunks(n, text, marks, shades) : this.segments(text, start, tokens(text, this.syntax), marks, shades)));
    entry.line.className = `ed-line ${shades.filter((s) => s.line).map((s) => s.name).join(' ')}`;
    this.renderRow(n, entry, marks.filter((m) => !m.enclosing && m.from < start), shades);
  }

  // chunks renders the part of a long line that is in view.
  chunks(n, text, marks, shades) {
    if (this.wrap) return this.wrappedChunks(n, text, marks, shades);
    const { scrollLeft, clientWidth } = this.view;
    const start = this.starts[n];
    const head = tokens(text.slice(0, chunk), this.syntax);
    const rest = text[head.at(-1)?.from] === '"' ? 'string' : '';
    const result = [];
    for (let i = 0; i * chunk < text.length; i++) {
      const x = this.x(n, i * chunk);
      if (x > scrollLeft + 2 * clientWidth) break;
      if (this.x(n, Math.min(text.length, (i + 1) * chunk)) < scrollLeft - clientWidth) continue;
      const piece = text.slice(i * chunk, (i + 1) * chunk);
      const holder = document.createElement('span');
      holder.className = 'ed-chunk';
      holder.style.left = `${x}px`;
      holder.append(...this.segments(piece, start + i * chunk, i ? [{ from: 0, name: rest }] : head, marks, shades));
      result.push(holder);
    }
    return result;
  }

  // wrappedChunks is chunks for a line that is wrapped. Each chunk has some rows of it.
  wrappedChunks(n, text, marks, shades) {
    const start = this.starts[n];
    const { scrollTop, clientHeight } = this.view;
    if (/[^\x20-\x7e]/.test(text)) return this.segments(text, start, tokens(text.slice(0, chunk), this.syntax), marks, shades);
    const rows = 20;
    const length = rows * this.fit;
    const head = tokens(text.slice(0, length), this.syntax);
    const rest = text[head.at(-1)?.from] === '"' ? 'string' : '';
    const result = [];
    for (let i = 0; i * length < text.length; i++) {
      const top = this.top(n) + i * rows * lineHeight;
      if (top > scrollTop + 2 * clientHeight) break;
      if (top + rows * lineHeight < scrollTop - clientHeight) continue;
      const holder = document.createElement('span');
      holder.className = 'ed-chunk';
      holder.style.top = `${i * rows * lineHeight}px`;
      holder.append(...this.segments(text.slice(i * length, (i + 1) * length), start + i * length, i ? [{ from: 0, name: rest }] : head, marks, shades));
      result.push(holder);
    }
    return result;
  }

  // x returns the distance of a character from the start of its line, in pixels.
  x(n, column) {
    let widths = this.widths.get(n);
    if (!widths) {
      const text = this.line(n);
      widths = /[^\x20-\x7e]/.test(text) ? { text, sums: [0] } : {};
      this.widths.set(n, widths);
    }
    if (!widths.sums) return column * this.charWidth;
    context.font = this.font;
    const { text, sums } = widths;
    const width = (from, to) => context.measureText(text.slice(from, to).replaceAll('\t', '    ')).width;
    const whole = Math.floor(column / chunk);
    while (sums.length <= whole) sums.push(sums.at(-1) + width((sums.length - 1) * chunk, sums.length * chunk));
    return sums[whole] + (column > whole * chunk ? width(whole * chunk, column) : 0);
  }

  // segments returns the spans of a piece of a line.
  segments(text, start, list, marks, shades) {
    const end = start + text.length;
    const cuts = new Set(list.map((t) => start + t.from));
    const indent = start + (/^ */.exec(text)?.[0].length ?? 0);
    const ranges = [...marks.map((m) => ({ m, from: m.from < start ? indent : m.from, to: m.to })), ...shades.map((s) => ({ s, from: s.from, to: s.to }))];
    for (const r of ranges) {
      if (r.m && r.to === r.from) r.to = r.from + 1; // an empty range is visible
      for (const x of [r.from, r.to]) if (x > start && x < end) cuts.add(x);
    }
    cuts.add(start);
    const offsets = [...cuts].filter((x) => x < end).sort((a, b) => a - b);
    const result = [];
    let token = 0;
    offsets.forEach((from, i) => {
      const to = offsets[i + 1] ?? end;
      while (token + 1 < list.length && start + list[token + 1].from <= from) token++;
      const inside = ranges.filter((r) => r.from < to && r.to > from);
      result.push(this.span(text.slice(from - start, to - start), list[token]?.name ?? '', inside, start));
    });
    // A mark after the last character, such as a violation at the end of the text.
    const last = end >= this.text.length || this.text[end] === '\n'; // of the pieces of the line
    const after = last ? ranges.filter((r) => r.m && r.from >= end) : [];
    if (after.length) result.push(this.span(' ', '', after, start));
    return result;
  }

  span(text, name, ranges, start) {
    const span = document.createElement('span');
    span.textContent = text;
    const names = name ? [`t-${name}`] : [];
    const marks = ranges.filter((r) => r.m).map((r) => r.m);
    if (marks.length) {
      const isSelected = (m) => m.items.some((i) => this.selected.has(i));
      const top = marks.toSorted((a, b) => isSelected(b) - isSelected(a) || severities.indexOf(a.severity) - severities.indexOf(b.severity) || a.to - a.from - (b.to - b.from))[0];
      names.push('mark', top.severity);
      if (top.from >= start) names.push('u'); // the first line of the mark
      if (isSelected(top)) names.push('selected');
      this.spans.set(span, marks);
    }
    for (const r of ranges) if (r.s && !r.s.line) names.push(r.s.name);
    span.className = names.join(' ');
    return span;
  }

  // renderRow renders the gutter of a line. Marks that began above it are a bar.
  renderRow(n, entry, above, shades) {
    const begin = this.marked.get(n);
    const bars = [...above, ...(begin ?? []).filter((m) => !m.enclosing && m.to > (this.starts[n + 1] ?? Infinity))];
    const bar = severities.find((s) => bars.some((m) => m.severity === s));
    const current = shades.find((s) => s.row)?.row;
    entry.row.className = `ed-row${bar ? ` bar ${bar}` : ''}${current ? ` ${current}` : ''}`;
    if (!begin) {
      entry.button?.remove();
      entry.button = undefined;
      return;
    }
    const items = begin.flatMap((m) => m.items);
    const severity = severities.find((s) => begin.some((m) => m.severity === s));
    if (!entry.button) {
      const b = document.createElement('button');
      b.type = 'button';
      b.addEventListener('click', () => this.chosen(n));
      b.addEventListener('mouseenter', () => this.showTip(n, b));
      b.addEventListener('mouseleave', () => this.options.tooltip?.leave());
      b.addEventListener('focus', () => {
        this.setActive(n);
        if (b.matches(':focus-visible')) this.showTip(n, b, true);
      });
      b.addEventListener('blur', () => this.options.tooltip?.hide());
      entry.row.append(b);
      entry.button = b;
    }
    const b = entry.button;
    b.tabIndex = n === this.active ? 0 : -1;
    b.className = `sym ${severity}${items.some((i) => this.selected.has(i)) ? ' selected' : ''}`;
    b.textContent = symbols[severity];
    const noun = begin.every((m) => m.severity === 'violation') ? 'violation' : 'loss';
    b.setAttribute('aria-label', `Line ${n + 1}: ${plural(items.length, noun)}, ${severity}`);
  }

  setActive(n) {
    if (n === this.active) return;
    this.lines.get(this.active)?.button?.setAttribute('tabindex', '-1');
    this.active = n;
    this.lines.get(n)?.button?.setAttribute('tabindex', '0');
  }

  // moved moves between the buttons of the gutter, also to those out of view.
  moved(e) {
    const all = [...this.marked.keys()].sort((a, b) => a - b);
    const at = all.indexOf(this.active);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const n = all[Math.max(0, Math.min(to, all.length - 1))];
    this.reveal(this.starts[n], this.starts[n], false);
    this.setActive(n);
    this.render();
    this.lines.get(n)?.button?.focus({ preventScroll: true });
  }

  // paged moves the cursor by a page. The text field does not know how much of it is in view.
  paged(e) {
    const by = { PageDown: 1, PageUp: -1 }[e.key];
    if (!by || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    const { area } = this;
    const back = area.selectionDirection === 'backward';
    const at = back ? area.selectionStart : area.selectionEnd;
    const other = back ? area.selectionEnd : area.selectionStart;
    const from = this.lineAt(at);
    const to = this.lineAtHeight(this.top(from) + by * (this.root.clientHeight - 2 * lineHeight));
    const next = this.starts[to] + Math.min(at - this.starts[from], this.line(to).length);
    const anchor = e.shiftKey ? other : next;
    area.setSelectionRange(Math.min(anchor, next), Math.max(anchor, next), next < anchor ? 'backward' : 'forward');
    this.reveal(next, next, false);
  }

  items(n) {
    return (this.marked.get(n) ?? []).flatMap((m) => m.items);
  }

  chosen(n) {
    this.options.onSelect?.(this.items(n));
  }

  showTip(n, anchor, now) {
    this.options.tooltip?.show(() => anchor.getBoundingClientRect(), this.items(n), anchor, now);
  }

  // hit returns the marked span at a point of the window.
  hit(e) {
    const n = this.lineAtHeight(e.clientY - this.back.getBoundingClientRect().top);
    const line = this.lines.get(n)?.line;
    const within = (r) => e.clientX >= r.left && e.clientX <= r.right && e.clientY >= r.top && e.clientY <= r.bottom;
    return [...(line?.querySelectorAll('.mark') ?? [])].find((span) => [...span.getClientRects()].some(within));
  }

  pointed(e) {
    if (!this.marks.length || e.buttons) return;
    const span = this.hit(e);
    if (!span) {
      this.options.tooltip?.leave();
      return;
    }
    const items = [...new Set(this.spans.get(span).flatMap((m) => m.items))];
    this.options.tooltip?.show(() => span.getBoundingClientRect(), items, this.area);
  }

  clicked(e) {
    if (this.area.selectionStart !== this.area.selectionEnd) return;
    const span = this.hit(e);
    if (span) {
      const marks = this.spans.get(span);
      const least = Math.min(...marks.map((m) => m.to - m.from));
      this.options.onSelect?.(marks.filter((m) => m.to - m.from === least).flatMap((m) => m.items));
    }
    this.options.onPoint?.(this.area.selectionStart);
  }
}

// lines returns a text with the line breaks that a text field has.
export const lines = (text) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

const context = document.createElement('canvas').getContext('2d');

const json = /"(?:[^"\\]|\\.)*"?(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|[{}[\],:]+|[^"{}[\],:\d-]+|-/g;

// tokens returns the tokens of a line: [{from, name}], in order.
function tokens(line, syntax) {
  const list = [];
  let at = 0;
  if (syntax === 'events') {
    const name = /^\S+ */.exec(line)?.[0].length ?? 0;
    return [{ from: 0, name: 'key' }, { from: name, name: 'punctuation' }, { from: name + (/^[^"]*/.exec(line.slice(name))[0].length), name: 'string' }];
  }
  if (syntax === 'stream') {
    const field = /^(?:data|event|id|retry)?:/.exec(line);
    if (!field) return [{ from: 0, name: '' }];
    at = field[0].length;
    list.push({ from: 0, name: 'key' });
    if (field[0] !== 'data:') return [...list, { from: at, name: 'literal' }];
  }
  json.lastIndex = at;
  for (let m = json.exec(line); m; m = json.exec(line)) {
    const c = m[0][0];
    let name = 'punctuation';
    if (m[1] !== undefined) {
      list.push({ from: m.index, name: 'key' });
      list.push({ from: m.index + m[0].length - m[1].length, name });
      continue;
    }
    if (c === '"') name = 'string';
    else if (/[-\d]/.test(c) || /^(?:true|false|null)/.test(m[0])) name = 'literal';
    else if (/^\w/.test(c)) name = '';
    list.push({ from: m.index, name });
  }
  return list;
}
