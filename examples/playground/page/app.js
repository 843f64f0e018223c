// The playground: an input at the left, and beside it what each target gets.

import { abort, call } from './api.js';
import { Editor } from './editor.js';
import { format as formatJSON, formatOneLine } from './json.js';
import { fromHash, toHash } from './link.js';
import { inWords, marksOf, plural } from './loss.js';
import { Panes } from './panes.js';
import { Stepper, eventText } from './stream.js';
import { LossList, Target } from './target.js';
import { milliseconds, size } from './text.js';
import { Tooltip } from './tooltip.js';

const typingPause = 150; // milliseconds

const $ = (id) => document.getElementById(id);

const state = {
  kind: 'request',
  format: 'messages',
  chosen: new Map(), // `${kind} ${target}` -> shown, if the visitor has chosen
  kept: new Map(), // kind -> {format, text, sample} while another kind is shown
  wrap: { request: false, response: false, stream: true },
  formats: [],
  samples: [],
  targets: new Map(), // name -> Target
  items: [], // violations and losses of the input and of all targets
};

const tooltip = new Tooltip($('tooltip'));
const panes = new Panes($('panes'));
$('input').dataset.weight = '1.15';
$('input').dataset.title = 'Input';

const input = new Editor($('input-editor'), {
  label: 'Input',
  tooltip,
  onInput: typed,
  onPasted: pasted,
  onPaste: formatOneLine,
  onSelect: (items) => select(items, input),
  onPoint: (at) => state.kind === 'stream' && stepper.goToInput(at),
});
const violations = new LossList($('violations'), { onSelect: (items) => select(items, violations) });
const events = eventPane();
const stepper = new Stepper({ input, events: events.editor, shownTargets });

function eventPane() {
  const pane = document.createElement('section');
  pane.className = 'pane';
  pane.id = 'events';
  pane.dataset.weight = '0.9';
  pane.dataset.title = 'Neutral events';
  pane.setAttribute('aria-labelledby', 'events-title');
  pane.innerHTML = '<header><div class="row"><h2 id="events-title">Neutral events</h2><span class="meta">the same for all formats</span></div></header><div class="editor"></div>';
  const editor = new Editor(pane.querySelector('.editor'), {
    label: 'Neutral events',
    readOnly: true,
    syntax: 'events',
    onPoint: (at) => state.kind === 'stream' && stepper.goToEvent(at),
  });
  return { pane, editor };
}

// Targets

const targetFormats = () => {
  const all = state.formats;
  // A document that passes unchanged is the least interesting one.
  return [...all.filter((f) => f.name !== state.format), ...all.filter((f) => f.name === state.format)];
};

const isShown = (f) => state.chosen.get(`${state.kind} ${f.name}`) ?? f.name !== state.format;

function shownTargets() {
  return targetFormats().filter(isShown).map((f) => target(f));
}

function target(f) {
  let t = state.targets.get(f.name);
  if (!t) {
    t = new Target({ format: f, tooltip, onSelect: select, onModel: typed, onWiden: (pane) => panes.widen(pane), name: nameOf, onPoint: (at) => state.kind === 'stream' && stepper.goToOutput(t, at) });
    state.targets.set(f.name, t);
    for (const b of t.pane.querySelectorAll('.copies button')) copyOn(b, async () => (b.value === 'text' ? t.editor.text : (await make(b.value, f.name, t.model))?.text), `${b.getAttribute('aria-label')}: copied.`);
  }
  return t;
}

// make returns a document that the server makes of the input for one target, or undefined if a newer call has
// replaced this one.
const make = (what, format, model = '') => call('make', `/api/${what}`, { format: state.format, text: input.text, targets: [{ format, model, url: '' }] });

// nameOf returns the name of the tool that an item is about.
function nameOf(item) {
  const range = /^tools\b/.test(item.path) ? item.input : undefined;
  if (!range) return '';
  return /"name"\s*:\s*"([^"\\]+)"/.exec(input.text.slice(range.from, Math.min(range.to, range.from + 2000)))?.[1] ?? '';
}

// layOut shows the panes of the kind and format, and the controls that belong to them.
function layOut() {
  const { kind } = state;
  document.body.dataset.kind = kind;
  $('kinds').querySelector(`[value=${kind}]`).checked = true;
  $('format').replaceChildren(...state.formats.map((f) => new Option(f.title, f.name, false, f.name === state.format)));
  $('targets').replaceChildren($('targets').querySelector('legend'), ...targetFormats().map(checkbox));
  $('tidy').hidden = kind === 'stream';
  $('send').hidden = kind !== 'request';
  $('stepper').hidden = kind !== 'stream';
  input.setSyntax(kind === 'stream' ? 'stream' : 'json');
  const shown = shownTargets();
  for (const t of shown) t.setKind(kind);
  showWrap();
  panes.set([$('input'), ...(kind === 'request' ? [] : [events.pane]), ...shown.map((t) => t.pane)]);
}

