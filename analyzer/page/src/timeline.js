/*
 * The run as curves over time: memory, allocation rate, composition; above them
 * the marks, below them the list of events. All charts share the cursor and the
 * selection.
 */
import uPlot from "uplot";
import { h, replace, segmented, showTip, hideTip, token } from "./dom.js";
import { hueToken, HUES } from "./colors.js";
import { snap, describeSelection } from "./strip.js";
import { showGrowth } from "./growth.js";
import * as format from "./format.js";

const AXIS = 66;

/* Steps of the scale of bytes. */
const BINARY = Array.from({ length: 50 }, (_, i) => 2 ** i);

const MARKS = {
	process: "Process started", snapshot: "Snapshot", event: "Event", reset: "Reset", start: "Recording started",
	stop: "Recording stopped", rate: "Rate changed", thread: "Thread started", fork: "Fork",
	module: "Module loaded",
};

export class TimelineView {
	constructor(app) {
		this.app = app;
		this.charts = [];
		this.memory = h("div.chart");
		this.rate = h("div.chart");
		this.parts = h("div.chart");
		this.lane = h("div.lane", { "aria-label": "Marks" });
		this.legend = h("div.legend");
		this.choice = h("div");
		this.events = h("div.events", { tabindex: 0, role: "region", "aria-label": "Events" });
		this.growth = h("section.panel");
		this.chosen = h("div.chosen");
		const hasReadings = !!app.trace.data.readings?.t.length;
		this.element = h("section.timeline", null,
			h("div.chart-head", null, h("h2", null, "Memory"), legend([["accent", "live heap"],
				...(hasReadings ? [["hue-1", "resident (RSS)"]] : []), ["hue-2", "mapped by the program"]]), this.chosen),
			this.lane, this.memory,
			h("div.chart-head", null, h("h2", null, "Allocation rate"),
				legend([["hue-3", "bytes allocated per second"]])),
			this.rate,
			h("div.chart-head", null, h("h2", null, "What it consists of"), this.choice),
			this.legend, this.parts, this.growth,
			h("h2", null, "Events"), this.events);
	}

	release() {
		this.charts.forEach((c) => c.destroy());
		this.charts = [];
		hideTip();
	}

	show() {
		const { trace } = this.app;
		this.release();
		replace(this.memory);
		replace(this.rate);
		replace(this.parts);
		if (!trace.timeline) {
			replace(this.memory, h("p.note", null, "This trace has no times: nothing to draw."));
			return;
		}
		this.sync = uPlot.sync("time");
		this.drawMemory(trace);
		this.drawRate(trace);
		this.drawParts(trace);
		this.drawLane(trace);
		this.listEvents(trace);
		this.follow();
	}

	/* The selection has changed: nothing to compute, only to draw. */
	select() {
		this.charts.forEach((c) => c.redraw(false));
		this.markEvents();
		this.follow();
	}

	/* What is below the charts is about what is chosen on them. */
	follow() {
		const { trace, state } = this.app, s = state.selection();
		replace(this.chosen, h("span", null, describeSelection(trace, s)), s.kind === "all" ? null
			: h("button.quiet", { type: "button", onclick: () => state.select({ kind: "all" }) }, "whole run"));
		showGrowth(this.growth, this.app);
	}

	chart(host, height, data, series, axis, extra = {}) {
		const view = this;
		const chart = new uPlot({
			width: host.clientWidth, height, ms: 1e-3, legend: { show: false }, series, padding: [8, 0, 0, 0],
			cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
			scales: { x: { time: false, range: [0, this.app.trace.durationUs / 1e6] }, y: { range: (u, lo, hi) => [0, (hi || 1) * 1.06] } },
			axes: [this.axis((u, splits) => splits.map((v) => v ? format.tidy(format.duration(v * 1e6)) : "0"), { size: 30, space: innerWidth < 600 ? 56 : 90 }),
				this.axis((u, splits) => splits.map((v) => v ? format.tidy(axis(v)) : "0"), { size: AXIS, incrs: BINARY })],
			hooks: {
				draw: [(u) => view.drawSelection(u)],
				setSelect: [(u) => view.dragged(u)],
				ready: [(u) => view.listen(u)],
			},
			...extra,
		}, data, host);
		this.charts.push(chart);
		return chart;
	}

