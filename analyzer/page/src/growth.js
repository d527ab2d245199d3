/*
 * What a choice of time is about: the call sites that grew over the range or the
 * run, or what was live at the moment. Stands in the overview and below the
 * charts of the timeline.
 */
import { h, replace } from "./dom.js";
import { groupRows, sum, sumError } from "./model.js";
import * as format from "./format.js";

const MOST = 10;

/* Fills @panel; leaves it empty when the trace has no times. */
export function showGrowth(panel, app) {
	const { trace, state } = app, s = state.selection();
	if (!trace.moments)
		return replace(panel);
	const from = s.kind === "range" ? s.from : 0;
	const to = s.kind === "all" ? growthEnd(trace) : s.kind === "moment" ? s.at : s.to;
	const rows = grown(trace, from, to), top = rows.slice(0, MOST), most = top.length ? top[0].growth : 1;
	const amount = s.kind === "moment" ? format.bytes : (v) => format.signed(v, "bytes");
	const rest = rows.slice(MOST).reduce((a, r) => a + r.growth, 0);
	return replace(panel, h("h2", null, s.kind === "moment" ? "What was live then" : "Where the growth went"),
		h("p.sub", null, sentence(trace, s, from, to)),
		top.length ? h("ol.bars", null, top.map((r) => siteBar(app, r, r.growth / most, amount(r.growth), r.faint ? r.error : 0)))
			: h("p.note", null, s.kind === "moment" ? "Nothing was live." : "Nothing grew."),
		rows.length > MOST ? h("p.note", null, `${amount(rest)} in ${format.group(rows.length - MOST)} more ${rows.length - MOST === 1 ? "call site" : "call sites"}.`) : null);
}

function grown(trace, from, to) {
	const v = trace.values({ kind: "range", from, to }, "live", "bytes");
	const rows = groupRows(trace, "site", (i) => trace.isHeap(i)).map((r) => {
		const growth = sum(v.now, r.stacks) - (from > 0 ? sum(v.before, r.stacks) : 0);
		const error = v.error ? sumError(v.error, r.stacks) : 0;
		return { ...r, growth, error, faint: error > 0 && growth < 2 * error };
	});
	return rows.filter((r) => r.growth > 0).sort((a, b) => b.growth - a.growth);
}

function sentence(trace, s, from, to) {
	const all = format.signed(trace.liveAt(to) - (from > 0 ? trace.liveAt(from) : 0), "bytes");
	if (s.kind === "range")
		return `${all} live heap from ${format.duration(from)} to ${format.duration(to)}.`;
	if (s.kind === "moment")
		return `${format.bytes(trace.liveAt(to))} live heap at ${format.duration(to)}.`;
	return `${all} live heap since the start${to < trace.durationUs ? ` up to the peak at ${format.duration(to)}` : ""}. Drag on the curve for a range.`;
}

/* Up to where the growth of the whole run is followed: its end, or its peak when
 * most was given back after it. */
function growthEnd(trace) {
	const { t, live_bytes } = trace.timeline;
	let top = 0;
	live_bytes.forEach((v, i) => {
		if (v > live_bytes[top])
			top = i;
	});
	if (trace.data.totals.live.bytes >= 0.6 * live_bytes[top])
		return trace.durationUs;
	return trace.data.peak_us > 0 ? trace.data.peak_us : t[top];
}

/* A call site as a bar that leads to its row of the table. @error: of what is noise. */
export function siteBar(app, row, share, value, error = 0) {
	return h("li", null, h("button.bar-row" + (error > 0 ? ".faint" : ""), { type: "button", title: "show in the table",
		onclick: () => app.state.set({ view: "sites", q: "", site: String(row.site), group: "site" }) },
	h("span.bar-fill", { style: { width: Math.max(0.5, 100 * share) + "%" } }),
	h("span.bar-name", { dir: "auto" }, format.shorten(row.name, 120)), h("span.bar-place", null, row.place || row.module),
	h("span.bar-value", null, value, error > 0 ? h("span.pm", null, " \u00b1" + format.bytes(error)) : null)));
}
