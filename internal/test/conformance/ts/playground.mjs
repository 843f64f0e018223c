// Tests the page of examples/playground in a browser. It reads one JSON object from standard input:
// the address of the program, the browser, a large request, the expected stream and the directory for
// screenshots. It writes a line of JSON for each test: {name, error, log}.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const config = JSON.parse(readFileSync(0, 'utf8'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const browser = await chromium.launch({
  executablePath: config.browser,
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
});

const samples = (await (await fetch(`${config.url}/api/samples`)).json()).samples;
const sample = (id) => samples.find((s) => s.id === id) ?? assert.fail(`no sample ${id}`);

// Pages

const wide = { width: 1440, height: 900 };
const problems = []; // of all pages

// open opens the page in a new profile and waits for the first translation.
async function open({ hash = '', ready = true, ...options } = {}) {
  const context = await browser.newContext({ viewport: wide, colorScheme: 'light', reducedMotion: 'reduce', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: config.url });
  const page = await context.newPage();
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && problems.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => problems.push(`error of the page: ${e.stack}`));
  page.on('request', (r) => {
    if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== config.url) problems.push(`request to ${r.url()}`);
  });
  await page.goto(`${config.url}/${hash}`);
  if (ready) await settled(page);
  return page;
}

// settled waits until the page shows the translation of its input.
async function settled(page) {
  await page.waitForFunction(() => document.body.dataset.state === 'shown');
}

const inputText = (page) => page.locator('#input-editor textarea').inputValue();
const outputText = (page, target) => page.locator(`#target-${target} textarea`).inputValue();

const view = (page) => page.locator('#input-editor').evaluate((e) => [e.scrollLeft, e.scrollTop]);

// choose loads a sample.
async function choose(page, id) {
  await page.locator(`#kinds input[value=${sample(id).kind}]`).check({ force: true });
  await page.locator('#sample').selectOption(id);
  await settled(page);
}

