/*
 * Two states side by side: two traces, or the two ends of a range of one. Sites
 * are matched by function and file; what has moved to another line is the same
 * site.
 */
import { h, replace, segmented, sizeCanvas, token } from "./dom.js";
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

	drawCurves() {
		const width = this.curves.parentElement.clientWidth - 40, height = 170, c = sizeCanvas(this.curves, width, height);
		const traces = [[this.app.baseline, "ink-3"], [this.app.later, "accent"]].filter(([t]) => t.timeline);
		const longest = Math.max(...traces.map(([t]) => t.durationUs)), top = Math.max(1, ...traces.map(([t]) => t.timeline.live_bytes.reduce((a, b) => Math.max(a, b), 0)));
		c.font = "11px " + token("sans");
		c.fillStyle = token("ink-3");
		c.fillText(format.bytes(top), 0, 10);
		for (const [trace, color] of traces) {
			const { t, live_bytes } = trace.timeline, step = Math.max(1, Math.floor(t.length / 2000));
			c.beginPath();
			for (let i = 0; i < t.length; i += step)
				c.lineTo(t[i] / longest * width, height - 2 - live_bytes[i] / top * (height - 22));
			c.strokeStyle = token(color);
			c.lineWidth = 1.75;
			c.stroke();
		}
	}
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
