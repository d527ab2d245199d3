/*
 * The answer on one screen: what happened in two sentences, the figures, where
 * the memory is, what grew, which sites to look at.
 */
import { h, replace } from "./dom.js";
import { swatch } from "./timeline.js";
import { showGrowth, siteBar } from "./growth.js";
import * as format from "./format.js";

const VERDICTS = { retention: "Retention", growth: "Growth", plateau: "Plateau", churn: "Churn", unknown: "No verdict" };

export class OverviewView {
	constructor(app) {
		this.app = app;
		this.growth = h("section.panel");
		this.element = h("section.overview");
	}

	release() {}

	show() {
		const { trace } = this.app, { data } = trace;
		replace(this.element, this.lead(trace), this.figures(trace), this.memory(trace),
			h("div.columns", null, this.growth, this.topSites(trace)), this.smaps(data));
		this.select();
	}

	lead(trace) {
		const { data } = trace, sentences = data.sentences || [];
		const verdict = VERDICTS[data.verdict];
		return h("div.lead", null,
			verdict ? h("span.verdict.verdict-" + data.verdict, null, verdict) : null,
			sentences.map((s, i) => h(i ? "p.lead-more" : "p.lead-first", { dir: "auto" }, s)),
			(data.trace.warnings || []).map((w) => h("p.warning", { role: "note", dir: "auto" }, w)));
	}

	figures(trace) {
		const { totals } = trace.data, readings = trace.data.readings;
		const list = [
			["Live at the end", totals.live, "bytes", format.count(totals.live.count) + (totals.live.count === 1 ? " block" : " blocks")],
			["Peak", totals.peak, "bytes", trace.data.peak_us !== undefined ? "at " + format.duration(trace.data.peak_us) : ""],
			["Allocated", totals.allocated, "bytes", perSecond(trace)],
			["Allocations", totals.allocated, "count", totals.allocated.count ? Math.round(totals.allocated.bytes / totals.allocated.count) + " bytes on average" : ""],
			["Temporary", totals.temporary, "count", totals.allocated.count ? format.percent(totals.temporary.count / totals.allocated.count) + " of all allocations" : ""],
		];
		const cards = list.map(([label, number, unit, more]) => h("div.figure", { "data-raw": number[unit] },
			h("div.figure-label", null, label),
			h("div.figure-value", { title: format.exact(number[unit], unit) }, format.amount(number[unit], unit),
				number[unit + "_error"] > 0 ? h("span.pm", null, " \u00b1" + format.percent(number[unit + "_error"] / number[unit])) : null),
			h("div.figure-more", null, more)));
		if (readings && readings.resident.length) {
			let top = 0;
			for (const v of readings.resident)
				top = Math.max(top, v);
			cards.push(h("div.figure", null, h("div.figure-label", null, "Highest RSS"),
				h("div.figure-value", { title: format.exact(top, "bytes") }, format.bytes(top)),
				h("div.figure-more", null, readings.resident.length + " readings")));
		}
		return h("div.figures", null, cards);
	}

	/* ---- where did all the memory go ---------------------------------------- */

	memory(trace) {
		const parts = this.memoryParts(trace);
		if (!parts)
			return null;
		const total = parts.list.reduce((a, p) => a + p.bytes, 0);
		const share = (kind) => parts.list.reduce((a, p) => a + (p.kind === kind ? p.bytes : 0), 0) / total;
		return h("section.panel", null,
			h("h2", null, "Where did all the memory go?"),
			h("p.sub", null, `${format.bytes(total)} resident ${parts.when}${this.app.state.selection().kind === "all" ? ", when it was most" : ""}. Call sites explain ` +
				`${format.percent(share("explained"))}; ${share("unknown") > 0 ? `nobody explains ${format.percent(share("unknown"))}` : "nothing is unexplained"}.${trace.data.memory ? "" : " A recording made by memprof run says more: it reads the mappings too."}`),
			h("div.bar", { role: "img", "aria-label": parts.list.map((p) =>
				`${p.label} ${format.percent(p.bytes / total)}`).join(", ") },
			parts.list.map((p) => h("div.bar-part" + (p.kind === "unknown" ? ".unknown" : ""),
				{ title: `${p.label}: ${format.bytes(p.bytes)}`, style: { "flex-grow": String(p.bytes / total),
					background: p.kind === "unknown" ? null : `var(--${p.color})` } }))),
			h("ul.bar-legend", null, parts.list.map((p) => h("li", null,
				p.kind === "unknown" ? h("i.swatch.unknown") : swatch(p.color), h("span", null, p.label),
				h("b", null, format.bytes(p.bytes)), h("span.faint", null, format.percent(p.bytes / total))))));
	}