// type replaces the input as a user does.
async function type(page, text) {
  await page.locator('#input-editor textarea').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function paste(page, text) {
  await page.evaluate((t) => navigator.clipboard.writeText(t), text);
  await page.locator('#input-editor textarea').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('ControlOrMeta+v');
}

// marked returns the texts with a class in an editor, one line of the text each.
function marked(page, editor, name = 'selected') {
  return page.locator(editor).evaluate((root, name) => {
    const lines = [...root.querySelectorAll('.ed-line')].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
    return lines.map((l) => [...l.querySelectorAll(`.mark.${name}`)].map((s) => s.textContent).join('')).filter(Boolean);
  }, name);
}

// inView reports whether the first element is within the visible part of its editor.
function inView(page, selector) {
  return page.locator(selector).first().evaluate((e) => {
    const box = e.closest('.ed').getBoundingClientRect();
    const r = e.getBoundingClientRect();
    return r.top >= box.top && r.bottom <= box.bottom && r.left < box.right;
  });
}

async function shoot(page, name) {
  if (config.screenshots) await page.screenshot({ path: `${config.screenshots}/${name}.png` });
}

async function checkAxe(page, what) {
  await page.evaluate((source) => void (0, window.eval)(source), axe).catch(() => page.addScriptTag({ content: axe }));
  const result = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  assert.ok(result.passes.length > 10, `${what}: axe has checked ${result.passes.length} rules`);
  assert.deepEqual(result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(', ')}`), [], what);
}

// lowContrast returns texts of editors and labels whose colour has a contrast under 4.5 to its
// backgrounds. axe does not see the text of editors, which is hidden from screen readers.
function lowContrast(page) {
  return page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const over = (colours) => {
      context.clearRect(0, 0, 1, 1);
      for (const c of colours) {
        context.fillStyle = c;
        context.fillRect(0, 0, 1, 1);
      }
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => {
      const [r, g, b] = rgb.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const low = new Set();
    for (const e of document.querySelectorAll('.ed-line span:not(.ed-chunk), .ed-row > span, .sym')) {
      if (!e.textContent.trim()) continue;
      const parents = [];
      for (let p = e; p; p = p.parentElement) parents.unshift(p);
      const back = parents.map((p) => getComputedStyle(p).backgroundColor);
      const [a, b] = [light(over(back)), light(over([...back, getComputedStyle(e).color]))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) low.add(`${e.className || e.parentElement.className}: ${ratio.toFixed(2)}`);
    }
    return [...low];
  });
}

// Tests

const tests = {
  async 'headers'() {
    for (const path of ['/', '/style.css', '/app.js', '/api/formats', '/missing']) {
      const r = await fetch(config.url + path);
      const csp = r.headers.get('content-security-policy') ?? '';
      assert.match(csp, /default-src 'none'/, path);
      assert.match(csp, /script-src 'self'(;|$)/, path);
      assert.match(csp, /style-src 'self'(;|$)/, path);
      assert.equal(r.status, path === '/missing' ? 404 : 200, path);
    }
  },

  async 'first visit'(log) {
    const page = await open();
    const paint = await page.evaluate(() => performance.getEntriesByType('paint').map((e) => `${e.name} ${Math.round(e.startTime)} ms`));
    log(paint.join(', '));
    assert.equal(await page.title(), 'Polywire playground');
    assert.match(await page.locator('.tagline').textContent(), /translates .* what cannot be represented/s);
    assert.equal(await inputText(page), sample('agent').text);
    for (const severity of ['hint', 'degraded', 'dropped']) {
      assert.ok(await page.locator(`.legend b.${severity}`).isVisible(), `${severity} in the legend`);
      assert.ok((await page.locator(`#input-editor .sym.${severity}, .target .count .sym.${severity}`).count()) > 0, `a ${severity} is visible`);
    }
    assert.match(await page.locator('#live').textContent(), /Gemini generateContent: \d+ reasons, \d+ places: 1 dropped, \d+ degraded/);
    assert.match(await page.locator('#status').textContent(), /KB · ≈ [\d,]+ tokens · .* ms \(server .* ms\)/);
    await shoot(page, 'light');
  },

  async 'samples'() {
    const page = await open();
    for (const s of samples) {
      await choose(page, s.id);
      assert.equal(await inputText(page), s.text, s.id);
      const violations = await page.locator('#violations .place').count();
      const targets = await page.locator('.target:visible').all();
      assert.ok(targets.length >= 2, s.id);
      if (s.id === 'invalid') {
        assert.equal(violations, 2);
        continue;
      }
      assert.equal(await page.locator('#input-editor .mark.violation').count(), 0, s.id);
      assert.equal(await page.locator('.notice.error:visible').count(), 0, s.id);
      for (const t of targets) assert.notEqual(await t.locator('textarea').inputValue(), '', s.id);
      if (s.kind !== 'request') assert.match(await page.locator('#events textarea').inputValue(), /^Start/, s.id);
    }
  },

  // The expected texts were found by reading the documents.
  async 'places of losses'() {
    const page = await open();
    const cases = [
      { target: 'generatecontent', severity: 'degraded', path: /exclusiveMinimum$/, input: /^"exclusiveMinimum": 0$/, output: /^"minimum": 0$/ },
      { target: 'generatecontent', severity: 'degraded', path: /path\.pattern$/, input: /^"pattern": "\^\[a-z0-9_\/\.-\]\+\$"$/, output: /^"pattern": "\^\[a-z0-9_\/\.-\]\+\$"$/ },
      { target: 'generatecontent', severity: 'degraded', path: /^tools\.2$/, input: /^\{\s*"type": "web_search_20250305",\s*"name": "web_search",\s*"max_uses": 3\s*\}$/, output: /^\{\s*"googleSearch": \{\}\s*\}/, mark: 'dropped' /* for other targets */ },
      { target: 'openai', severity: 'hint', path: /is_error$/, input: /^"is_error": true$/, output: /^Error: $/ },
      { target: 'openai', severity: 'degraded', path: /budget_tokens$/, input: /^"budget_tokens": 8000$/, output: /^"reasoning_effort": "medium"$/ },
      { target: 'openai', severity: 'dropped', path: /^tools\.2/, input: /^\{\s*"type": "web_search_20250305"/, output: undefined },
      { target: 'openai', severity: 'hint', path: /^system\.1\.cache_control$/, input: /^"cache_control": \{\s*"type": "ephemeral"\s*\}$/, output: /^"text": "Work in small steps and check each result\."$/ },
      { target: 'openai-responses', severity: 'degraded', path: /^tools\.2$/, input: /^\{\s*"type": "web_search_20250305"/, output: /^\{\s*"type": "web_search"\s*\}$/, mark: 'dropped' /* for other targets */ },
    ];
    await page.waitForFunction(() => document.body.dataset.places === 'shown');
    for (const c of cases) {
      const what = `${c.target} ${c.severity} ${c.path}`;
      const list = page.locator(`#target-${c.target} .list .entry`).filter({ has: page.locator(`.sym.${c.severity}`) }).locator('.place').filter({ hasText: c.path });
      const button = (await list.count()) ? list : page.locator(`#target-${c.target} .list .entry`).filter({ has: page.locator(`.sym.${c.severity}`) }).locator('.place', { has: page.locator('code', { hasText: new RegExp(c.path.source.replace(/\$$/, '')) }) });
      assert.equal(await button.count(), 1, what);
      await button.click();
      assert.equal(await button.getAttribute('aria-current'), 'true', what);
      const input = await marked(page, '#input-editor');
      assert.match(input.join('\n'), c.input, what);
      assert.ok(await inView(page, '#input-editor .mark.selected'), `${what}: the input is scrolled to it`);
      assert.ok((await page.locator(`#input-editor .mark.selected.${c.mark ?? c.severity}`).count()) > 0, `${what}: colour`);
      const output = await marked(page, `#target-${c.target} .ed`);
      if (!c.output) {
        assert.deepEqual(output, [], what);
        assert.match(await button.textContent(), /not in the document/, what);
        continue;
      }
      assert.match(output.join('\n'), c.output, what);
      assert.ok(await inView(page, `#target-${c.target} .mark.selected`), `${what}: the output is scrolled to it`);
    }
    await shoot(page, 'selected');
  },

  async 'selection from both sides'() {
    const page = await open();
    await page.waitForFunction(() => document.body.dataset.places === 'shown');
    // From a mark in the text of the input.
    const mark = page.locator('#input-editor .mark', { hasText: '"budget_tokens"' }).first();
    const box = await mark.boundingBox();
    await page.mouse.click(box.x + 30, box.y + 8);
    assert.deepEqual(await marked(page, '#target-openai .ed'), ['"reasoning_effort": "medium"']);
    assert.ok(await inView(page, '#target-openai .mark.selected'));
    // From the gutter of an output.
    await page.keyboard.press('Escape');
    assert.deepEqual(await marked(page, '#input-editor'), []);
    await page.locator('#input-editor').evaluate((e) => (e.scrollTop = e.scrollHeight));
    await page.locator('#target-openai .ed-row .sym.degraded').last().click();
    assert.deepEqual(await marked(page, '#input-editor'), ['"budget_tokens": 8000']);
    assert.ok(await inView(page, '#input-editor .mark.selected'));
    assert.equal(await page.locator('#target-openai .place[aria-current]').count(), 1);
  },

  async 'tooltip'() {
    const page = await open({ colorScheme: 'light' });
    const tip = page.getByRole('tooltip');
    const mark = page.locator('#input-editor .mark', { hasText: '"budget_tokens"' }).first();
    const box = await mark.boundingBox();
    await page.mouse.move(box.x + 20, box.y + 8);
    await tip.waitFor();
    assert.match(await tip.textContent(), /degraded for OpenAI Chat Completions.*thinking\.budget_tokens.*effort/s);
    await page.mouse.move(box.x + 25, box.y + box.height + 14, { steps: 4 }); // into the tooltip
    await page.waitForTimeout(400);
    assert.ok(await tip.isVisible(), 'the pointer can enter the tooltip');
    await page.keyboard.press('Escape');
    assert.ok(await tip.isHidden(), 'Escape closes it');
    await page.mouse.move(4, 4);
    // By keyboard: the gutter is one stop, and the arrow keys move in it.
    await page.locator('#send').focus();
    await page.keyboard.press('Tab');
    await tip.waitFor();
    const first = page.locator('#input-editor .ed-row .sym:focus');
    assert.equal(await first.getAttribute('aria-describedby'), 'tooltip');
    assert.match(await first.getAttribute('aria-label'), /^Line 7: 2 losses, degraded$/);
    await shoot(page, 'tooltip');
    await checkAxe(page, 'tooltip');
    await page.keyboard.press('End');
    await tip.waitFor();
    const last = page.locator('#input-editor .ed-row .sym:focus');
    assert.notEqual(await last.getAttribute('aria-label'), await page.locator('#input-editor .ed-row .sym').first().getAttribute('aria-label'));
    assert.ok(await inView(page, '#input-editor .ed-row .sym:focus'));
    await page.keyboard.press('Escape');
    assert.ok(await tip.isHidden());
    await page.keyboard.press('Enter');
    assert.ok((await marked(page, '#input-editor')).length > 0, 'Enter selects');
  },

  async 'violations while typing'() {
    const page = await open();
    const request = (value) => `{"model": "m", "max_tokens": ${value},\n "messages": [{"role": "user", "content": "é😀 Hi."}, {"role": "nobody", "content": "x"}]}`;
    await type(page, request('"many"'));
    await page.locator('#input-editor .mark.violation').first().waitFor();
    await settled(page);
    assert.deepEqual(await marked(page, '#input-editor', 'violation'), ['"max_tokens": "many"', '"role": "nobody"']);
    assert.match(await page.locator('#violations summary').textContent(), /2 violations/);
    assert.match(await page.locator('#live').textContent(), /2 violations in the input/);
    assert.ok(await page.locator('.target.stale').first().isVisible(), 'the outputs are marked as old');
    await shoot(page, 'typing');
    // An incomplete document.
    await type(page, '{"model": "m", "max_tokens": 1, "messages": [}');
    await page.waitForFunction(() => /1 violation\b/.test(document.querySelector('#violations summary').textContent));
    assert.deepEqual(await marked(page, '#input-editor', 'violation'), ['}']);
    // The newest input wins: each key aborts the call for the one before.
    await type(page, '');
    await page.keyboard.type('{"model": "m", "max_tokens": 7, "messages": [{"role": "user", "content": "Hi."}]}', { delay: 3 });
    await settled(page);
    assert.equal(await page.locator('#violations').isVisible(), false);
    assert.match(await outputText(page, 'openai'), /"max_completion_tokens": 7/);
    await choose(page, 'invalid');
    await shoot(page, 'violations');
  },

  async 'marks move with the text'() {
    const page = await open();
    await page.locator('#input-editor textarea').evaluate((a) => a.setSelectionRange(0, 0));
    await page.locator('#input-editor textarea').focus();
    await page.keyboard.type('\n\n');
    await page.evaluate(() => Promise.resolve());
    assert.equal((await marked(page, '#input-editor', 'degraded'))[0], '"budget_tokens": 8000', 'before the new translation');
    await settled(page);
    assert.equal((await marked(page, '#input-editor', 'degraded'))[0], '"budget_tokens": 8000');
    assert.equal(await page.locator('#sample').inputValue(), '');
  },

  async 'stream'() {
    const page = await open();
    await choose(page, 'stream');
    const slider = page.locator('#step');
    const last = Number(await slider.getAttribute('max'));
    assert.ok(last > 5);
    await slider.focus();
    await page.keyboard.press('Home');
    let before = { messages: '', generatecontent: '', events: '' };
    for (let i = 0; i <= last; i++) {
      assert.equal(await slider.inputValue(), String(i));
      const now = { messages: await outputText(page, 'messages'), generatecontent: await outputText(page, 'generatecontent'), events: await page.locator('#events textarea').inputValue() };
      for (const [name, text] of Object.entries(now)) assert.ok(text.startsWith(before[name]), `step ${i}: ${name} grows`);
      const current = await page.locator('#input-editor .ed-line.now').allTextContents();
      if (i < last) assert.equal(current.length, 1, `step ${i}: one event is highlighted`);
      if (now.messages.length > before.messages.length) {
        const fresh = (await page.locator('#target-messages .ed-line .new').allTextContents()).join('');
        assert.ok(fresh && now.messages.slice(before.messages.length).replaceAll('\n', '').endsWith(fresh.slice(-40)), `step ${i}: the newest piece is highlighted`);
      }
      before = now;
      if (i === Math.floor(last / 2)) await shoot(page, 'stream');
      if (i < last) await page.keyboard.press('ArrowRight');
    }
    for (const target of ['messages', 'generatecontent']) {
      assert.equal(before[target], config.streams[target].replaceAll('\r\n', '\n'), `${target} as examples/translate prints it`);
    }
    // Buttons, and arrow keys outside of fields.
    await page.locator('#previous').click();
    assert.equal(await slider.inputValue(), String(last - 1));
    await page.keyboard.press('ArrowLeft');
    assert.equal(await slider.inputValue(), String(last - 2));
    await page.locator('#next').click();
    assert.equal(await slider.inputValue(), String(last - 1));
    await page.locator('#next').click();
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.waitForFunction((n) => document.querySelector('#step').value === String(n) && document.querySelector('#play').getAttribute('aria-label') === 'Play', last);
    // A click on an event goes to its step.
    await page.locator('#input-editor').evaluate((e) => (e.scrollTop = 0));
    const line = page.locator('#input-editor .ed-line', { hasText: 'I read' });
    await line.waitFor();
    const box = await line.boundingBox();
    await page.mouse.click(box.x + 30, box.y + 8);
    assert.match(await page.locator('#target-messages .ed-line .new').allTextContents().then((x) => x.join('')), /I read/);
    await slider.focus();
    await checkAxe(page, 'stream');
  },

  async 'link'() {
    const page = await open();
    const text = sample('agent').text.replace('harbour', 'hÄrbour 😀');
    await type(page, text);
    await settled(page);
    await page.locator('#copy').click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(link.startsWith(`${config.url}/#1.`));
    assert.ok(link.length < text.length, 'the link is compressed');
    const other = await open({ hash: new URL(link).hash });
    assert.equal(await inputText(other), text);
    // Another link in the same page.
    await choose(other, 'stream');
    await other.locator('#copy').click();
    await other.getByRole('button', { name: 'Copied' }).waitFor();
    const stream = await other.evaluate(() => navigator.clipboard.readText());
    await page.evaluate((hash) => (location.hash = hash), new URL(stream).hash);
    await page.waitForFunction(() => document.body.dataset.kind === 'stream');
    await settled(page);
    assert.equal(await inputText(page), sample('stream').text);
    assert.equal(await page.locator('#format').inputValue(), sample('stream').format);
    // Nothing is stored.
    assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [0, 0, '']);
    const damaged = await open({ hash: '#1.AAAA' });
    assert.match(await damaged.locator('#notice').textContent(), /link is damaged/);
    assert.equal(await inputText(damaged), sample('agent').text);
    // Random text cannot be compressed.
    await damaged.locator('#input-editor textarea').evaluate((a) => {
      const bytes = new Uint8Array(60000);
      let random = '';
      while (random.length < 2.4e6) random += btoa(String.fromCharCode(...crypto.getRandomValues(bytes.subarray(0, 30000))));
      a.value = random;
      a.dispatchEvent(new Event('input'));
    });
    await damaged.locator('#copy').click();
    await damaged.waitForFunction(() => /The link would have 2\.\d MB/.test(document.querySelector('#notice').textContent));
  },

  async 'paste and format'() {
    const page = await open();
    const before = await inputText(page);
    const line = '{"model":"m","max_tokens":12345678901234567890,"temperature":1.0,"stop_sequences":[],"metadata":{},"messages":[{"role":"user","content":"a \\"b\\": [1,2] \\u00e9"}]}';
    const formatted = [
      '{', '  "model": "m",', '  "max_tokens": 12345678901234567890,', '  "temperature": 1.0,', '  "stop_sequences": [],', '  "metadata": {},',
      '  "messages": [', '    {', '      "role": "user",', '      "content": "a \\"b\\": [1,2] \\u00e9"', '    }', '  ]', '}',
    ].join('\n');
    await paste(page, line);
    assert.equal(await inputText(page), formatted);
    await page.keyboard.press('ControlOrMeta+z');
    assert.equal(await inputText(page), before, 'undo');
    // Chromium does not redo the insertion, so the document is pasted again.
    await paste(page, line);
    assert.equal(await inputText(page), formatted);
    await settled(page);
    // Only whole documents are formatted on paste.
    await page.locator('#input-editor textarea').evaluate((a) => a.setSelectionRange(0, 0));
    await page.keyboard.press('ControlOrMeta+v');
    assert.equal(await inputText(page), line + formatted);
    await page.locator('#tidy').click();
    assert.match(await page.locator('#notice').textContent(), /not valid JSON/);
    await type(page, line);
    await page.locator('#tidy').click();
    assert.equal(await inputText(page), formatted);
    await settled(page);
  },

  async 'recognized input'() {
    const page = await open();
    const pasted = [
      ['request', 'openai', '{"model":"m","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Hi."}]}'],
      ['request', 'openai-responses', '{"model":"m","input":[{"role":"user","content":"Hi."}]}'],
      ['stream', 'openai', sample('stream').text],
      ['response', 'openai-responses', sample('response').text],
      ['request', 'generatecontent', '{"contents":[{"parts":[{"text":"Hi."}]}]}'],
    ];
    for (const [kind, format, text] of pasted) {
      await paste(page, text);
      await page.waitForFunction(([k, f]) => document.body.dataset.kind === k && document.querySelector('#format').value === f, [kind, format]);
      await settled(page);
      assert.ok((await outputText(page, 'messages')).length > 20, `${kind} ${format}`);
    }
  },

  // Reasons are counted before places, and each has a link to its line of the documentation.
  async 'reasons'() {
    const page = await open();
    const tools = Array.from({ length: 40 }, (_, i) => ({ name: `f${i}`, input_schema: { type: 'object', properties: { n: { type: 'number', exclusiveMinimum: 0 } } } }));
    await paste(page, JSON.stringify({ model: 'm', max_tokens: 9, top_k: 5, tools, messages: [{ role: 'user', content: 'Hi.' }] }));
    await page.waitForFunction(() => / 41 places/.test(document.querySelector('#target-generatecontent summary').textContent));
    await settled(page);
    assert.match(await page.locator('#target-generatecontent summary').textContent(), /^2 reasons, 41 places~1 degradedi1 hint$/);
    assert.match(await page.locator('#live').textContent(), /OpenAI Chat Completions: 1 reason, 1 place: 1 dropped/);
    for (const entry of await page.locator('.target .entry:visible').all()) {
      const reason = (await entry.locator('p').first().evaluate((p) => [...p.childNodes].find((n) => n.nodeType === 3).textContent));
      const [docs] = await Promise.all([page.context().waitForEvent('page'), entry.getByRole('link', { name: `docs: ${reason}` }).click()]);
      await docs.waitForLoadState();
      const line = docs.locator(':target');
      assert.ok((await line.textContent()).includes(`| ${reason} |`), reason);
      assert.ok(await line.evaluate((e) => e.getBoundingClientRect().bottom < innerHeight && e.getBoundingClientRect().top > 0), 'the line is in view');
      await checkAxe(docs, 'page of losses');
      await docs.close();
    }
  },

  async 'copies'() {
    const page = await open();
    const copy = async (name) => {
      await page.evaluate(() => navigator.clipboard.writeText(''));
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      return page.evaluate(async () => {
        for (;;) {
          const text = await navigator.clipboard.readText();
          if (text) return text;
        }
      });
    };
    assert.equal(await copy('Copy the input'), await inputText(page));
    for (const title of ['Gemini generateContent', 'OpenAI Chat Completions']) {
      const target = title[0] === 'G' ? 'generatecontent' : 'openai';
      const text = await outputText(page, target);
      assert.equal(await copy(`Copy ${title}`), text);
      const command = await copy(`Copy ${title} as curl`);
      assert.ok(command.startsWith("curl -N 'https://") && command.includes(`\n${text.slice(0, -2)}`), command);
      assert.match(await copy(`Copy ${title} as Go program`), /^package main$/m);
    }
    await choose(page, 'response');
    assert.equal(await copy('Copy Anthropic Messages'), await outputText(page, 'messages'));
    assert.equal(await page.getByRole('button', { name: / as curl$/ }).count(), 0);
  },

  async 'echo'() {
    const page = await open();
    for (const [kind, id] of [['stream', 'agent'], ['response', 'image']]) {
      await choose(page, id);
      const request = await inputText(page);
      await page.locator('#send').click();
      await page.waitForFunction((kind) => document.body.dataset.kind === kind, kind);
      await settled(page);
      assert.equal(await page.locator('#format').inputValue(), sample(id).format);
      assert.match(await page.locator('#notice').textContent(), /^This is the response of echo/);
      if (kind === 'stream') await page.locator('#step').press('End');
      for (const t of await page.locator('.target:visible textarea').all()) assert.match(await t.inputValue(), /turns\.0/, id);
      await page.locator('#kinds input[value=request]').check({ force: true });
      assert.equal(await inputText(page), request);
    }
    await choose(page, 'invalid');
    await page.locator('#send').click();
    await page.waitForFunction(() => document.querySelector('#notice').classList.contains('error'));
    assert.match(problems.pop(), /status of 400/);
  },

  // A text that replaces the whole one, from the clipboard or from a file, is in view from the first column of
  // its first line: long lines and documents of one line, too, and 300 KB in the next test. After other input it is
  // the cursor.
  async 'the first column is in view after a paste'() {
    const words = 'words and more '.repeat(70).trim();
    const request = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: words }] });
    const formatted = JSON.stringify(JSON.parse(request), null, 2);
    const events = `\nevent: message_start\ndata: {"a": "${words}"}\n\n\n`;
    const base64 = `{"a": "${'A'.repeat(400000)}`;
    const tall = `{"a": [\n${'1,\n'.repeat(5000)}1]}`;
    const wholes = [
      { name: 'one line', text: request, want: formatted },
      { name: 'one line and a line break', text: `${request}\r\n`, want: formatted },
      { name: 'byte order mark', text: `\ufeff${request}`, want: formatted },
      { name: 'several lines', text: formatted },
      { name: 'CR LF', text: formatted.replaceAll('\n', '\r\n'), want: formatted },
      { name: 'tall', text: tall },
      { name: 'not JSON', text: request.slice(0, -1) },
      { name: 'markup', text: `  <b>&amp; &lt;\u00a0x</b>\t ${words} \n\n ` },
      { name: 'one long line', text: base64 },
      { name: 'stream', text: events, kind: 'stream' },
      { name: 'stream with CR LF', text: events.replaceAll('\n', '\r\n'), want: events, kind: 'stream' },
    ];
    const drop = (page, text) => page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], 'request.json'));
      const send = (name) => document.querySelector('.top').dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
      return send('dragover') || send('drop'); // true if the browser would open the file
    }, text);
    const page = await open();
    for (const way of ['paste', 'paste while a translation runs', 'drop']) {
      for (const { name, text, want = text, kind } of wholes) {
        const what = `${way}: ${name}`;
        await choose(page, kind ? sample(kind).id : 'agent');
        const before = await inputText(page);
        await page.locator('#input-editor').evaluate((e) => e.scrollTo(573, 300));
        if (way === 'drop') {
          assert.equal(await drop(page, text), false, what);
        } else {
          if (way !== 'paste') await type(page, `${formatted}\n${words}`);
          await paste(page, text);
        }
        await page.waitForFunction((want) => document.querySelector('#input-editor textarea').value === want, want).catch(() => {});
        assert.equal(await inputText(page), want, what);
        assert.deepEqual(await view(page), [0, 0], what);
        await settled(page);
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        assert.deepEqual(await view(page), [0, 0], `${what}, translated`);
        assert.ok(await inView(page, '#input-editor .ed-line span'), what);
        if (name === 'one line') await shoot(page, way.replaceAll(' ', '-'));
        if (way !== 'paste while a translation runs') {
          await page.keyboard.press('ControlOrMeta+z');
          assert.equal(await inputText(page), before, `${what}, undone`);
        }
      }
    }
    await choose(page, 'agent');
    await type(page, request);
    const [left] = await view(page);
    assert.ok(left > 5000, `the cursor is in view after typing a long line: ${left}`);
    await page.locator('#tidy').click();
    assert.equal(await inputText(page), formatted);
    assert.deepEqual(await view(page), [0, 0], 'Format JSON');
    // A paste into the text leaves the cursor where the browser puts it.
    await page.locator('#input-editor textarea').evaluate((a) => a.setSelectionRange(a.value.length, a.value.length));
    await page.evaluate((t) => navigator.clipboard.writeText(t), words);
    await page.keyboard.press('ControlOrMeta+v');
    assert.equal(await inputText(page), formatted + words);
    assert.ok((await view(page))[0] > 5000, 'the cursor is in view after a paste at the end');
  },

  async 'the first column is in view after a paste of 300 KB in one line'(log) {
    const page = await open();
    await choose(page, 'agent');
    await page.evaluate(() => performance.clearMeasures());
    await page.locator('#input-editor').evaluate((e) => e.scrollTo(573, 300));
    assert.ok((await view(page)).every((n) => n > 0), 'the text before is scrolled');
    assert.ok(config.large.length > 300000 && !config.large.includes('\n'));
    await paste(page, config.large);
    assert.deepEqual(await view(page), [0, 0]);
    await page.waitForFunction(() => performance.getEntriesByName('translate').length > 0, undefined, { timeout: 60000 });
    assert.deepEqual(await view(page), [0, 0], 'translated');
    const times = await page.evaluate(() => performance.getEntriesByName('translate').map((e) => Math.round(e.duration)));
    log(`${config.large.length} bytes: ${times[0]} ms from the end of input to the rendered translation; ${await page.locator('#status').textContent()}`);
    assert.equal(await page.locator('.notice.error:visible').count(), 0);
    const input = await inputText(page);
    assert.equal(JSON.stringify(JSON.parse(input)), JSON.stringify(JSON.parse(config.large)));
    for (const target of ['generatecontent', 'openai', 'openai-responses']) assert.ok((await outputText(page, target)).length > 200000, target);
    assert.ok((await page.locator('#input-editor .ed-line').count()) < 200, 'only lines in view have elements');
    await page.waitForFunction(() => document.body.dataset.places === 'shown', undefined, { timeout: 120000 });
    await page.locator('#target-openai .place').last().click();
    assert.ok(await inView(page, '#input-editor .mark.selected'));
    const key = await page.evaluate(() => new Promise((resolve) => {
      const area = document.querySelector('#input-editor textarea');
      area.focus();
      area.setSelectionRange(2, 2);
      const start = performance.now();
      document.execCommand('insertText', false, ' ');
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    }));
    log(`${Math.round(key)} ms from a key to its frame`);
    await settled(page);
    await shoot(page, 'large');
  },

  async 'schemes'() {
    const back = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open();
    const dark = await open({ colorScheme: 'dark' });
    assert.notEqual(await back(light), await back(dark));
    const button = light.locator('#theme');
    assert.equal(await button.getAttribute('aria-pressed'), 'false');
    await button.click();
    assert.equal(await button.getAttribute('aria-pressed'), 'true');
    assert.equal(await back(light), await back(dark));
    await button.click();
    for (const [page, name] of [[light, 'light'], [dark, 'dark']]) {
      await page.waitForFunction(() => document.body.dataset.places === 'shown');
      await page.locator('#target-generatecontent .place').nth(3).click();
      assert.deepEqual(await lowContrast(page), [], name);
      await checkAxe(page, name);
      await shoot(page, `${name}-selected`);
      await choose(page, 'stream');
      await page.locator('#next').click();
      assert.deepEqual(await lowContrast(page), [], `${name}, stream`);
      await choose(page, 'invalid');
      assert.deepEqual(await lowContrast(page), [], `${name}, violations`);
      await checkAxe(page, `${name}, violations`);
      await choose(page, 'image-response');
      await checkAxe(page, `${name}, response`);
      await shoot(page, `${name}-response`);
    }
    await choose(dark, 'agent');
    await dark.waitForFunction(() => document.body.dataset.places === 'shown');
    await shoot(dark, 'dark');
  },

  async 'narrow'() {
    const page = await open({ viewport: { width: 390, height: 800 } });
    const sides = await page.locator('.pane:visible').evaluateAll((all) => all.map((p) => p.getBoundingClientRect()).map((r) => [r.left, r.right, r.top]));
    assert.ok(sides.length >= 4);
    for (const [i, [left, right, top]] of sides.entries()) {
      assert.ok(left >= 0 && right <= 390, `pane ${i} fits`);
      if (i) assert.ok(top > sides[i - 1][2], `pane ${i} is below the one before`);
    }
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, 'no horizontal scrolling');
    await checkAxe(page, 'narrow');
    if (config.screenshots) await page.screenshot({ path: `${config.screenshots}/narrow.png`, clip: { x: 0, y: 0, width: 390, height: 1300 }, fullPage: true });
  },

  async 'panes'() {
    const page = await open();
    const width = (id) => page.locator(id).evaluate((e) => e.offsetWidth);
    const before = await width('#target-openai');
    const widen = page.getByRole('button', { name: 'Widen OpenAI Chat Completions' });
    await widen.click();
    assert.equal(await widen.getAttribute('aria-pressed'), 'true');
    assert.ok((await width('#target-openai')) > before * 1.5);
    await widen.click();
    assert.equal(await width('#target-openai'), before);
    const separator = page.getByRole('separator').first();
    await separator.focus();
    const input = await width('#input');
    await page.keyboard.press('ArrowRight');
    assert.ok((await width('#input')) > input);
    const box = await separator.boundingBox();
    await page.mouse.move(box.x + 4, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 104, box.y + 300, { steps: 3 });
    await page.mouse.up();
    assert.ok((await width('#input')) > input + 80);
    // Targets can be hidden, and each has a model.
    await page.getByLabel('Gemini', { exact: true }).uncheck();
    await settled(page);
    assert.equal(await page.locator('#target-generatecontent').count(), 0);
    await page.getByLabel('Messages', { exact: true }).check();
    await settled(page);
    assert.match(await outputText(page, 'messages'), /"max_tokens"/);
    await page.getByLabel('Model of OpenAI Responses').fill('gpt-4.1');
    await settled(page);
    assert.match(await outputText(page, 'openai-responses'), /"model": "gpt-4\.1"/);
    await page.locator('#format').selectOption('generatecontent');
    await settled(page);
    assert.ok((await page.locator('#violations .place').count()) > 0, 'a Messages request is not valid in another format');
  },

  // Each control can be reached with the Tab key, and focus is visible.
  async 'keyboard'() {
    for (const id of ['agent', 'stream', 'invalid']) {
      const page = await open();
      await choose(page, id);
      await page.evaluate(() => document.activeElement.blur());
      const reached = new Set();
      let ended = false; // the walk begins in the middle of the page, and goes on at its top
      for (let i = 0; i < 400; i++) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
          const e = document.activeElement;
          if (e === document.body) return undefined;
          window.walk ??= new Map();
          if (!window.walk.has(e)) window.walk.set(e, window.walk.size);
          const visible = [e, e.nextElementSibling, e.closest('.pane')].some((x) => x && (getComputedStyle(x).outlineStyle !== 'none' || getComputedStyle(x).boxShadow !== 'none'));
          return { n: window.walk.get(e), name: e.id || e.className || e.tagName, visible };
        });
        if (!at && !ended) {
          ended = true;
          continue;
        }
        if (!at || reached.has(at.n)) break;
        assert.ok(at.visible, `${id}: focus of ${at.name} is visible`);
        reached.add(at.n);
      }
      const missing = await page.evaluate(() => {
        const all = [...document.querySelectorAll('button, select, input, textarea, summary, [tabindex]')].filter((e) => e.checkVisibility() && !e.disabled && e.getClientRects().length);
        return all.filter((e) => !window.walk.has(e) && !(e.type === 'radio' && !e.checked) && !e.closest('[role=toolbar]')).map((e) => e.id || e.outerHTML.slice(0, 120));
      });
      assert.deepEqual(missing, [], id);
      const gutters = await page.evaluate(() => [...document.querySelectorAll('[role=toolbar]')].filter((t) => t.querySelector('button') && t.checkVisibility() && ![...t.querySelectorAll('button')].some((b) => window.walk.has(b))).length);
      assert.equal(gutters, 0, `${id}: each gutter with marks is reached`);
      await page.context().close();
    }
  },

  // A line of base64 is rendered in part.
  async 'long line'() {
    const page = await open();
    const data = 'iVBORw0KGgo' + 'A'.repeat(400000);
    await type(page, `{\n"model": "m",\n"max_tokens": 1,\n"top_k": 5, "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "${data}"}}]}], "stop_sequences": "x"}`);
    await settled(page);
    const longest = () => page.locator('#input-editor .ed-line').evaluateAll((all) => Math.max(...all.map((l) => l.textContent.length)));
    assert.ok((await longest()) < 20000);
    // The mark after the line of data is where the text is.
    await page.locator('#violations .place').first().click();
    assert.match((await marked(page, '#input-editor')).join(''), /^"stop_sequences": "x"$/);
    assert.ok(await inView(page, '#input-editor .mark.selected'));
    await page.locator('#wrap').check();
    assert.ok((await longest()) < 20000);
    await page.locator('#violations .place').first().click();
    assert.match((await marked(page, '#input-editor')).join(''), /^"stop_sequences": "x"$/);
    assert.ok(await inView(page, '#input-editor .mark.selected'));
  },

  // The text that is seen and the text that is edited are at the same place.
  async 'alignment'() {
    const page = await open();
    const text = `{"a": "${'wide '.repeat(30)}é漢字😀\\n", "b": [1,\n\t2]}\nlast`;
    await type(page, text);
    for (const wrap of [false, true]) {
      await page.locator('#wrap').setChecked(wrap);
      const result = await page.locator('#input-editor').evaluate((root) => {
        const area = root.querySelector('textarea');
        const lines = [...root.querySelectorAll('.ed-line')].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
        // A copy of the text field that can be measured.
        const copy = document.createElement('div');
        const style = getComputedStyle(area);
        for (const name of ['font', 'whiteSpace', 'lineBreak', 'tabSize', 'padding', 'fontVariantLigatures', 'boxSizing']) copy.style[name] = style[name];
        Object.assign(copy.style, { position: 'absolute', left: '0', top: '0', width: `${area.clientWidth}px`, visibility: 'hidden' });
        copy.textContent = area.value;
        area.parentElement.append(copy);
        const node = copy.firstChild;
        const base = copy.getBoundingClientRect();
        const result = [];
        let offset = 0;
        for (const line of lines) {
          for (const span of line.querySelectorAll('span')) {
            if (!span.textContent || offset + span.textContent.length > node.length) continue; // a mark after the end
            const range = document.createRange();
            range.setStart(node, offset);
            range.setEnd(node, offset + 1);
            const want = range.getClientRects()[0];
            const got = span.getClientRects()[0];
            const home = root.querySelector('.ed-back').getBoundingClientRect();
            if (want && got && Math.abs(want.left - base.left - (got.left - home.left)) + Math.abs(want.top - base.top - (got.top - home.top)) > 2) result.push(span.textContent.slice(0, 20));
            offset += span.textContent.length;
          }
          offset++; // the line break
        }
        copy.remove();
        return { result, area: area.scrollHeight - area.clientHeight, checked: offset };
      });
      assert.deepEqual(result.result, [], `wrap ${wrap}`);
      assert.ok(result.area <= 0, `wrap ${wrap}: the text field does not scroll`);
      assert.equal(result.checked, text.length + 1);
    }
  },
};

for (const [name, run] of Object.entries(tests)) {
  const log = [];
  let error = '';
  try {
    await run((line) => log.push(line));
    if (problems.length) error = problems.join('\n');
  } catch (err) {
    error = [err.stack, ...problems].join('\n');
  }
  problems.length = 0;
  for (const context of browser.contexts()) await context.close();
  process.stdout.write(`${JSON.stringify({ name, error, log })}\n`);
}
await browser.close();
