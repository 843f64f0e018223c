// The steps of a stream: one event of the vendor each, with the neutral events and the outputs so far.

import { lines } from './editor.js';
import { marksOf } from './loss.js';

const $ = (id) => document.getElementById(id);

// blockless are the kinds of events that belong to no block.
const blockless = new Set(['Start', 'Usage', 'Stop', 'Loss', 'Extra']);

// eventText returns a neutral event as a line.
export function eventText(e) {
  const kind = e.kind.replace(/^Event/, '');
  const block = blockless.has(kind) ? '' : `${e.block ?? ''}`;
  return [kind.padEnd(9), block.padEnd(1), e.text ? JSON.stringify(e.text) : '', e.detail ?? ''].filter(Boolean).join(' ').trimEnd();
}

export class Stepper {
  // options: input and events (editors), shownTargets().
  constructor(options) {
    this.options = options;
    this.slider = $('step');
    this.reset();
    this.slider.addEventListener('input', () => {
      this.pause();
      this.goTo(Number(this.slider.value));
    });
    $('previous').addEventListener('click', () => this.move(-1));
    $('next').addEventListener('click', () => this.move(1));
    $('play').addEventListener('click', () => (this.timer ? this.pause() : this.play()));
  }

  reset() {
    this.pause();
    this.steps = [];
    this.at = undefined;
  }

  // show takes over a translated stream. It keeps the position if it can.
  show(result, targets, items) {
    this.result = result;
    this.steps = result.steps ?? [];
    this.items = items;
    this.eventLines = []; // neutral events
    this.lineEnds = []; // number of lines after each step
    for (const s of this.steps) {
      this.eventLines.push(...(s.events ?? []).map(eventText));
      this.lineEnds.push(this.eventLines.length);
    }
    this.eventOffsets = [0];
    for (const l of this.eventLines) this.eventOffsets.push(this.eventOffsets.at(-1) + l.length + 1);
    const end = result.end ?? [];
    this.hasEnd = !!result.error || end.some(Boolean);
    this.outputs = targets.map((target, i) => {
      const pieces = [...this.steps.map((s) => s.outputs?.[i] ?? ''), ...(this.hasEnd ? [end[i] ?? ''] : [])].map(lines);
      const ends = [];
      let length = 0;
      for (const p of pieces) ends.push((length += p.length));
      return { target, text: pieces.join(''), ends };
    });
    for (const { target, ends } of this.outputs) {
      for (const i of items) {
        if (i.owner !== target) continue;
        const range = { from: i.step ? ends[i.step - 1] : 0, to: ends[i.step] };
        i.output = range.to > range.from ? [range] : [];
        i.enclosing = true;
      }
    }
    this.last = Math.max(0, this.steps.length - (this.hasEnd ? 0 : 1));
    this.slider.max = String(this.last);
    for (const id of ['previous', 'play', 'next', 'step']) $(id).disabled = this.last === 0;
    // The first event alone is often empty.
    const first = this.steps.findIndex((s) => s.outputs?.some(Boolean));
    this.goTo(Math.min(this.at ?? Math.max(0, first), this.last));
  }

  move(by) {
    this.pause();
    this.goTo(this.at + by);
  }

  // key moves by the arrow keys.
  key(e) {
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.last }[e.key];
    if (to === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    this.pause();
    this.goTo(to);
  }

  // goTo shows the state after a step.
  goTo(step) {
    if (!this.result) return;
    this.at = Math.max(0, Math.min(step, this.last));
    const s = this.steps[this.at];
    this.slider.value = String(this.at);
    const name = s ? `Event ${this.at + 1} of ${this.steps.length}` : 'End of the stream';
    $('stepname').textContent = this.steps.length ? name : 'No events';
    this.slider.setAttribute('aria-valuetext', name);
    this.showInput(s);
    this.showEvents();
    for (const o of this.outputs) this.showOutput(o);
    if (this.at === this.last) this.pause();
  }

  showInput(s) {
    const { input } = this.options;
    if (!s) {
      input.setShades([]);
      return;
    }
    // The range of an event may include the empty line after it.
    const to = s.from + input.text.slice(s.from, s.to).trimEnd().length;
    input.setShades([{ from: s.from, to, name: 'now', line: true, row: 'now' }]);
    if (document.activeElement !== input.area) input.reveal(s.from, to, false);
  }

  showEvents() {
    const { events } = this.options;
    const before = this.at ? (this.lineEnds[this.at - 1] ?? this.eventLines.length) : 0;
    const shown = this.eventLines.slice(0, this.lineEnds[this.at] ?? this.eventLines.length);
    events.setText(shown.join('\n'), true);
    const from = this.eventOffsets[before];
    const shades = before ? [{ from: 0, to: from, name: 'past', line: true }] : [];
    if (shown.length > before) shades.push({ from, to: events.text.length + 1, name: 'now', line: true, row: 'now' });
    events.setShades(shades);
    events.reveal(Math.max(0, events.text.length - 1), events.text.length, false);
    events.reveal(Math.min(from, events.text.length), events.text.length, false);
  }

  showOutput({ target, text, ends }) {
    const to = ends[this.at] ?? 0;
    const from = this.at ? ends[this.at - 1] : 0;
    const losses = this.items.filter((i) => i.owner === target && i.step <= this.at);
    target.show({ text: text.slice(0, to), losses }, true);
    target.editor.setMarks(marksOf(losses, (i) => i.output.map((r) => ({ ...r, enclosing: true }))));
    target.editor.setShades(to > from ? [{ from, to, name: 'new' }] : []);
    if (to > from) {
      target.editor.reveal(to - 1, to, false);
      target.editor.reveal(from, to, false);
    }
  }

  play() {
    if (this.at === this.last) this.goTo(0);
    const pause = Math.max(60, Math.min(420, 12000 / (this.last + 1)));
    this.timer = setInterval(() => this.goTo(this.at + 1), pause);
    this.showPlaying();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.showPlaying();
  }

  showPlaying() {
    const label = this.timer ? 'Pause' : 'Play';
    $('play').setAttribute('aria-label', label);
    $('play').title = label;
    $('play').classList.toggle('playing', !!this.timer);
  }

  goToInput(offset) {
    const n = this.steps.findIndex((s) => offset >= s.from && offset <= s.to);
    if (n >= 0 && n !== this.at) this.move(n - this.at);
  }

  goToEvent(offset) {
    const line = this.eventOffsets.findLastIndex((x) => x <= offset);
    const n = this.lineEnds.findIndex((end) => line < end);
    if (n >= 0 && n !== this.at) this.move(n - this.at);
  }

  goToOutput(target, offset) {
    const n = this.outputs.find((o) => o.target === target)?.ends.findIndex((end) => offset < end) ?? -1;
    if (n >= 0 && n !== this.at) this.move(n - this.at);
  }
}
