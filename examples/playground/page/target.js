// The pane of a target: its model, its losses and its document.

import { Editor } from './editor.js';
import { counts, group, inWords, pathElement, plural, symbol, total } from './loss.js';
import { milliseconds, size } from './text.js';

const shownPlaces = 8; // of one reason

// A LossList shows items by reason, with a button for each place.
export class LossList {
  // options: onSelect(items), name(item).
  constructor(details, options) {
    this.details = details;
    this.summary = details.querySelector('summary');
    this.list = details.querySelector('.list');
    this.options = options;
    this.buttons = new Map(); // item -> button
  }

  set(items) {
    this.buttons.clear();
    this.details.hidden = !items.length;
    this.summary.replaceChildren(total(items), ...counts(items).map(([severity, phrase]) => {
      const count = document.createElement('span');
      count.className = 'count';
      count.append(symbol(severity), phrase);
      return count;
    }));
    this.list.replaceChildren(...group(items).map((g) => this.group(g)));
  }

  group(items) {
    const entry = document.createElement('div');
    entry.className = 'entry';
    const reason = document.createElement('p');
    const what = document.createElement('span');
    what.className = 'hidden';
    what.textContent = `${items[0].severity}: `;
    reason.append(symbol(items[0].severity), what, items[0].reason);
    if (items[0].line) {
      const link = document.createElement('a');
      Object.assign(link, { className: 'why', href: `losses.html#L${items[0].line}`, target: '_blank', textContent: 'docs' });
      link.setAttribute('aria-label', `docs: ${items[0].reason}`);
      reason.append(link);
    }
    const places = document.createElement('div');
    places.className = 'places';
    places.append(...items.slice(0, shownPlaces).map((i) => this.button(i)));
    if (items.length > shownPlaces) {
      const more = document.createElement('button');
      more.type = 'button';
      more.className = 'more';
      more.textContent = `${items.length - shownPlaces} more`;
      more.addEventListener('click', () => {
        const rest = items.slice(shownPlaces).map((i) => this.button(i));
        more.replaceWith(...rest);
        rest[0].focus();
      });
      places.append(more);
    }
    entry.append(reason, places);
    return entry;
  }

  button(item) {
    const b = document.createElement('button');
    b.type = 'button';
    b.className = 'place';
    b.append(pathElement(item.path || 'document'));
    const name = this.options.name?.(item);
    if (name) b.append(` ${name}`);
    if (item.more) b.append(` and ${item.more.toLocaleString('en')} more`);
    if (item.note) {
      const note = document.createElement('i');
      note.textContent = item.note;
      b.append(note);
    }
    b.addEventListener('click', () => this.options.onSelect([item], this));
    this.buttons.set(item, b);
    return b;
  }

  // noteChanged renders the buttons of items again.
  noteChanged(items) {
    for (const i of items) {
      const b = this.buttons.get(i);
      if (b) b.replaceWith(this.button(i));
    }
  }

  setSelected(items, scroll) {
    let first;
    for (const [item, b] of this.buttons) {
      if (!items.has(item)) {
        b.removeAttribute('aria-current');
        continue;
      }
      b.setAttribute('aria-current', 'true');
      first ??= b;
    }
    if (!first || !scroll || !this.details.open) return;
    const top = first.offsetTop - this.list.offsetTop;
    if (top < this.list.scrollTop || top > this.list.scrollTop + this.list.clientHeight - 24) this.list.scrollTop = top - 30;
  }
}