function showWrap() {
  const wrap = state.wrap[state.kind];
  $('wrap').checked = wrap;
  for (const e of [input, events.editor, ...shownTargets().map((t) => t.editor)]) e.setWrap(wrap);
}

function checkbox(f) {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.value = f.name;
  box.checked = isShown(f);
  label.append(box, f.short ?? f.title);
  if (state.kind === 'request' && f.name === state.format) label.title = 'The format of the input: passes unchanged, except the name of the model';
  box.addEventListener('change', () => {
    state.chosen.set(`${state.kind} ${f.name}`, box.checked);
    layOut();
    $('targets').querySelector(`[value="${f.name}"]`)?.focus();
    translate();
  });
  return label;
}

// Input

function listSamples() {
  const list = state.samples.filter((s) => s.kind === state.kind);
  $('sample').replaceChildren(...list.map((s) => new Option(s.title, s.id)));
  const own = new Option('your own input', '');
  own.hidden = true;
  $('sample').append(own);
  return list;
}

function loadSample(sample) {
  setInput({ kind: sample.kind, format: sample.format, text: sample.text, sample: sample.id });
}

function setInput({ kind, format, text, sample }) {
  state.kind = kind;
  state.format = format;
  lasting = ['', false];
  listSamples();
  $('sample').value = sample ?? '';
  layOut();
  input.setText(text);
  clearOutputs('');
  stepper.reset();
  translate();
}

// pasted translates an input that has replaced the whole text. Its kind and format are selected
// if the server recognizes them.
async function pasted() {
  stop();
  let found;
  try {
    found = await call('translate', '/api/recognize', { text: input.text });
    if (!found) return; // a newer call has replaced this one
  } catch (err) {
    warn(err.message);
  }
  if (found?.kind && (found.kind !== state.kind || found.format !== state.format)) {
    state.kind = found.kind;
    state.format = found.format;
    listSamples();
    layOut();
    clearOutputs('');
    stepper.reset();
  }
  $('sample').value = '';
  translate();
}

let lasting = ['', false]; // a notice that a translation does not remove, and whether it is an error
let typing; // timer
let since; // when the input has changed

// stop ends a translation that is under way: the input has changed.
function stop() {
  clearTimeout(typing);
  abort('translate');
  abort('places');
  document.body.dataset.state = 'translating';
  document.body.dataset.places = '';
}

function typed() {
  tooltip.hide();
  if (document.activeElement === input.area) $('sample').value = '';
  stop();
  lasting = ['', false];
  since = performance.now();
  typing = setTimeout(translate, typingPause);
}

function clearOutputs(text) {
  for (const t of state.targets.values()) t.clear(text);
  events.editor.setText('');
}

// Translation

async function translate() {
  stop();
  tooltip.hide();
  const started = performance.now();
  const changed = since ?? started;
  since = undefined;
  const { kind } = state;
  const shown = shownTargets();
  const body = {
    format: state.format,
    text: input.text,
    targets: shown.map((t) => ({ format: t.format.name, ...(kind === 'request' && { model: t.model, url: '' }) })),
  };
  let result;
  try {
    result = await call('translate', `/api/${kind}`, body);
  } catch (err) {
    notify(err.message, true);
    document.body.dataset.state = 'shown';
    return;
  }
  if (!result) return; // a newer call has replaced this one
  notify(...lasting);
  const server = ({ request: showRequest, response: showResponse, stream: showStream })[kind](result, shown, body);
  showStatus(result, performance.now() - started, server);
  announce(shown);
  document.body.dataset.state = 'shown';
  requestAnimationFrame(() => setTimeout(() => performance.measure('translate', { start: changed })));
}

// lossItem returns a loss as the page shows it.
const lossItem = (loss, target) => ({ ...loss, target: target?.format.title, owner: target, output: loss.output ? [loss.output] : [] });

const violationItem = (v, target) => ({ severity: 'violation', path: v.path, reason: v.text, target: target?.format.title, input: v.from === undefined || v.from === null ? null : { from: v.from, to: v.to } });

function showRequest(result, shown, body) {
  const found = showViolations(result, shown);
  const done = showOutputs(result, shown, found);
  if (done) places(shown, body);
  return took(result);
}

const took = (result) => (result.outputs ?? []).reduce((n, o) => n + (o.took ?? 0), 0);

