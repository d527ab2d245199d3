/*
 * The flame graph on a canvas: a tree from buildTree laid out as boxes, drawn
 * when it changes and not otherwise. It can be walked with the mouse and with
 * the arrow keys; what has the focus is told to screen readers in words.
 */
import { h, sizeCanvas, token, showTip, hideTip, replace } from "./dom.js";
import { frameColor, differenceColor, inkOn } from "./colors.js";
import * as format from "./format.js";

const ROW = 20, MIN_WIDTH = 0.6;
const REST = "(smaller call stacks, together)";

export class Flame {
	/* @onzoom(path of function names) when the reader zooms. */
	constructor(onzoom) {
		this.onzoom = onzoom;
		this.canvas = h("canvas.flame", { tabindex: 0, role: "application",
			"aria-label": "Flame graph. Arrow keys move, Enter zooms, Escape zooms out." });
		this.live = h("div.unseen", { "aria-live": "polite" });
		this.element = h("div.flame-box", null, this.canvas, this.live);
		this.focus = 0;
		this.zoom = 0;
		this.listen();
	}

	listen() {
		this.canvas.addEventListener("mousemove", (e) => this.hover(e));
		this.canvas.addEventListener("mouseleave", () => {
			hideTip();
			this.mark(-1);
		});
		this.canvas.addEventListener("click", (e) => {
			const n = this.at(e);
			if (n >= 0)
				this.zoomTo(n);
		});
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	/* @options: { unit, difference, search, inverted } */
	show(trace, tree, options) {
		this.trace = trace;
		this.tree = tree;
		this.options = options;
		this.total = Math.max(tree.now[0], 0);
		this.findMatches();
		this.zoom = this.follow(options.zoom || []);
		this.focus = this.zoom;
		this.marked = -1;
		this.draw();
	}

	name(n) {
		const fn = this.tree.fn[n];
		if (n === 0)
			return "everything";
		return fn === -2 ? REST : this.trace.functions[fn].name;
	}

	follow(path) {
		let at = 0;
		for (const id of path) {
			const children = this.tree.children[at];
			const next = children && children.get(id);
			if (next === undefined)
				break;
			at = next;
		}
		return at;
	}

	path(n) {
		const path = [];
		for (; n > 0; n = this.tree.parent[n])
			path.unshift(this.tree.fn[n]);
		return path;
	}

	/* A stack counts as found when any of its frames is. */
	findMatches() {
		const { tree, options } = this;
		this.matches = null;
		this.matchedShare = 0;
		if (!options.search)
			return;
		const hits = this.trace.functions.map((f) => options.search(f));
		this.matches = new Uint8Array(tree.fn.length);
		let covered = 0;
		const inside = new Uint8Array(tree.fn.length);
		for (let n = 1; n < tree.fn.length; n++) {
			if (tree.fn[n] >= 0 && hits[tree.fn[n]]) {
				this.matches[n] = 1;
				if (!inside[tree.parent[n]])
					covered += tree.now[n];
			}
			inside[n] = this.matches[n] | inside[tree.parent[n]];
		}
		this.matchedShare = this.total ? covered / this.total : 0;
	}

	/* Boxes of what is at least half a pixel wide. */
	layout(width) {
		const { tree, zoom } = this;
		const boxes = [], scale = tree.now[zoom] > 0 ? width / tree.now[zoom] : 0;
		const up = [];
		for (let n = tree.parent[zoom]; n >= 0; n = tree.parent[n])
			up.unshift(n);
		up.forEach((n, i) => boxes.push({ n, x: 0, w: width, row: i, above: true }));
		const base = up.length, queue = [{ n: zoom, x: 0, row: base }];
		let rows = base + 1;
		while (queue.length) {
			const { n, x, row } = queue.pop();
			const w = tree.now[n] * scale;
			if (w < MIN_WIDTH)
				continue;
			boxes.push({ n, x, w, row });
			rows = Math.max(rows, row + 1);
			let left = x;
			for (const c of this.ordered(n)) {
				queue.push({ n: c, x: left, row: row + 1 });
				left += Math.max(0, tree.now[c]) * scale;
			}
		}
		return { boxes, rows };
	}

	ordered(n) {
		const { tree } = this, children = tree.children[n];
		if (!children)
			return [];
		return [...children.values()].sort((a, b) => tree.now[b] - tree.now[a]);
	}

	draw() {
		const width = this.element.clientWidth || 800;
		const { boxes, rows } = this.layout(width);
		this.width = width;
		this.byRow = Array.from({ length: rows }, () => []);
		for (const box of boxes)
			this.byRow[box.row].push(box);
		const height = Math.max(rows * ROW + 2, 220);
		const c = sizeCanvas(this.canvas, width, height);
		c.clearRect(0, 0, width, height);
		c.font = "12px " + token("sans");
		c.textBaseline = "middle";
		for (const box of boxes)
			this.drawBox(c, box);
	}

	error(n) {
		return this.tree.variance ? Math.sqrt(this.tree.variance[n]) : 0;
	}

	/* Of a sampled trace: less than twice its error says nothing. */
	isNoise(n) {
		const { tree, options } = this, value = options.difference ? tree.now[n] - tree.before[n] : tree.now[n];
		return Math.abs(value) < 2 * this.error(n);
	}

	color(n) {
		const { tree, options, trace } = this;
		if (n > 0 && this.isNoise(n))
			return hexToRgb(token("even"));
		if (options.difference) {
			const now = tree.now[n], before = tree.before[n];
			const top = Math.max(now, before);
			return differenceColor(top > 0 ? (now - before) / top : 0);
		}
		if (n === 0 || tree.fn[n] === -2)
			return hexToRgb(token("even"));
		const f = trace.functions[tree.fn[n]];
		return frameColor(trace.moduleRank.get(f.module), f.id);
	}

	drawBox(c, { n, x, w, row, above }) {
		const y = row * ROW, color = this.color(n);
		const faded = this.matches && !this.matches[n] && n !== 0;
		c.globalAlpha = above ? 0.55 : faded ? 0.28 : 1;
		c.fillStyle = color;
		const gap = w > 3 ? 1 : 0;
		c.fillRect(x, y, Math.max(w - gap, 0.4), ROW - 1);
		if (this.matches && this.matches[n]) {
			c.strokeStyle = token("ink");
			c.lineWidth = 1.25;
			if (w > 3)
				c.strokeRect(x + 0.6, y + 0.6, w - gap - 1.2, ROW - 2.2);
		}
		if (n === this.marked || (n === this.focus && document.activeElement === this.canvas)) {
			c.globalAlpha = 1;
			c.strokeStyle = token("ink");
			c.lineWidth = 1.5;
			c.strokeRect(x + 0.75, y + 0.75, Math.max(w - gap - 1.5, 1), ROW - 2.5);
		}
		if (w < 34) {
			c.globalAlpha = 1;
			return;
		}
		c.fillStyle = faded ? token("ink") : inkOn(color);
		const text = fit(c, this.label(n), w - 10);
		c.fillText(text, x + 5, y + ROW / 2);
		c.globalAlpha = 1;
	}

	label(n) {
		if (n === 0)
			return "everything \u00b7 " + format.amount(this.tree.now[0], this.options.unit);
		return this.name(n);
	}

	at(event) {
		const rect = this.canvas.getBoundingClientRect();
		const x = event.clientX - rect.left, row = Math.floor((event.clientY - rect.top) / ROW);
		const boxes = this.byRow && this.byRow[row];
		if (!boxes)
			return -1;
		const box = boxes.find((b) => x >= b.x && x < b.x + b.w);
		return box ? box.n : -1;
	}

	hover(event) {
		const n = this.at(event);
		this.mark(n);
		this.canvas.style.cursor = n >= 0 ? "pointer" : "default";
		if (n < 0)
			hideTip();
		else
			showTip(event.clientX, event.clientY, this.card(n));
	}

	mark(n) {
		if (n === this.marked)
			return;
		this.marked = n;
		if (!this.pending)
			this.pending = requestAnimationFrame(() => {
				this.pending = 0;
				this.draw();
			});
	}

	card(n) {
		const { tree, options, trace } = this, unit = options.unit;
		const value = tree.now[n], parent = tree.parent[n];
		const rows = [[format.amount(value, unit), `${format.percent(value / this.total)} of all \u00b7 ${format.exact(value, unit)}`]];
		if (this.error(n) > 0)
			rows.push(["\u00b1" + format.amount(this.error(n), unit), this.isNoise(n) ? "one standard error: too few samples to tell" : "one standard error"]);
		if (parent > 0)
			rows.push(["", format.percent(value / tree.now[parent]) + " of its " +
				(options.inverted ? "callee" : "caller")]);
		if (options.difference)
			rows.push([format.signed(value - tree.before[n], unit), "change, from " +
				format.amount(tree.before[n], unit)]);
		const frame = tree.frame[n];
		const where = frame >= 0 ? trace.framePath(frame) : "";
		const module = frame >= 0 ? trace.moduleName(trace.data.frames.module[frame]) : "";
		return h("div.card", null,
			h("div.card-name", null, format.shorten(this.name(n), 300)),
			h("div.card-where", null, format.shorten([where, module].filter(Boolean).join("  \u00b7  "), 200)),
			h("table", null, rows.map(([a, b]) => h("tr", null, h("td.num", null, a), h("td", null, b)))));
	}

	zoomTo(n) {
		this.zoom = n;
		this.focus = n;
		this.onzoom(this.path(n));
		this.draw();
		this.say(n);
	}

	reset() {
		this.zoomTo(0);
	}

	say(n) {
		replace(this.live, `${format.shorten(this.name(n), 200)}: ` +
			`${format.amount(this.tree.now[n], this.options.unit)}, ` +
			format.percent(this.tree.now[n] / this.total));
	}

	key(event) {
		const { tree } = this, n = this.focus;
		const siblings = n > 0 ? this.ordered(tree.parent[n]) : [n];
		const at = siblings.indexOf(n);
		const moves = {
			ArrowDown: () => this.ordered(n)[0], ArrowUp: () => (n > 0 ? tree.parent[n] : n),
			ArrowRight: () => siblings[at + 1], ArrowLeft: () => siblings[at - 1],
		};
		if (event.key === "Enter")
			this.zoomTo(n);
		else if (event.key === "Escape" || event.key === "Backspace")
			this.zoomTo(event.key === "Escape" ? 0 : Math.max(0, tree.parent[this.zoom]));
		else if (moves[event.key]) {
			const next = moves[event.key]();
			if (next !== undefined) {
				this.focus = next;
				this.draw();
				this.say(next);
			}
		} else
			return;
		event.preventDefault();
	}
}

function hexToRgb(hex) {
	const v = parseInt(hex.replace("#", ""), 16);
	return `rgb(${v >> 16} ${(v >> 8) & 255} ${v & 255})`;
}

/* As much of @text as fits, cut at the end. */
function fit(c, text, width) {
	const most = Math.ceil(width / 3);
	let t = text.length > most ? text.slice(0, most) : text;
	if (t === text && c.measureText(t).width <= width)
		return t;
	let lo = 0, hi = t.length;
	while (lo < hi) {
		const mid = (lo + hi + 1) >> 1;
		if (c.measureText(t.slice(0, mid) + "\u2026").width <= width)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo > 1 ? t.slice(0, lo) + "\u2026" : "";
}