	axis(values, more) {
		return { values, stroke: token("ink-3"), font: "11px " + token("sans"), grid: { stroke: token("line"), width: 1 },
			ticks: { show: false }, gap: 6, ...more };
	}

	line(label, color, fill) {
		return { label, stroke: token(color), width: 1.6, spanGaps: true, fill: fill && token(fill), points: { show: false } };
	}

	drawMemory(trace) {
		const { timeline } = trace, readings = trace.data.readings;
		const points = trace.outline(Math.max(1, this.memory.clientWidth - AXIS)), x = points.map((i) => timeline.t[i] / 1e6);
		let data = [x, points.map((i) => timeline.live_bytes[i]), points.map((i) => timeline.mapped_bytes[i])];
		if (readings && readings.t.length)
			data = uPlot.join([data, [readings.t.map((v) => v / 1e6), readings.resident]]);
		else
			data.push(x.map(() => null));
		this.chart(this.memory, innerWidth < 600 ? 220 : 280, data,
			[{}, this.line("live", "accent", "curve-fill"), this.line("mapped", "hue-2"), this.line("rss", "hue-1")],
			format.bytes);
	}

	drawRate(trace) {
		const { t, allocated_bytes } = trace.timeline, windows = Math.min(400, t.length - 1);
		const x = [], y = [], step = trace.durationUs / windows;
		for (let w = 0, i = 0, last = 0, lastT = 0; w < windows; w++) {
			const end = (w + 1) * step;
			while (i + 1 < t.length && t[i + 1] <= end)
				i++;
			if (t[i] > lastT) {
				x.push((lastT + t[i]) / 2e6);
				y.push((allocated_bytes[i] - last) / (t[i] - lastT) * 1e6);
				last = allocated_bytes[i];
				lastT = t[i];
			}
		}
		this.rates = { x, y };
		this.chart(this.rate, 130, [x, y], [{}, { ...this.line("rate", "hue-3"), fill: token("rate-fill") }],
			(v) => format.bytes(v) + "/s");
	}

	/* ---- composition ---------------------------------------------------- */

	groups(trace, by) {
		if (by === "kernel") {
			const shown = trace.memoryCategories().filter((c) => c.bytes.some((v) => v > 0));
			return { t: trace.data.memory.t, list: shown.map((c) => ({ name: c.label, values: c.bytes, color: c.color })) };
		}
		const { moments } = trace, groups = new Map();
		moments.stack.forEach((s) => {
			const site = trace.stacks.site[s], label = trace.siteLabel(site);
			const key = by === "site" ? site : label.module;
			if (!groups.has(key))
				groups.set(key, { stacks: [], site, module: label.module,
					name: by === "site" ? label.name : trace.moduleName(label.module) });
			groups.get(key).stacks.push(s);
		});
		const list = [...groups.values()].map((g) => {
			const values = trace.curve(g.stacks);
			return { ...g, values, weight: values.reduce((a, b) => a + b, 0) };
		}).sort((a, b) => b.weight - a.weight);
		const top = list.slice(0, HUES - 1);
		const asked = by === "site" ? list.findIndex((g) => String(g.site) === this.app.state.get("site")) : -1;
		if (asked >= 0) {
			list[asked].isAsked = true;
			list.unshift(...list.splice(asked, 1));
			top.splice(0, top.length, ...list.slice(0, HUES - 1));
		}
		top.forEach((g, i) => {
			g.color = by === "site" ? hueToken(i) : hueToken(trace.moduleRank.get(g.module));
		});
		const rest = moments.live_bytes.slice((moments.rows - 1) * moments.E);
		list.slice(HUES - 1).forEach((g) => g.values.forEach((v, e) => {
			rest[e] += v;
		}));
		if (rest.some((v) => v > 0))
			top.push({ name: "all others", values: rest, color: "hue-rest" });
		return { t: moments.t, list: top };
	}

