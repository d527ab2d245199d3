/*
 * The narrow curve at the top of every view: the heap over the run, on which a
 * moment is clicked and a range is dragged. Everything below follows. Also by
 * keyboard: left and right move the moment, with Shift they stretch a range.
 */
import { h, sizeCanvas, token, replace } from "./dom.js";
import * as format from "./format.js";

const HEIGHT = 52;

export class Strip {
	constructor(trace, state) {
		this.trace = trace;
		this.state = state;
		this.canvas = h("canvas.strip", { tabindex: 0, role: "slider",
			"aria-label": "Moment or range of the run. Arrow keys move the moment, with Shift they stretch a range, Escape goes back to the whole run.",
			"aria-valuemin": 0, "aria-valuemax": Math.round(trace.durationUs / 1e6) });
		this.words = h("span.strip-words");
		this.clear = h("button.quiet", { type: "button", onclick: () => state.select({ kind: "all" }) },
			"whole run");
		this.element = h("div.strip-box", null, this.canvas,
			h("div.strip-line", null, this.words, this.clear));
		this.listen();
	}

	listen() {
		const us = (e) => {
			const rect = this.canvas.getBoundingClientRect();
			const x = Math.max(0, Math.min(1, (e.clientX - rect.left) / rect.width));
			return x * this.trace.durationUs;
		};
		this.canvas.addEventListener("pointerdown", (e) => {
			this.start = us(e);
			this.startX = e.clientX;
			this.canvas.setPointerCapture(e.pointerId);
		});
		this.canvas.addEventListener("pointermove", (e) => {
			if (this.start === undefined || Math.abs(e.clientX - this.startX) < 4)
				return;
			this.draft = [Math.min(this.start, us(e)), Math.max(this.start, us(e))];
			this.draw();
		});
		this.canvas.addEventListener("pointerup", (e) => {
			if (this.start === undefined)
				return;
			const draft = this.draft;
			this.start = this.draft = undefined;
			this.choose(draft ? { kind: "range", from: draft[0], to: draft[1] }
				: { kind: "moment", at: us(e) });
		});
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	/* Only moments that the page knows can be chosen. */
	choose(selection) {
		this.state.select(snap(this.trace, selection));
	}

	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
		if (event.key === "Escape")
			this.state.select({ kind: "all" });
		if (!step || !this.trace.moments)
			return;
		event.preventDefault();
		const { t } = this.trace.moments, s = this.state.selection();
		const move = (us) => t[Math.max(0, Math.min(t.length - 1, this.trace.nearestMoment(us) + step))];
		if (event.shiftKey) {
			const from = s.kind === "range" ? s.from : s.kind === "moment" ? s.at : 0;
			const to = move(s.kind === "range" ? s.to : s.kind === "moment" ? s.at : 0);
			if (to > from)
				this.state.select({ kind: "range", from, to }, true);
		} else
			this.state.select({ kind: "moment", at: move(s.kind === "moment" ? s.at :
				s.kind === "range" ? s.to : this.trace.durationUs) }, true);
	}

	draw() {
		const { trace } = this, width = this.element.clientWidth || 800;
		const c = sizeCanvas(this.canvas, width, HEIGHT);
		c.clearRect(0, 0, width, HEIGHT);
		if (trace.timeline)
			this.drawCurve(c, width);
		this.drawMarks(c, width);
		this.drawSelection(c, width);
		this.describe();
	}

	/* The highest value in each column of pixels, -1 where there is none. */
	peaks(columns) {
		if (this.peaked?.length === columns)
			return this.peaked;
		const { t, live_bytes } = this.trace.timeline;
		this.peaked = new Float64Array(columns).fill(-1);
		for (let i = 0; i < t.length; i++) {
			const x = Math.min(columns - 1, Math.floor(t[i] / this.trace.durationUs * columns));
			this.peaked[x] = Math.max(this.peaked[x], live_bytes[i]);
		}
		return this.peaked;
	}

	drawCurve(c, width) {
		const columns = Math.ceil(width), peaks = this.peaks(columns), top = Math.max(1, ...peaks);
		c.beginPath();
		c.moveTo(0, HEIGHT);
		let last = 0;
		for (let x = 0; x < columns; x++) {
			last = peaks[x] < 0 ? last : peaks[x];
			c.lineTo(x + 0.5, HEIGHT - 1 - last / top * (HEIGHT - 8));
		}
		c.lineTo(width, HEIGHT);
		c.fillStyle = token("curve-fill");
		c.fill();
		c.strokeStyle = token("accent");
		c.lineWidth = 1.25;
		c.stroke();
	}

	drawMarks(c, width) {
		const { marks } = this.trace.data;
		if (!marks)
			return;
		c.fillStyle = token("ink-3");
		marks.t.forEach((us, i) => {
			if (marks.kind[i] === "snapshot" || marks.kind[i] === "event")
				c.fillRect(Math.round(us / this.trace.durationUs * width), 0, 1, 6);
		});
	}

	drawSelection(c, width) {
		const s = this.draft ? { kind: "range", from: this.draft[0], to: this.draft[1] } : this.state.selection();
		const x = (us) => us / this.trace.durationUs * width;
		if (s.kind === "all")
			return;
		const [a, b] = s.kind === "range" ? [x(s.from), x(s.to)] : [x(s.at), x(s.at)];
		c.globalAlpha = 0.66;
		c.fillStyle = token("paper");
		if (s.kind === "range") {
			c.fillRect(0, 0, a, HEIGHT);
			c.fillRect(b, 0, width - b, HEIGHT);
		}
		c.globalAlpha = 1;
		c.fillStyle = token("ink");
		c.fillRect(Math.min(width - 1.5, Math.max(0, a - 0.75)), 0, 1.5, HEIGHT);
		if (b !== a)
			c.fillRect(Math.min(width - 1.5, b - 0.75), 0, 1.5, HEIGHT);
	}

	describe() {
		const s = this.state.selection(), text = describeSelection(this.trace, s);
		replace(this.words, text);
		this.canvas.setAttribute("aria-valuetext", text);
		this.canvas.setAttribute("aria-valuenow", Math.round((s.at ?? s.to ?? this.trace.durationUs) / 1e6));
		this.clear.hidden = s.kind === "all";
	}
}

export function snap(trace, selection) {
	if (!trace.moments)
		return selection;
	const near = (us) => trace.moments.t[trace.nearestMoment(us)];
	if (selection.kind === "moment")
		return { kind: "moment", at: near(selection.at) };
	if (selection.kind === "range") {
		const from = near(selection.from), to = near(selection.to);
		return to > from ? { kind: "range", from, to } : { kind: "moment", at: to };
	}
	return selection;
}

export function describeSelection(trace, s) {
	const at = (us) => trace.timeline ? format.bytes(trace.liveAt(us)) : "";
	if (s.kind === "moment")
		return `${at(s.at)} live at ${format.duration(s.at)}`;
	if (s.kind === "range") {
		const grown = trace.timeline ? trace.liveAt(s.to) - trace.liveAt(s.from) : 0;
		return `${format.duration(s.from)} \u2013 ${format.duration(s.to)}: ${format.signed(grown, "bytes")} live`;
	}
	return `Whole run, ${format.duration(trace.durationUs)}. Click for a moment, drag for a range.`;
}
