// The widths of panes, and the separators between them.

const least = 180; // pixels

export class Panes {
  constructor(root) {
    this.root = root;
    this.weights = new Map(); // pane -> weight
    this.wide = undefined;
  }

  // set shows panes in this order.
  set(panes) {
    this.panes = panes;
    for (const p of panes) if (!this.weights.has(p)) this.weights.set(p, this.usual(p));
    if (!panes.includes(this.wide)) this.widen(undefined);
    const wanted = panes.flatMap((p, i) => (i ? [this.separator(panes[i - 1], p), p] : [p]));
    for (const child of [...this.root.children]) if (!wanted.includes(child)) child.remove();
    wanted.forEach((e, i) => {
      if (this.root.children[i] !== e) this.root.insertBefore(e, this.root.children[i] ?? null);
    });
    this.apply();
  }

  usual(pane) {
    return Number(pane.dataset.weight ?? 1);
  }

  // widen makes a pane wide, or all as they were.
  widen(pane) {
    this.wide = pane === this.wide ? undefined : pane;
    for (const p of this.weights.keys()) {
      this.weights.set(p, p === this.wide ? this.usual(p) * 2.6 : this.usual(p));
      p.querySelector('.widen')?.setAttribute('aria-pressed', String(p === this.wide));
    }
    this.apply();
  }

  apply() {
    for (const [p, w] of this.weights) p.style.flexGrow = String(w);
    for (const s of this.root.querySelectorAll('.separator')) s.update?.();
  }

  separator(left, right) {
    left.separators ??= new Map();
    if (left.separators.has(right)) return left.separators.get(right);
    const s = document.createElement('div');
    left.separators.set(right, s);
    s.className = 'separator';
    s.tabIndex = 0;
    s.setAttribute('role', 'separator');
    s.setAttribute('aria-orientation', 'vertical');
    s.setAttribute('aria-label', `Widths of ${left.dataset.title} and ${right.dataset.title}`);
    s.title = 'Drag, or use the arrow keys, to change the widths';
    const share = () => {
      const [a, b] = [this.weights.get(left), this.weights.get(right)];
      return a / (a + b);
    };
    s.update = () => s.setAttribute('aria-valuenow', String(Math.round(share() * 100)));
    const move = (part) => {
      const sum = this.weights.get(left) + this.weights.get(right);
      const width = left.offsetWidth + right.offsetWidth;
      const edge = Math.min(0.45, least / width);
      const p = Math.max(edge, Math.min(1 - edge, part));
      this.weights.set(left, sum * p);
      this.weights.set(right, sum * (1 - p));
      this.apply();
    };
    s.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: -0.04, ArrowRight: 0.04 }[e.key];
      if (!step) return;
      e.preventDefault();
      move(share() + step);
    });
    s.addEventListener('pointerdown', (e) => {
      e.preventDefault();
      s.setPointerCapture(e.pointerId);
      s.classList.add('dragged');
    });
    s.addEventListener('pointermove', (e) => {
      if (!s.hasPointerCapture(e.pointerId)) return;
      const from = left.getBoundingClientRect().left;
      move((e.clientX - from) / (right.getBoundingClientRect().right - from));
    });
    s.addEventListener('lostpointercapture', () => s.classList.remove('dragged'));
    s.addEventListener('dblclick', () => this.widen(undefined));
    return s;
  }
}