// showViolations shows what is wrong with the input, and the losses of decoding it.
function showViolations(result, shown) {
  const items = (result.violations ?? []).map((v) => violationItem(v));
  (result.outputs ?? []).forEach((o, i) => items.push(...(o.violations ?? []).map((v) => violationItem(v, shown[i]))));
  if (items.length && result.moreViolations) items.at(-1).more = result.moreViolations;
  items.push(...(result.losses ?? []).map((l) => lossItem(l)));
  violations.set(items);
  $('violations').open = items.length > 0 && items.length <= 20;
  return items;
}

// showOutputs shows the outputs and their losses. It returns false if there are none.
function showOutputs(result, shown, found) {
  const outputs = result.outputs ?? [];
  if (shown.length && !outputs.length) {
    state.items = found;
    markInput();
    const n = found.filter((i) => i.severity === 'violation').length;
    for (const t of shown) {
      if (!t.editor.text) t.clear(`No document: the input has ${plural(n + (result.moreViolations ?? 0), 'violation')}.`);
      else t.setStale();
    }
    return false;
  }
  state.items = [...found];
  shown.forEach((t, i) => {
    const losses = (outputs[i].losses ?? []).map((l) => lossItem(l, t));
    state.items.push(...losses);
    t.show({ ...outputs[i], losses }, t.editor.text !== '');
    markOutput(t);
  });
  markInput();
  return true;
}

function markInput() {
  input.setMarks(marksOf(state.items, (i) => (i.input ? [i.input] : [])));
}

function markOutput(t) {
  t.editor.setMarks(marksOf(t.losses, (i) => i.output.map((r) => ({ ...r, enclosing: i.enclosing }))));
}

// places finds where the losses are in the documents of the targets, one target after the other.
async function places(shown, body) {
  for (const [i, t] of shown.entries()) {
    if (!t.losses.length) continue;
    let result;
    try {
      result = await call('places', '/api/places', { ...body, targets: [body.targets[i]] });
    } catch (err) {
      notify(err.message, true);
      return;
    }
    if (!result) return;
    const found = new Map((result.places ?? []).map((p) => [p.neutral, p]));
    for (const loss of t.losses) {
      const place = found.get(loss.neutral);
      loss.output = place?.output ?? [];
      loss.enclosing = !!place?.enclosing;
      if (loss.severity === 'dropped' && (loss.enclosing || !loss.output.length)) loss.note = 'not in the document';
    }
    t.list.noteChanged(t.losses.filter((l) => l.note));
    markOutput(t);
  }
  document.body.dataset.places = 'shown';
}

function showResponse(result, shown) {
  const found = showViolations(result, shown);
  showOutputs(result, shown, found);
  const lines = (result.events ?? []).map(eventText);
  events.editor.setText(lines.join('\n'), true);
  return took(result);
}

function showStream(result, shown) {
  const { steps = [] } = result;
  const items = [];
  steps.forEach((step, n) => {
    for (const loss of step.losses ?? []) {
      const t = shown[loss.target];
      items.push({ ...lossItem(loss, t), input: loss.input ?? { from: step.from, to: step.to }, step: n });
    }
  });
  state.items = items;
  violations.set(items.filter((i) => !i.owner));
  stepper.show(result, shown, items);
  markInput();
  if (result.error) notify(result.error, true);
  return undefined;
}

function showStatus(result, time, server) {
  const parts = [size(input.text)];
  if (result.tokens !== undefined) parts.push(`≈ ${plural(result.tokens, 'token')}`);
  parts.push(`${milliseconds(time)}${server ? ` (server ${milliseconds(server)})` : ''}`);
  $('status').textContent = parts.join(' · ');
}

let announced = '';

// announce reports the result to screen readers, if it differs from the last one.
function announce(shown) {
  const wrong = state.items.filter((i) => i.severity === 'violation' && !i.target);
  const text = wrong.length ? `${inWords(wrong)} in the input` : shown.map((t) => t.summary()).join('. ');
  if (text !== announced) $('live').textContent = announced = text;
}

function notify(text, error) {
  $('notice').textContent = text;
  $('notice').hidden = !text;
  $('notice').classList.toggle('error', !!error);
}

// warn shows an error, or another notice, that a translation does not remove. The next change of the input does.
function warn(text, error = true) {
  lasting = [text, error];
  notify(text, error);
}

// Selection

// select highlights items on both sides and scrolls to them, except where they were selected.
function select(items, origin) {
  tooltip.hide();
  if (state.kind === 'stream' && items[0]?.step !== undefined) stepper.goTo(items[0].step);
  const set = new Set(items);
  input.setSelected(set);
  violations.setSelected(set, origin !== violations);
  if (origin !== input) revealFirst(input, items.map((i) => i.input));
  for (const t of shownTargets()) {
    t.editor.setSelected(set);
    t.list.setSelected(set, origin !== t);
    const own = items.filter((i) => i.owner === t);
    if (own.length && origin !== t.editor) revealFirst(t.editor, own.flatMap((i) => i.output));
  }
  if (items.length === 1) {
    $('live').textContent = announced = `Selected: ${items[0].severity}, ${items[0].path}. ${items[0].reason}`;
  }
}

