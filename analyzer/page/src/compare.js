/*
 * Two states side by side: two traces, or the two ends of a range of one. Sites
 * are matched by function and file; what has moved to another line is the same
 * site.
 */
import { h, replace, segmented, sizeCanvas, token, showTip, hideTip } from "./dom.js";
import { VirtualTable } from "./table.js";
import { metricInForce } from "./views.js";
import { METRICS } from "./model.js";
import { swatch } from "./timeline.js";
import * as format from "./format.js";

const METRIC_WORDS = { live: "Live", allocated: "Allocated", peak: "Peak", temporary: "Temporary" };

export class CompareView {
	constructor(app) {
		this.app = app;
		this.element = h("section");
		this.resize = () => this.curves && this.drawCurves();
		addEventListener("resize", this.resize);
	}

	release() {
		this.table?.release();
		removeEventListener("resize", this.resize);
		hideTip();
	}

	show() {
		const { app } = this, { state } = app;
		if (!app.baseline && app.state.selection().kind !== "range")
			return this.chooseRange();
		const unit = state.get("unit"), metric = app.baseline ? metricInForce(app) : "live";
		const rows = app.baseline ? this.ofTraces(metric, unit) : this.ofRange(unit);
		const total = rows.reduce((a, r) => [a[0] + r.before, a[1] + r.value], [0, 0]);
		const [sort, descending] = state.get("sort") ? [state.get("sort").replace(/^-/, ""), state.get("sort")[0] === "-"] : ["change", true];
		this.curves = app.baseline ? h("canvas.curves", { role: "img", "aria-label": "Live heap of both runs over time" }) : null;
		this.table?.release();
		this.table = this.makeTable(rows, unit);
		replace(this.element,
			h("div.controls", null, app.baseline ? segmented("Metric", METRICS.map((m) => [m, METRIC_WORDS[m]]), metric, (m) => state.set({ metric: m })) : null,
				segmented("Unit", [["bytes", "Bytes"], ["count", "Count"]], unit, (u) => state.set({ unit: u }))),
			this.lead(total, unit, rows), this.curves ? h("section.panel", null, h("div.legend", null, h("span.key", null, swatch("ink-3"), "baseline"),
				h("span.key", null, swatch("accent"), "later")), this.curves) : null,
			this.table.element);
		if (this.curves)
			this.drawCurves();
		this.table.show(rows, sort, descending);
	}

	chooseRange() {
		const { trace, state } = this.app, { marks } = trace.data;
		const shots = (marks ? marks.t.map((t, i) => ({ t, kind: marks.kind[i], name: marks.name[i] })) : []).filter((m) => m.kind === "snapshot");
		const points = [{ t: 0, name: "start" }, ...shots, { t: trace.durationUs, name: "end" }];
		const choose = (label, index) => h("select", { "aria-label": label }, points.map((p, i) => h("option", { value: i, selected: i === index },
			`${format.shorten(p.name, 60)} (${format.duration(p.t)})`)));
		const from = choose("Baseline", points.length > 2 ? 1 : 0), to = choose("Later", points.length - 1);
		replace(this.element, h("section.panel.narrow", null, h("h2", null, "Compare two moments of this run"),
			h("p.sub", null, "Take two snapshots, or drag a range on the curve above. To compare two runs: memprof-report html BEFORE AFTER -o page.html"),
			h("div.controls", null, from, h("span", null, "with"), to, h("button.primary", { type: "button", onclick: () => {
				const a = points[from.value].t, b = points[to.value].t;
				if (a !== b)
					state.select(this.app.snap({ kind: "range", from: Math.min(a, b), to: Math.max(a, b) }));
			} }, "Compare"))));
	}

	lead(total, unit, rows) {
		const change = total[1] - total[0], grown = rows.filter((r) => r.change > 0).length, shrunk = rows.filter((r) => r.change < 0).length;
		return h("div.lead.small", null, h("p.lead-first", null, h("span.delta" + (change > 0 ? ".more" : ".less"), { "data-raw": change, title: format.exact(change, unit) }, format.signed(change, unit)),
			` from ${format.amount(total[0], unit)} to ${format.amount(total[1], unit)}`),
		h("p.sub", null, `${grown} ${grown === 1 ? "site" : "sites"} grew, ${shrunk} shrank, ${rows.length - grown - shrunk} stayed the same.`));
	}

	makeTable(rows, unit) {
		const most = rows.reduce((a, r) => Math.max(a, Math.abs(r.change)), 0);
		const number = (key, title) => ({ key, title, align: "num", wide: true, value: (r) => r[key],
			cell: (r) => h("span", { title: format.exact(r[key], unit), "data-raw": r[key] }, format.amount(r[key], unit)) });
		return new VirtualTable({ label: "Differences by call site", template: "minmax(0, 1fr) 170px 104px 104px 84px",
			onsort: (sort, descending) => this.app.state.set({ sort: (descending ? "-" : "") + sort }), empty: "No differences.",
			columns: [
				{ key: "name", title: "call site", descending: false, value: (r) => r.name, cell: (r) => [
					h("span.vt-name", { dir: "auto", title: format.shorten(r.name, 400) }, format.shorten(r.name, 180)),
					h("span.vt-place", null, format.shorten([r.place, r.module].filter(Boolean).join("  \u00b7  "), 90))] },
				{ key: "change", title: "change", align: "num", value: (r) => r.change, cell: (r) => {
					const half = most > 0 ? 50 * Math.abs(r.change) / most : 0, bar = h("span.two-way" + (r.change < 0 ? ".less" : ".more"));
					bar.style.width = half + "%";
					bar.style[r.change < 0 ? "right" : "left"] = "50%";
					return [h("span.two-way-track", null, bar), h("span.vt-value", { title: format.exact(r.change, unit), "data-raw": r.change, "data-key": "change" }, format.signed(r.change, unit)),
						r.error > 0 ? h("span.pm", null, "\u00b1" + format.amount(r.error, unit)) : null];
				} },
				number("before", "before"), number("value", "after"),
				{ key: "status", title: "status", wide: true, value: (r) => r.status, cell: (r) => h("span.chip.chip-" + r.status, null, r.status) }] });
	}