	drawParts(trace) {
		const { state } = this.app, options = [["module", "Modules"], ["site", "Call sites"]];
		if (trace.data.memory && trace.data.memory.t.length > 1)
			options.push(["kernel", "Resident memory"]);
		const by = options.some(([v]) => v === state.get("stack")) ? state.get("stack") : "module";
		replace(this.choice, segmented("Composition", options, by, (v) => state.set({ stack: v })));
		if (!trace.moments)
			return;
		const { t, list } = this.groups(trace, by);
		this.partList = { t, list };
		const x = [...t].map((v) => v / 1e6), sums = new Float64Array(t.length);
		const layers = list.map((g) => {
			for (let e = 0; e < sums.length; e++)
				sums[e] += g.values[e];
			return [...sums];
		});
		/* Painted from the back: the highest sum first. */
		const series = list.map((g) => ({ label: g.name, stroke: token("paper"), width: 0.75,
			fill: token(g.color), points: { show: false } })).reverse();
		this.chart(this.parts, innerWidth < 600 ? 220 : 260, [x, ...layers.reverse()], [{}, ...series], format.bytes);
		replace(this.legend, list.map((g) => h("span.key" + (g.isAsked ? ".asked" : ""), { title: format.shorten(g.name, 300) }, swatch(g.color),
			format.shorten(g.name, 44))));
	}

	/* ---- selection, hover ------------------------------------------------ */

	dragged(u) {
		if (u.select.width < 4)
			return;
		const from = u.posToVal(u.select.left, "x") * 1e6;
		const to = u.posToVal(u.select.left + u.select.width, "x") * 1e6;
		u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
		this.justDragged = true;
		this.app.state.select(snap(this.app.trace, { kind: "range", from, to }));
	}

	listen(u) {
		u.over.addEventListener("mousedown", () => {
			this.justDragged = false;
		});
		u.over.addEventListener("click", (e) => {
			if (this.justDragged) {
				this.justDragged = false;
				return;
			}
			const at = u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x") * 1e6;
			this.app.state.select(snap(this.app.trace, { kind: "moment", at }));
		});
		u.over.addEventListener("mousemove", (e) => {
			const at = u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x") * 1e6;
			showTip(e.clientX, e.clientY, this.card(at, u.root.parentElement === this.parts));
		});
		u.over.addEventListener("mouseleave", hideTip);
	}

	card(us, withParts) {
		const { trace } = this.app, readings = trace.data.readings, rows = [];
		rows.push(["accent", format.bytes(trace.valueAt("live_bytes", us)), "live heap"]);
		if (readings && readings.t.length) {
			const i = nearest(readings.t, us);
			rows.push(["hue-1", format.bytes(readings.resident[i]), "resident"]);
		}
		rows.push(["hue-2", format.bytes(trace.valueAt("mapped_bytes", us)), "mapped by the program"]);
		rows.push([null, format.count(trace.valueAt("live_count", us)), "live blocks"]);
		const r = nearest(this.rates.x, us / 1e6);
		rows.push(["hue-3", format.bytes(this.rates.y[r] || 0) + "/s", "allocated"]);
		if (withParts && this.partList) {
			const e = nearest(this.partList.t, us);
			this.partList.list.forEach((g) => rows.push([g.color, format.bytes(g.values[e]), format.shorten(g.name, 40)]));
		}
		return h("div.card", null, h("div.card-time", null, format.duration(us)),
			h("table", null, rows.map(([color, value, words]) => h("tr", null,
				h("td", null, color ? swatch(color) : null), h("td.num", null, value), h("td", null, words)))));
	}

	drawSelection(u) {
		const s = this.app.state.selection(), c = u.ctx, { left, top, width, height } = u.bbox;
		const x = (us) => Math.round(u.valToPos(us / 1e6, "x", true));
		c.save();
		this.drawMarkLines(u, x);
		if (s.kind !== "all") {
			const a = x(s.kind === "range" ? s.from : s.at), b = s.kind === "range" ? x(s.to) : a;
			const ratio = devicePixelRatio || 1;
			if (s.kind === "range") {
				c.globalAlpha = 0.62;
				c.fillStyle = token("paper");
				c.fillRect(left, top, a - left, height);
				c.fillRect(b, top, left + width - b, height);
				c.globalAlpha = 1;
			}
			c.fillStyle = token("ink");
			c.fillRect(a - ratio / 2, top, 1.5 * ratio, height);
			c.fillRect(b - ratio / 2, top, 1.5 * ratio, height);
		}
		c.restore();
	}

	drawMarkLines(u, x) {
		const { marks } = this.app.trace.data;
		if (!marks || u.root.parentElement !== this.memory)
			return;
		const { top, height } = u.bbox;
		u.ctx.strokeStyle = token("ink-3");
		u.ctx.setLineDash([2, 4]);
		marks.t.forEach((us, i) => {
			if (marks.kind[i] !== "snapshot" && marks.kind[i] !== "event" && marks.kind[i] !== "reset")
				return;
			u.ctx.beginPath();
			u.ctx.moveTo(x(us), top);
			u.ctx.lineTo(x(us), top + height);
			u.ctx.stroke();
		});
		u.ctx.setLineDash([]);
	}