	memoryParts(trace) {
		const { memory, readings } = trace.data, s = this.app.state.selection();
		const us = s.kind === "moment" ? s.at : s.kind === "range" ? s.to : highestResident(trace);
		if (memory && memory.t.length) {
			let i = 0;
			memory.t.forEach((t, k) => {
				if (Math.abs(t - us) < Math.abs(memory.t[i] - us))
					i = k;
			});
			const list = trace.memoryCategories().map((c) => ({ ...c, bytes: c.bytes[i] })).filter((c) => c.bytes > 0);
			if (isNear(trace, list, us))
				return { when: `at ${format.duration(memory.t[i])}`, list: withoutCrumbs(list) };
		}
		if (!readings || !readings.t.length || !trace.timeline)
			return null;
		let i = readings.t.length - 1;
		while (i > 0 && readings.t[i] > us + 1)
			i--;
		const rss = readings.resident[i], at = readings.t[i];
		const heap = Math.min(rss, trace.valueAt("live_bytes", at));
		const rest = rss - heap, shared = Math.min(rest, readings.shared[i] || 0);
		return { when: `at ${format.duration(at)}`, list: [
			{ label: "live heap, by call site", kind: "explained", color: "hue-0", bytes: heap },
			{ label: "shared with files: code and data", kind: "known", color: "hue-2", bytes: shared },
			{ label: "allocator\u2019s free memory, stacks, mappings, the profiler itself", kind: "unknown", color: "hue-rest", bytes: rest - shared },
		].filter((p) => p.bytes > 0) };
	}

	select() {
		showGrowth(this.growth, this.app);
	}

	topSites(trace) {
		const list = (title, name, unit) => {
			const column = trace.sites[name];
			const order = [...column.keys()].filter((i) => trace.sites.kind[i] === 0 && column[i] > 0)
				.sort((a, b) => column[b] - column[a]).slice(0, 3);
			if (!order.length)
				return null;
			const most = column[order[0]];
			return h("div", null, h("h3", null, title), h("ol.bars", null, order.map((i) => siteBar(this.app,
				{ ...trace.siteLabel(i), module: trace.moduleName(trace.siteLabel(i).module), site: i },
				column[i] / most, format.amount(column[i], unit)))));
		};
		const lists = [list("Most live at the end", "live_bytes", "bytes"), list("Most allocated", "allocated_bytes", "bytes"),
			list("Most calls", "allocated_count", "count")];
		return h("section.panel", null, h("h2", null, "Sites to look at"), lists,
			lists.some(Boolean) ? null : h("p.note", null, "No allocation was recorded."));
	}

	smaps(data) {
		const { smaps } = data;
		if (!smaps)
			return null;
		return h("details.panel", null, h("summary", null, h("h2", null, "What the kernel says, mapping by mapping")),
			h("div.scroll", null, h("table.plain", null,
				h("thead", null, h("tr", null, h("th", null, "mapping"), smaps.columns.map((c) => h("th.num", null, c.replace(/_/g, " "))))),
				h("tbody", null, smaps.rows.map(([name, ...values]) => h("tr", null, h("td", { dir: "auto" }, format.shorten(name, 90)),
					values.map((v) => h("td.num", { title: format.exact(v, "bytes") }, v ? format.bytes(v) : "\u2013"))))))));
	}
}

/* Parts below 1 % as one. */
function withoutCrumbs(list) {
	const total = list.reduce((a, c) => a + c.bytes, 0), isCrumb = (c) => c.kind === "known" && c.bytes < total / 100;
	const crumbs = list.filter(isCrumb);
	if (crumbs.length < 2)
		return list;
	return [...list.filter((c) => !isCrumb(c)), { label: crumbs.map((c) => c.label).join(", "), kind: "known", color: "hue-rest",
		bytes: crumbs.reduce((a, c) => a + c.bytes, 0) }];
}

/* A reading of the mappings may be far from the moment asked for: it serves when RSS was about the same. */
function isNear(trace, list, us) {
	const { readings } = trace.data;
	if (!readings || !readings.t.length)
		return true;
	let i = readings.t.length - 1;
	while (i > 0 && readings.t[i] > us + 1)
		i--;
	const sum = list.reduce((a, c) => a + c.bytes, 0);
	return sum > 0.8 * readings.resident[i] && sum < 1.25 * readings.resident[i];
}

/* The whole run is looked at where it mattered most: a program that ends in order
 * has little left. */
function highestResident(trace) {
	const { readings, memory } = trace.data;
	const hasReadings = readings && readings.t.length;
	const times = hasReadings ? readings.t : memory ? memory.t : [];
	const sums = hasReadings ? readings.resident
		: times.map((_, i) => memory.categories.reduce((a, c) => a + c.bytes[i], 0));
	let best = 0;
	sums.forEach((v, i) => {
		if (v > sums[best])
			best = i;
	});
	return times.length ? times[best] : trace.durationUs;
}

function perSecond(trace) {
	const seconds = trace.durationUs / 1e6;
	return seconds > 0 ? format.bytes(trace.data.totals.allocated.bytes / seconds) + " per second" : "";
}