	ofRange(unit) {
		const { app } = this, { trace } = app, v = app.values("live");
		const rows = new Map();
		for (let s = 0; s < trace.stackCount; s++)
			if (trace.isHeap(s))
				this.addRow(rows, trace, trace.stacks.site[s], v.before ? v.before[s] : 0, v.now[s], v.error ? v.error[s] ** 2 : 0);
		return finished(rows);
	}

	ofTraces(metric, unit) {
		const { baseline, later } = this.app, name = `${metric}_${unit}`, rows = new Map();
		[[baseline, 1, 0], [later, 0, 1]].forEach(([trace, before, now]) => {
			for (let i = 0; i < trace.siteCount; i++) {
				const v = trace.sites[name][i], e = trace.sites[name + "_error"][i] ** 2;
				if (trace.sites.kind[i] === 0)
					this.addRow(rows, trace, i, v * before, v * now, e);
			}
		});
		return finished(rows);
	}

	addRow(rows, trace, site, before, now, variance) {
		const label = trace.siteLabel(site), module = trace.moduleName(label.module);
		const file = trace.strings[trace.data.frames.file[trace.sites.frame[site]]] || "";
		const key = [label.name, file, file ? "" : module].join("\n");
		let row = rows.get(key);
		if (!row)
			rows.set(key, row = { key, name: label.name, place: label.place, module, before: 0, value: 0, variance: 0 });
		row.before += before;
		row.value += now;
		row.variance += variance;
		row.place = label.place;
	}

	/* Both runs from their start, on one scale. */
	drawCurves() {
		const width = this.curves.parentElement.clientWidth - 40, height = 190, c = sizeCanvas(this.curves, width, height);
		const traces = [[this.app.baseline, "ink-3", "baseline"], [this.app.later, "accent", "later"]].filter(([t]) => t.timeline);
		if (!traces.length)
			return;
		const longest = Math.max(...traces.map(([t]) => t.durationUs)), top = Math.max(1, ...traces.map(([t]) => t.timeline.live_bytes.reduce((a, b) => Math.max(a, b), 0)));
		const left = 62, bottom = height - 24, x = (us) => left + us / longest * (width - left), y = (v) => bottom - v / top * (bottom - 8);
		this.drawGrid(c, width, { left, bottom, x, y, top, longest });
		for (const [trace, color] of traces) {
			c.beginPath();
			for (const i of trace.outline(Math.max(1, Math.round((width - left) * trace.durationUs / longest))))
				c.lineTo(x(trace.timeline.t[i]), y(trace.timeline.live_bytes[i]));
			c.strokeStyle = token(color);
			c.lineWidth = 1.75;
			c.stroke();
		}
		this.curves.onmouseleave = hideTip;
		this.curves.onmousemove = (e) => {
			const us = (e.clientX - this.curves.getBoundingClientRect().left - left) / (width - left) * longest;
			if (us < 0)
				return hideTip();
			showTip(e.clientX, e.clientY, h("div.card", null, h("div.card-time", null, format.duration(us)),
				h("table", null, traces.map(([t, color, words]) => h("tr", null, h("td", null, swatch(color)),
					h("td.num", null, us > t.durationUs ? "ended" : format.bytes(t.valueAt("live_bytes", us))), h("td", null, words))))));
		};
	}

	drawGrid(c, width, { left, bottom, x, y, top, longest }) {
		const step = 2 ** Math.floor(Math.log2(top / 2)), second = roundStep(longest / Math.max(2, Math.floor((width - left) / 110)));
		c.font = "11px " + token("sans");
		c.fillStyle = token("ink-3");
		c.strokeStyle = token("line");
		c.lineWidth = 1;
		c.textAlign = "right";
		c.textBaseline = "middle";
		for (let v = 0; v <= top; v += step) {
			c.beginPath();
			c.moveTo(left, Math.round(y(v)) + 0.5);
			c.lineTo(width, Math.round(y(v)) + 0.5);
			c.stroke();
			c.fillText(v ? format.tidy(format.bytes(v)) : "0", left - 8, y(v));
		}
		c.textBaseline = "top";
		for (let us = 0; us <= longest; us += second) {
			c.textAlign = x(us) > width - 24 ? "right" : us ? "center" : "left";
			c.fillText(us ? format.tidy(format.duration(us)) : "0", x(us), bottom + 8);
		}
	}
}

/* 1, 2 or 5 of a decimal unit, at least @us. */
function roundStep(us) {
	const unit = 10 ** Math.floor(Math.log10(us));
	return [1, 2, 5, 10].find((n) => n * unit >= us) * unit;
}

function finished(rows) {
	return [...rows.values()].filter((r) => r.before || r.value).map((r) => {
		r.change = r.value - r.before;
		r.error = Math.sqrt(r.variance);
		r.faint = r.error > 0 && Math.abs(r.change) < 2 * r.error;
		r.status = !r.before ? "new" : !r.value ? "gone" : r.change > 0 ? "grown" : r.change < 0 ? "shrunk" : "same";
		return r;
	});
}
