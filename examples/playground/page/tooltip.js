// The tooltip with the reasons of marks. It opens by pointer and by keyboard focus, can be entered
// with the pointer, and closes with Escape.

import { pathElement, symbol } from './loss.js';

const most = 6; // items

export class Tooltip {
  constructor(element) {
    this.element = element;
    element.addEventListener('mouseenter', () => clearTimeout(this.timer));
    element.addEventListener('mouseleave', () => this.leave());
    addEventListener('scroll', () => this.scrolled(), { capture: true, passive: true });
    addEventListener('resize', () => this.hide());
  }

  get open() {
    return !this.element.hidden;
  }

  // show opens the tooltip for items at a place: after a moment, or now.
  show(place, items, owner, now) {
    if (!items.length) return;
    const same = this.shown && this.shown.length === items.length && this.shown.every((x, i) => x === items[i]);
    clearTimeout(this.timer);
    if (this.open && same && this.owner === owner) return;
    this.focused = now && { place, items, owner };
    this.timer = setTimeout(() => this.present(place(), items, owner), now || this.open ? 0 : 120);
  }

  // leave closes the tooltip unless the pointer enters it soon.
  leave() {
    clearTimeout(this.timer);
    if (this.open) this.timer = setTimeout(() => this.hide(), 180);
  }

  // scrolled closes the tooltip, or moves it if it is that of the element with the keyboard focus:
  // moving the focus scrolls.
  scrolled() {
    const { focused } = this;
    if (!focused || document.activeElement !== focused.owner) return this.hide();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.present(focused.place(), focused.items, focused.owner));
  }

  hide() {
    this.focused = undefined;
    this.close();
  }

  close() {
    clearTimeout(this.timer);
    if (!this.open) return;
    this.element.hidden = true;
    this.owner?.removeAttribute('aria-describedby');
    this.owner = this.shown = undefined;
  }

  present(rect, items, owner) {
    this.close();
    const { element } = this;
    const entries = merge(items);
    element.replaceChildren(...entries.slice(0, most).map(describe));
    if (entries.length > most) {
      const more = document.createElement('p');
      more.className = 'more';
      more.textContent = `and ${entries.length - most} more`;
      element.append(more);
    }
    element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = Math.max(8, Math.min(rect.left, innerWidth - width - 8));
    const below = rect.bottom + 6;
    element.style.left = `${left}px`;
    element.style.top = `${below + height > innerHeight - 4 ? Math.max(4, rect.top - height - 6) : below}px`;
    this.shown = items;
    this.owner = owner;
    owner.setAttribute('aria-describedby', element.id);
  }
}

// merge joins items that differ only in the target.
function merge(items) {
  const entries = new Map();
  for (const i of items) {
    const key = [i.severity, i.path, i.reason, i.note ?? ''].join('\n');
    if (!entries.has(key)) entries.set(key, { ...i, targets: [] });
    if (i.target) entries.get(key).targets.push(i.target);
  }
  return [...entries.values()];
}

function describe(item) {
  const entry = document.createElement('div');
  entry.className = 'entry';
  const head = document.createElement('p');
  head.className = 'head';
  const name = document.createElement('b');
  name.textContent = item.severity;
  head.append(symbol(item.severity), name);
  if (item.targets.length) head.append(` for ${item.targets.join(', ')}`);
  if (item.path) head.append(pathElement(item.path));
  const reason = document.createElement('p');
  reason.textContent = item.reason;
  entry.append(head, reason);
  if (item.note) {
    const note = document.createElement('p');
    note.className = 'more';
    note.textContent = item.note;
    entry.append(note);
  }
  return entry;
}