function revealFirst(editor, ranges) {
  const first = ranges.find((r) => r);
  if (first) editor.reveal(first.from, first.to);
}

// Files that are dropped anywhere on the page. The browser would leave the page to show them.

const hasFiles = (e) => e.dataTransfer?.types.includes('Files');

addEventListener('dragover', (e) => {
  if (hasFiles(e)) e.preventDefault();
});

addEventListener('drop', async (e) => {
  if (!hasFiles(e)) return;
  e.preventDefault();
  const [file] = e.dataTransfer.files;
  if (!file) return;
  try {
    input.take(await file.text());
  } catch {
    warn(`The file ${file.name} cannot be read.`);
  }
});

// Controls

const keep = () => state.kept.set(state.kind, { kind: state.kind, format: state.format, text: input.text, sample: $('sample').value });

$('kinds').addEventListener('change', (e) => {
  keep();
  const kind = e.target.value;
  const kept = state.kept.get(kind);
  if (kept) setInput(kept);
  else loadSample(state.samples.find((s) => s.kind === kind));
});

$('sample').addEventListener('change', () => {
  const sample = state.samples.find((s) => s.id === $('sample').value);
  if (sample) loadSample(sample);
});

$('format').addEventListener('change', () => {
  state.format = $('format').value;
  layOut();
  clearOutputs('');
  translate();
});

$('wrap').addEventListener('change', () => {
  state.wrap[state.kind] = $('wrap').checked;
  showWrap();
});

$('tidy').addEventListener('click', () => {
  const text = formatJSON(input.text);
  if (text === undefined) warn('The input is not valid JSON, so it cannot be formatted.');
  else if (text !== input.text) input.replace(text);
});

$('send').addEventListener('click', async () => {
  try {
    const response = await make('echo', state.format);
    if (!response) return;
    keep();
    setInput(response);
    warn('This is the response of echo, a model that describes its request. The request is under “Request”.', false);
  } catch (err) {
    warn(err.message);
  }
});

copyOn($('copy-input'), () => input.text, 'The input is copied.');
copyOn($('copy'), async () => {
  history.replaceState(null, '', await toHash({ k: state.kind, f: state.format, t: input.text }));
  return location.href;
}, 'The link is copied. It contains the input.');

// copyOn makes a button copy the text that get returns.
function copyOn(button, get, notice) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    try {
      const text = await get();
      if (!text) return;
      await navigator.clipboard.writeText(text);
    } catch (err) {
      warn(err.name === 'NotAllowedError' ? 'The browser does not allow access to the clipboard.' : err.message);
      return;
    }
    button.textContent = 'Copied';
    $('live').textContent = announced = notice;
    setTimeout(() => (button.textContent = label), 1600);
  });
}

const dark = matchMedia('(prefers-color-scheme: dark)');

function showScheme() {
  const scheme = document.documentElement.dataset.scheme ?? (dark.matches ? 'dark' : 'light');
  $('theme').setAttribute('aria-pressed', String(scheme === 'dark'));
  return scheme;
}

$('theme').addEventListener('click', () => {
  document.documentElement.dataset.scheme = showScheme() === 'dark' ? 'light' : 'dark';
  showScheme();
});
dark.addEventListener('change', showScheme);
showScheme();

document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape') {
    if (tooltip.open) tooltip.hide();
    else select([], undefined);
    return;
  }
  if (state.kind === 'stream' && !/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.getAttribute('role') !== 'separator') stepper.key(e);
});

// Start

async function restore() {
  let value;
  try {
    value = await fromHash(location.hash);
  } catch (err) {
    notify(err.message, true);
  }
  const valid = value && ['request', 'response', 'stream'].includes(value.k) && typeof value.t === 'string' && state.formats.some((f) => f.name === value.f);
  if (!valid) return false;
  setInput({ kind: value.k, format: value.f, text: value.t });
  return true;
}

addEventListener('hashchange', restore);

async function start() {
  const [formats, samples] = await Promise.all([call('formats', '/api/formats'), call('samples', '/api/samples')]);
  state.formats = formats.formats;
  state.samples = samples.samples;
  if (!(await restore())) {
    const problem = $('notice').textContent;
    loadSample(state.samples[0]);
    warn(problem);
  }
}

start().catch((err) => notify(err.message, true));