export class Target {
  // options: format, tooltip, onSelect(items, origin), onModel(), onWiden(pane), onPoint(offset), name(item).
  constructor(options) {
    this.options = options;
    this.format = options.format;
    this.losses = [];
    const { name, title, model } = options.format;
    const pane = document.createElement('section');
    this.pane = pane;
    pane.className = 'pane target';
    pane.id = `target-${name}`;
    pane.dataset.title = title;
    pane.setAttribute('aria-labelledby', `title-${name}`);
    pane.innerHTML = `
      <header>
        <div class="row">
          <h2></h2>
          <button type="button" class="icon widen" aria-pressed="false"><svg viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="M1.5 8h13M4.5 5l-3 3 3 3M11.5 5l3 3-3 3"/></svg></button>
        </div>
        <div class="row">
          <label class="field model">Model <input type="text" spellcheck="false" autocomplete="off" autocapitalize="off"></label>
          <span class="meta"></span>
        </div>
        <div class="row copies"><button type="button" value="text">Copy</button><button type="button" value="curl">curl</button><button type="button" value="program">Go program</button></div>
        <p class="notice" hidden></p>
      </header>
      <details class="losses" open hidden><summary></summary><div class="list"></div></details>
      <div class="editor"></div>
      <p class="empty" hidden></p>`;
    this.heading = pane.querySelector('h2');
    this.heading.id = `title-${name}`;
    this.heading.textContent = title;
    this.meta = pane.querySelector('.meta');
    this.notice = pane.querySelector('.notice');
    this.empty = pane.querySelector('.empty');
    this.widen = pane.querySelector('.widen');
    this.widen.setAttribute('aria-label', `Widen ${title}`);
    this.widen.title = 'Widen';
    this.widen.addEventListener('click', () => options.onWiden(pane));
    this.modelInput = pane.querySelector('.model input');
    this.modelInput.value = model ?? '';
    this.modelInput.setAttribute('aria-label', `Model of ${title}`);
    this.modelInput.addEventListener('input', () => options.onModel());
    for (const b of pane.querySelectorAll('.copies button')) b.setAttribute('aria-label', b.value === 'text' ? `Copy ${title}` : `Copy ${title} as ${b.textContent}`);
    this.list = new LossList(pane.querySelector('.losses'), { onSelect: (items) => options.onSelect(items, this), name: options.name });
    this.editor = new Editor(pane.querySelector('.editor'), {
      label: `Document for ${title}`,
      readOnly: true,
      tooltip: options.tooltip,
      onSelect: (items) => options.onSelect(items, this.editor),
      onPoint: (at) => options.onPoint?.(at),
    });
  }

  get model() {
    return this.modelInput.value.trim();
  }

  setKind(kind) {
    const [first, second] = this.pane.querySelectorAll('.row');
    second.hidden = kind !== 'request';
    for (const b of this.pane.querySelectorAll('.copies [value]:not([value=text])')) b.hidden = second.hidden;
    if (second.hidden) first.insertBefore(this.meta, this.widen);
    else second.append(this.meta);
    this.editor.syntax = kind === 'stream' ? 'stream' : 'json';
  }

  // show presents an output: {text, losses, error, took, files}.
  show(output, keep) {
    this.pane.classList.remove('stale');
    this.setLosses(output.losses ?? []);
    this.setNotice(output);
    const text = output.text ?? '';
    this.meta.textContent = output.error ? '' : [size(text), milliseconds(output.took), this.losses.length ? '' : 'no losses'].filter(Boolean).join(' · ');
    this.setEmpty(output.error && !text ? 'No document: see the error above.' : '');
    if (text !== this.editor.text) this.editor.setText(text, keep);
  }

  setNotice({ error, files }) {
    const names = files?.length ? `The adapter would download ${plural(files.length, 'file')} first; the document has placeholders.` : '';
    this.notice.textContent = error ?? names;
    this.notice.classList.toggle('error', !!error);
    this.notice.hidden = !this.notice.textContent;
  }

  setEmpty(text) {
    this.empty.textContent = text;
    this.empty.hidden = !text;
    this.editor.root.hidden = !!text;
  }

  setLosses(losses) {
    this.losses = losses;
    this.list.set(losses);
  }

  // clear removes the output. The text explains why there is none.
  clear(text) {
    this.pane.classList.remove('stale');
    this.setLosses([]);
    this.setNotice({});
    this.meta.textContent = '';
    this.editor.setText('');
    this.setEmpty(text);
  }

  // setStale marks the output as that of an earlier input.
  setStale() {
    this.pane.classList.add('stale');
    this.meta.textContent = 'of the last valid input';
  }

  summary() {
    return `${this.format.title}: ${this.losses.length ? inWords(this.losses) : 'no losses'}`;
  }
}