	/* ---- marks and events -------------------------------------------------- */

	drawLane(trace) {
		const { marks } = trace.data;
		replace(this.lane);
		if (!marks)
			return;
		const width = this.memory.clientWidth - AXIS, groups = [];
		marks.t.forEach((us, i) => {
			const x = us / trace.durationUs * width, last = groups[groups.length - 1];
			if (last && x - last.x < 16)
				last.marks.push(i);
			else
				groups.push({ x, marks: [i] });
		});
		for (const g of groups) {
			const kinds = new Set(g.marks.map((i) => marks.kind[i]));
			const kind = g.marks.length === 1 ? [...kinds][0] : "several";
			const label = g.marks.map((i) => this.markWords(marks, i)).join("; ");
			const button = h("button.mark.mark-" + kind, { type: "button", "aria-label": format.shorten(label, 300),
				onclick: () => this.app.state.select(snap(trace, { kind: "moment", at: marks.t[g.marks[0]] })),
				onmouseenter: (e) => showTip(e.clientX, e.clientY, this.markCard(marks, g.marks)),
				onmouseleave: hideTip, onblur: hideTip, onfocus: (e) => {
					const box = e.target.getBoundingClientRect();
					showTip(box.left, box.bottom, this.markCard(marks, g.marks));
				} }, g.marks.length > 1 ? String(g.marks.length) : null);
			button.style.left = AXIS + g.x + "px";
			this.lane.append(button);
		}
	}

	markWords(marks, i) {
		return [MARKS[marks.kind[i]] || marks.kind[i], marks.name[i], marks.detail[i]].filter(Boolean).join(" ");
	}

	markCard(marks, list) {
		return h("div.card", null, h("table", null, list.slice(0, 12).map((i) => h("tr", null,
			h("td.num", null, format.duration(marks.t[i])), h("td", null, MARKS[marks.kind[i]] || marks.kind[i]),
			h("td", null, format.shorten(marks.name[i] || "", 80))))),
		list.length > 12 ? h("div.card-where", null, `and ${list.length - 12} more`) : null);
	}

	listEvents(trace) {
		const { marks } = trace.data;
		if (!marks || !marks.t.length) {
			replace(this.events, h("p.note", null, "The program marked nothing. memprof_snapshot() and memprof_event() do, and so does memprof ctl."));
			return;
		}
		const shown = marks.t.length > 400 ? 400 : marks.t.length;
		replace(this.events, h("table.plain", null,
			h("thead", null, h("tr", null, h("th.num", null, "at"), h("th", null, "what"), h("th", null, "name"),
				h("th.wide-only", null, "detail"), h("th.num", null, "live then"))),
			h("tbody", null, marks.t.slice(0, shown).map((us, i) => h("tr", { "data-us": us }, h("td.num", null,
				h("button.link", { type: "button", onclick: () =>
					this.app.state.select(snap(trace, { kind: "moment", at: us })) }, format.duration(us))),
			h("td", null, MARKS[marks.kind[i]] || marks.kind[i]), h("td", { dir: "auto" }, format.shorten(marks.name[i] || "", 120)),
			h("td.wide-only", { dir: "auto" }, format.shorten(marks.detail[i] || "", 120)),
			h("td.num", null, format.bytes(trace.valueAt("live_bytes", us))))))),
		shown < marks.t.length ? h("p.note", null, `${marks.t.length - shown} more are in the trace: memprof-report events`) : null);
		this.markEvents();
	}

	markEvents() {
		const s = this.app.state.selection();
		for (const row of this.events.querySelectorAll("tbody tr")) {
			const us = +row.dataset.us;
			row.classList.toggle("outside", s.kind === "range" && (us < s.from || us > s.to));
		}
	}
}

function nearest(list, value) {
	let lo = 0, hi = list.length - 1;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (list[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && value - list[lo - 1] < list[lo] - value ? lo - 1 : lo;
}

export function swatch(color) {
	return h("i.swatch", { style: { background: `var(--${color})` } });
}

function legend(items) {
	return h("div.legend", null, items.map(([color, words]) => h("span.key", null, swatch(color), words)));
}
