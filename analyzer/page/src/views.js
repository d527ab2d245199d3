/*
 * The views that ask the model for values under the reader's choices: flame
 * graph, treemap, sites; and the plain ones: sizes, lifetimes, threads,
 * processes, modules.
 */
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import { h, svg, replace, segmented, showTip, hideTip } from "./dom.js";
import { Flame } from "./flame.js";
import { VirtualTable } from "./table.js";
import { buildTree, groupRows, sum, sumError, GROUPS, METRICS } from "./model.js";
import { frameColor, inkOn, differenceColor } from "./colors.js";
import * as format from "./format.js";

const METRIC_WORDS = { live: "Live", allocated: "Allocated", peak: "Peak", temporary: "Temporary" };

/* ---- what all three share ------------------------------------------------- */

export function metricControls(app) {
	const { state, trace } = app, whole = state.selection().kind === "all" || app.compare;
	return [
		segmented("Metric", METRICS.map((m) => [m, METRIC_WORDS[m],
			whole || trace.momentAnswers(m) ? null : "known for the whole run only", !whole && !trace.momentAnswers(m)]),
		metricInForce(app), (metric) => state.set({ metric })),
		segmented("Unit", [["bytes", "Bytes"], ["count", "Count"]], state.get("unit"), (unit) => state.set({ unit })),
	];
}

export function metricInForce(app) {
	const metric = METRICS.includes(app.state.get("metric")) ? app.state.get("metric") : "live";
	const whole = app.state.selection().kind === "all";
	return whole || app.trace.momentAnswers(metric) ? metric : "live";
}

function searchBox(app, words, onclear) {
	const box = h("input.search", { type: "search", placeholder: words, "aria-label": words, spellcheck: "false",
		list: "names", value: app.state.get("q"), oninput: () => app.state.set({ q: box.value }, true) });
	box.value = app.state.get("q");
	return box;
}

/* A function that says whether a name is searched for; /regular expressions/ too. */
export function matcher(trace, text) {
	if (!text)
		return null;
	const regex = /^\/(.*)\/?$/.exec(text);
	if (regex) {
		try {
			const re = new RegExp(regex[1].replace(/\/$/, ""), "i");
			return (f) => re.test(f.name) || re.test(trace.moduleName(f.module));
		} catch {
			return () => false;
		}
	}
	const needle = text.toLowerCase();
	return (f) => f.name.toLowerCase().includes(needle) ||
		trace.moduleName(f.module).toLowerCase().includes(needle) ||
		(f.file > 0 && trace.strings[f.file].toLowerCase().includes(needle));
}

function kindFilter(app) {
	const wanted = app.state.get("kind") === "mapped" ? 1 : 0;
	return (s) => app.trace.sites.kind[app.trace.stacks.site[s]] === wanted;
}

function kindControl(app) {
	if (!app.trace.sites.kind.some((k) => k === 1))
		return null;
	return segmented("Kind", [["heap", "Heap"], ["mapped", "mmap"]], app.state.get("kind"), (kind) => app.state.set({ kind }));
}

/* What stands behind the number of a sampled trace. */
function plusMinus(error, unit) {
	return error > 0 ? h("span.pm", null, " \u00b1" + format.amount(error, unit)) : null;
}

/* ---- flame graph ------------------------------------------------------------ */

export class FlameView {
	constructor(app) {
		this.app = app;
		this.flame = new Flame((path) => app.state.set({ zoom: path.join(".") }, true));
		this.bar = h("div.controls");
		this.note = h("p.sub");
		this.legend = h("div.legend");
		this.box = searchBox(app, "Find a function or module");
		this.element = h("section", null, this.bar, this.note, this.flame.element, this.legend);
		this.resize = () => this.flame.tree && this.flame.draw();
		addEventListener("resize", this.resize);
	}

	release() {
		removeEventListener("resize", this.resize);
		hideTip();
	}

	show(changes = {}) {
		const { app } = this, { state, trace } = app;
		const keys = Object.keys(changes);
		if (keys.length && keys.every((k) => k === "zoom"))
			return;
		const inverted = state.get("inv") === "1";
		if (this.box.value !== state.get("q"))
			this.box.value = state.get("q");
		if (!keys.length || !keys.every((k) => k === "q"))
			replace(this.bar, metricControls(app), kindControl(app),
				segmented("Direction", [["", "From main"], ["1", "From the sites"]], state.get("inv"),
					(inv) => state.set({ inv, zoom: "" })),
				this.recursionChoice(), this.box,
				h("button", { type: "button", onclick: () => this.flame.reset() }, "Reset zoom"));
		const metric = metricInForce(app), values = app.values(metric);
		const heap = state.get("kind") !== "mapped";
		const tree = this.tree(values, inverted, heap);
		const unit = state.get("unit");
		this.flame.show(trace, tree, { unit, inverted, difference: !!values.before, search: matcher(trace, state.get("q")),
			zoom: state.get("zoom").split(".").filter(Boolean).map(Number) });
		this.describe(values, tree, unit);
	}

	/* Deep stacks of interpreters are mostly recursion: folded unless asked otherwise. */
	recursionFolds() {
		return (this.app.state.get("rec") || (this.app.trace.deepest() > 70 ? "fold" : "show")) === "fold";
	}

	recursionChoice() {
		if (this.app.trace.deepest() <= 40)
			return null;
		const box = h("input", { type: "checkbox", onchange: () => this.app.state.set({ rec: box.checked ? "fold" : "show", zoom: "" }) });
		box.checked = this.recursionFolds();
		return h("label.check", null, box, "Fold recursion");
	}

	tree(values, inverted, heap) {
		const folded = this.recursionFolds(), key = [values.id, inverted, heap, folded].join();
		if (this.treeKey !== key || !values.id) {
			this.cached = buildTree(this.app.trace, { ...values, rest: heap ? values.rest : 0 },
				{ inverted, folded, keep: kindFilter(this.app) });
			this.treeKey = key;
		}
		return this.cached;
	}

	describe(values, tree, unit) {
		const total = tree.now[0], grown = values.before ? total - tree.before[0] : 0;
		replace(this.note, h("b", null, format.amount(total, unit)), plusMinus(this.flame.error(0), unit), unit === "count" ? " blocks " : " ", values.words,
			values.before ? [": ", h("b", null, format.signed(grown, unit))] : null, ".",
			this.flame.matches ? h("span.matched", null, ` ${format.percent(this.flame.matchedShare)} matches \u201c${format.shorten(this.app.state.get("q"), 60)}\u201d.`) : null,
			tree.fn.length < 2 ? " Nothing to show under these choices." : null);
		if (values.before)
			replace(this.legend, h("span", null, "gone"), h("span.ramp"), h("span", null, "new"), noiseKey(tree));
		else
			replace(this.legend, moduleLegend(this.app.trace), noiseKey(tree));
	}
}

function noiseKey(tree) {
	return tree.variance ? h("span.key", null, h("i.swatch", { style: { background: "var(--even)" } }), "too few samples to tell") : null;
}

function moduleLegend(trace) {
	return [...trace.moduleRank].slice(0, 9).map(([module, rank]) => {
		const key = h("i.swatch");
		key.style.background = frameColor(rank, 0);
		return h("span.key", null, key, rank < 8 ? format.shorten(trace.moduleName(module), 40) : "other modules");
	});
}

/* ---- treemap ------------------------------------------------------------------ */

export class TreemapView {
	constructor(app) {
		this.app = app;
		this.bar = h("div.controls");
		this.note = h("p.sub");
		this.map = h("div.treemap", { role: "group", "aria-label": "Treemap of modules, functions and call sites" });
		this.element = h("section", null, this.bar, this.note, this.map);
		this.resize = () => this.draw();
		addEventListener("resize", this.resize);
	}

	release() {
		removeEventListener("resize", this.resize);
		hideTip();
	}

	show() {
		replace(this.bar, metricControls(this.app), kindControl(this.app));
		this.values = this.app.values(metricInForce(this.app));
		this.draw();
	}

	draw() {
		const { app, values } = this, { trace, state } = app, unit = state.get("unit");
		const root = this.tree(trace, values.now, values.before), width = this.map.clientWidth || 800;
		const height = innerWidth < 600 ? 560 : Math.max(420, Math.min(640, innerHeight - 290));
		const top = hierarchy(root).sum((d) => d.value || 0).sort((a, b) => b.value - a.value);
		treemap().size([width, height]).tile(treemapSquarify.ratio(1.4)).paddingInner(2)
			.paddingOuter((n) => (n.depth === 1 ? 3 : 0)).paddingTop((n) => (n.depth === 1 ? 22 : 0)).round(true)(top);
		this.map.style.height = height + "px";
		replace(this.note, h("b", null, format.amount(top.value, unit)), unit === "count" ? " blocks " : " ", values.words,
			" \u2013 modules, in them functions, in them call sites.");
		const total = top.value;
		if (!total) {
			this.map.style.height = "auto";
			replace(this.note, "Nothing to show under these choices.");
		}
		replace(this.map, (top.children || []).map((m) => this.module(m, total)));
	}

	tree(trace, now, before) {
		const modules = new Map(), keep = kindFilter(this.app);
		for (let s = 0; s < trace.stackCount; s++) {
			if (!(now[s] > 0) || !keep(s))
				continue;
			const site = trace.stacks.site[s], frame = trace.sites.frame[site];
			const module = trace.data.frames.module[frame], fn = trace.functionOf[frame];
			const m = pick(modules, module, () => ({ name: trace.moduleName(module), module, index: new Map() }));
			const f = pick(m.index, fn, () => ({ name: trace.functions[fn].name, fn, index: new Map() }));
			const leaf = pick(f.index, site, () => ({ name: trace.framePlace(frame), site, value: 0, before: 0 }));
			leaf.value += now[s];
			leaf.before += before ? before[s] : 0;
		}
		return { children: [...modules.values()].map((m) => ({ ...m, children: [...m.index.values()].map((f) => ({ ...f,
			children: [...f.index.values()] })) })) };
	}

	module(m, total) {
		if (m.x1 - m.x0 < 2 || m.y1 - m.y0 < 2)
			return null;
		const box = place(h("div.tm-module", null, m.x1 - m.x0 > 40 ? h("div.tm-title", null, h("span", null, m.data.name),
			h("span.faint", null, format.percent(m.value / total))) : null), m);
		const rank = this.app.trace.moduleRank.get(m.data.module);
		const leaves = (m.children || []).flatMap((f) => (f.children || []).map((leaf) => this.leaf(leaf, f, m, rank, total)));
		return [box, leaves];
	}

	leaf(leaf, f, m, rank, total) {
		const w = leaf.x1 - leaf.x0, hh = leaf.y1 - leaf.y0;
		if (w < 2 || hh < 2 || leaf.x1 > m.x1 || leaf.y1 > m.y1)
			return null;
		const unit = this.app.state.get("unit"), { value, data } = leaf;
		const color = this.values.before ? differenceColor((value - data.before) / Math.max(value, data.before))
			: frameColor(rank, f.data.fn);
		const tile = place(h("button.tm-leaf", { type: "button", "aria-label": format.shorten(f.data.name, 200) + ", " + format.amount(value, unit),
			tabindex: value / total > 0.005 ? 0 : -1,
			onclick: () => this.app.state.set({ view: "sites", site: String(data.site), q: "", group: "site" }),
			onmousemove: (e) => showTip(e.clientX, e.clientY, h("div.card", null, h("div.card-name", null, format.shorten(f.data.name, 300)),
				h("div.card-where", null, format.shorten([data.name, m.data.name].filter(Boolean).join("  \u00b7  "), 200)),
				h("table", null, h("tr", null, h("td.num", null, format.amount(value, unit)), h("td", null, `${format.percent(value / total)} of all \u00b7 ${format.exact(value, unit)}`)),
					this.values.before ? h("tr", null, h("td.num", null, format.signed(value - data.before, unit)), h("td", null, "change")) : null))),
			onmouseleave: hideTip },
		w > 46 && hh > 18 ? [h("span.tm-name", null, format.shorten(f.data.name, 160)),
			hh > 34 ? h("span.tm-value", null, format.amount(value, unit)) : null,
			hh > 52 && data.name ? h("span.tm-place", null, format.shorten(data.name, 60)) : null] : null), leaf);
		if (w <= 46 || hh <= 18)
			tile.style.padding = "0";   /* its padding would make it larger than it is */
		tile.style.background = color;
		tile.style.color = inkOn(color);
		return tile;
	}
}

function pick(map, key, make) {
	let value = map.get(key);
	if (!value)
		map.set(key, value = make());
	return value;
}

function place(node, { x0, y0, x1, y1 }) {
	Object.assign(node.style, { left: x0 + "px", top: y0 + "px", width: x1 - x0 + "px", height: y1 - y0 + "px" });
	return node;
}

/* ---- sites ---------------------------------------------------------------------- */

export class SitesView {
	constructor(app) {
		this.app = app;
		this.bar = h("div.controls");
		this.note = h("p.sub");
		this.box = searchBox(app, "Filter by function, file, module");
		this.host = h("div");
		this.element = h("section", null, this.bar, this.note, this.host);
	}

	release() {
		this.table?.release();
	}

	show(changes = {}) {
		const { app } = this, { state, trace } = app;
		if (this.box.value !== state.get("q"))
			this.box.value = state.get("q");
		const group = GROUPS[state.get("group")] ? state.get("group") : "site";
		if (!("q" in changes) || Object.keys(changes).length > 1)
			replace(this.bar, metricControls(app), kindControl(app), this.groupChoice(group), this.libraryChoice(), this.box);
		const metric = metricInForce(app), unit = state.get("unit");
		const values = app.values(metric);
		this.refreshTable(metric, unit, values, group);
		const rows = this.rows(values, metric, unit, group);
		const [sort, descending] = this.order(!!values.before);
		this.openChosen(rows);
		this.table.show(rows, sort, descending);
		this.describe(rows, values, unit, group);
	}

	/* Hash "site=N" opens that row, once. */
	openChosen(rows) {
		const wanted = this.app.state.get("site");
		if (wanted === "" || wanted === this.opened)
			return;
		this.opened = wanted;
		const row = rows.find((r) => String(r.site) === wanted);
		if (!row)
			return;
		this.table.open.clear();
		this.table.open.set(row.key, 0);
		requestAnimationFrame(() => {
			const i = this.table.rows.findIndex((r) => r.key === row.key);
			if (i < 0 || !this.table.element.isConnected)
				return;
			const y = this.table.body.getBoundingClientRect().top + scrollY + this.table.top[i];
			if (y > innerHeight - 200)
				scrollTo({ top: y - 160 });
		});
	}

	order(hasChange) {
		const sort = this.app.state.get("sort");
		return sort ? [sort.replace(/^-/, ""), sort.startsWith("-")] : [hasChange ? "change" : "value", true];
	}

	groupChoice(group) {
		const select = h("select", { "aria-label": "Group by", onchange: () => this.app.state.set({ group: select.value, site: "" }) },
			Object.entries(GROUPS).map(([key, g]) => h("option", { value: key, selected: key === group }, "By " + g.label)));
		return select;
	}

	libraryChoice() {
		const { state } = this.app;
		const box = h("input", { type: "checkbox", onchange: () => state.set({ libs: box.checked ? "hide" : "" }) });
		box.checked = state.get("libs") === "hide";
		return h("label.check", null, box, "Hide libraries");
	}

	rows(values, metric, unit, group) {
		const { app } = this, { trace, state } = app;
		const hide = state.get("libs") === "hide", match = matcher(trace, state.get("q")), inKind = kindFilter(app);
		const hits = match && trace.functions.map((f) => match(f));
		const keep = (s) => {
			if (!inKind(s))
				return false;
			const f = trace.functionOf[trace.sites.frame[trace.stacks.site[s]]];
			return !(hide && trace.isLibrary(trace.functions[f].module)) && (!hits || hits[f]);
		};
		const whole = state.selection().kind === "all" && group === "site" && !app.compare;
		const rows = groupRows(trace, group, keep);
		for (const row of rows) {
			const name = `${metric}_${unit}`;
			row.before = values.before ? sum(values.before, row.stacks) : 0;
			row.value = whole ? trace.sites[name][row.site] : sum(values.now, row.stacks);
			row.change = row.value - row.before;
			row.error = !values.error ? 0 : whole ? trace.sites[name + "_error"][row.site] : sumError(values.error, row.stacks);
			row.calls = whole ? trace.sites.allocated_count[row.site] : sum(trace.stacks.allocated_count, row.stacks);
			row.faint = row.error > 0 && Math.abs(values.before ? row.change : row.value) < 2 * row.error;
			row.verdict = group === "site" && trace.sites.verdict.length ? trace.strings[trace.sites.verdict[row.site]] : "";
			row.why = trace.sites.why.length ? trace.strings[trace.sites.why[row.site]] : "";
		}
		const shown = rows.filter((r) => r.value || r.before || values.whole);
		this.total = shown.reduce((a, r) => a + r.value, 0);
		this.most = shown.reduce((a, r) => Math.max(a, values.before ? Math.abs(r.change) : r.value), 0);
		return shown;
	}

	refreshTable(metric, unit, values, group) {
		const key = [metric, unit, !!values.before, group].join();
		if (this.tableKey === key)
			return;
		this.tableKey = key;
		const open = this.table?.open;
		this.table?.release();
		this.table = new VirtualTable({ label: "Call sites", columns: this.columns(metric, unit, values, group),
			template: values.before ? "minmax(0, 1fr) 132px 108px 132px 104px" : "minmax(0, 1fr) 150px 76px 104px 132px",
			onsort: (sort, descending) => this.app.state.set({ sort: (descending ? "-" : "") + sort }),
			panel: (row) => this.panel(row), empty: "Nothing to show under these choices." });
		if (open)
			this.table.open = open;
		replace(this.host, this.table.element);
	}

	columns(metric, unit, values, group) {
		const { app } = this, { trace } = app;
		const name = { key: "name", title: GROUPS[group].label, descending: false, value: (r) => r.name, cell: (r) => [
			h("span.vt-name", { dir: "auto", title: format.shorten(r.name, 400) }, format.shorten(r.name, 180)),
			h("span.vt-place", null, format.shorten([r.place, r.module].filter(Boolean).join("  \u00b7  "), 90)),
			r.verdict ? h("span.chip.chip-" + r.verdict.replace(/\W+/g, "-"), { title: r.why || null }, r.verdict) : null] };
		const number = (key, title, of, signed) => ({ key, title, align: "num", value: of,
			cell: (r) => valueCell(r, of(r), unit, signed, this.most, r.error, key) });
		const calls = { key: "calls", title: "calls", align: "num", hint: "allocations over the whole run", wide: true, value: (r) => r.calls,
			cell: (r) => h("span", { title: format.exact(r.calls, "count"), "data-raw": r.calls }, format.count(r.calls)) };
		if (values.before)
			return [name, number("change", "change", (r) => r.change, true), plain("before", "before", unit), plain("value", "after", unit), calls];
		return [name, number("value", METRIC_WORDS[metric].toLowerCase(), (r) => r.value),
			{ key: "share", title: "share", align: "num", wide: true, value: (r) => r.value, cell: (r) => format.percent(r.value / this.total) },
			calls, { key: "curve", title: "live over the run", wide: true, cell: (r) => spark(trace, r.stacks) }];
	}

	describe(rows, values, unit, group) {
		const n = rows.length, what = n === 1 ? GROUPS[group].label : GROUPS[group].label + "s";
		replace(this.note, h("b", { "data-raw": this.total }, format.amount(this.total, unit)), plusMinus(Math.hypot(...rows.map((r) => r.error)), unit), unit === "count" ? " blocks " : " ", values.words.replace(", coloured by growth", ""),
			`, in ${format.group(n)} ${what}.`,
			values.rest > 0 && this.app.state.get("kind") !== "mapped" ? ` Another ${format.amount(values.rest, unit)} belongs to stacks too small for a curve of their own.` : null);
	}

	/* ---- an open row ------------------------------------------------------------- */

	panel(row) {
		const { app } = this, { trace, state } = app, unit = state.get("unit");
		const values = app.values(metricInForce(app));
		const stacks = [...row.stacks].filter((s) => values.now[s] || (values.before && values.before[s]))
			.sort((a, b) => values.now[b] - values.now[a]);
		const name = row.name;
		return [
			h("div.panel-tools", null,
				h("button.quiet", { type: "button", onclick: () => state.set({ view: "flame", q: name, zoom: "", inv: "" }) }, "Find in the flame graph"),
				h("button.quiet", { type: "button", onclick: () => state.set({ view: "timeline", stack: "site", site: String(row.site) }) }, "Show over time"),
				h("button.quiet", { type: "button", onclick: (e) => this.copy(e.target, stacks[0]) }, "Copy the largest stack"),
				row.why ? h("span.why", null, row.why) : null),
			this.facts(row),
			this.source(row),
			stacks.slice(0, 5).map((s) => this.stack(s, values, unit, row)),
			stacks.length > 5 ? h("p.note", null, `${format.group(stacks.length - 5)} more stacks, ` +
				format.amount(stacks.slice(5).reduce((a, s) => a + values.now[s], 0), unit) + " together. Group by call stack to see all.") : null];
	}

	facts(row) {
		const { trace } = this.app;
		const at = (name) => sum(trace.stacks[name], row.stacks);
		const cell = (label, m) => h("div", null, h("dt", null, label), h("dd", { title: format.exact(at(m + "_bytes"), "bytes") },
			format.bytes(at(m + "_bytes")), h("span.faint", null, " in " + format.count(at(m + "_count")))));
		return h("dl.facts", null, cell("Live at the end", "live"), cell("At the peak", "peak"), cell("Allocated", "allocated"),
			cell("Freed", "freed"), cell("Temporary", "temporary"));
	}

	source(row) {
		const { trace } = this.app, f = trace.sites.frame[row.site];
		const { file, line } = trace.data.frames;
		const found = (trace.data.sources || []).find((s) => s.file === file[f] && line[f] >= s.first && line[f] < s.first + s.lines.length);
		if (!found)
			return null;
		return h("div.source", null, h("div.source-name", null, trace.strings[file[f]]),
			h("pre", null, found.lines.map((text, i) => h("code" + (found.first + i === line[f] ? ".here" : ""), null,
				h("span.line", null, String(found.first + i)), format.shorten(text.replace(/\t/g, "    "), 240) + "\n"))));
	}

	stack(s, values, unit, row) {
		const { trace } = this.app, frames = trace.stackFrames(s), inlined = trace.data.frames.inlined;
		return h("div.stack", null, h("div.stack-value", null, h("b", null, format.amount(values.now[s], unit)),
			h("span.faint", null, row.value > 0 ? format.percent(values.now[s] / row.value) : "")),
		h("ol.frames", null, frames.slice(0, 60).map((f) => h("li" + (trace.isLibrary(trace.data.frames.module[f]) ? ".library" : ""), null,
			h("span.frame-name", { dir: "auto" }, format.shorten(trace.frameName(f), 300)),
			inlined && inlined[f] ? h("span.tag", null, "inlined") : null,
			h("span.frame-place", { title: format.shorten(trace.framePath(f), 400) }, format.shorten(trace.framePlace(f) || trace.moduleName(trace.data.frames.module[f]), 80)))),
		frames.length > 60 ? h("li", null, `\u2026 ${frames.length - 60} more frames`) : null));
	}

	copy(button, s) {
		const { trace } = this.app;
		const text = s === undefined ? "" : trace.stackFrames(s).map((f) => trace.frameName(f) + (trace.framePath(f) ? "  " + trace.framePath(f) : "")).join("\n");
		navigator.clipboard?.writeText(text).then(() => replace(button, "Copied"), () => replace(button, "The browser refused"));
	}
}

function plain(key, title, unit) {
	return { key, title, align: "num", wide: true, value: (r) => r[key],
		cell: (r) => h("span", { title: format.exact(r[key], unit), "data-raw": r[key] }, format.amount(r[key], unit)) };
}

function valueCell(row, value, unit, signed, most, error, key) {
	const bar = h("span.vt-bar" + (signed ? (value < 0 ? ".less" : ".more") : ""));
	bar.style.width = most > 0 ? Math.min(100, 100 * Math.abs(value) / most) + "%" : "0";
	return [bar, h("span.vt-value", { title: format.exact(value, unit), "data-raw": value, "data-key": key },
		signed ? format.signed(value, unit) : format.amount(value, unit)),
	error > 0 ? h("span.pm", null, "\u00b1" + format.amount(error, unit)) : null];
}

const SPARK_W = 116, SPARK_H = 20;

export function spark(trace, stacks) {
	const curve = trace.curve(stacks);
	if (!curve)
		return h("span.faint", null, "\u2013");
	let top = 0;
	for (const v of curve)
		top = Math.max(top, v);
	const step = Math.max(1, Math.floor(curve.length / SPARK_W)), points = [];
	for (let e = 0; e < curve.length; e += step)
		points.push((trace.moments.t[e] / trace.durationUs * SPARK_W).toFixed(1) + " " + (SPARK_H - 1 - (top ? curve[e] / top : 0) * (SPARK_H - 3)).toFixed(1));
	const line = "M" + points.join("L");
	return svg("svg", { class: "spark", width: SPARK_W, height: SPARK_H, viewBox: `0 0 ${SPARK_W} ${SPARK_H}`, "aria-hidden": "true" },
		svg("path", { d: `${line}L${SPARK_W} ${SPARK_H}L0 ${SPARK_H}Z`, class: "spark-fill" }), svg("path", { d: line, class: "spark-line" }));
}

/* ---- histograms -------------------------------------------------------------------- */

function histogram(rows, { label, value, format: words, second }) {
	const most = Math.max(1, ...rows.map((r) => Math.max(value(r), second ? second.value(r) : 0)));
	if (!rows.length)
		return h("p.note", null, "None was recorded.");
	return h("div.histogram", { role: "table" }, rows.map((r) => h("div.hist-row", { role: "row" },
		h("span.hist-label", { role: "rowheader" }, label(r)),
		h("span.hist-track", { role: "presentation" }, bar("hist-bar", value(r) / most), second ? bar("hist-bar.second", second.value(r) / most) : null),
		h("span.hist-value", { role: "cell", title: format.group(Math.round(value(r))), "data-raw": value(r) }, words(value(r))),
		second ? h("span.hist-value.second", { role: "cell", title: format.group(Math.round(second.value(r))) }, words(second.value(r))) : null)));
}

function bar(kind, share) {
	const node = h("span." + kind);
	node.style.width = (share > 0 ? Math.max(0.3, 100 * share) : 0) + "%";
	return node;
}

function tableRows(columns) {
	const names = Object.keys(columns), n = columns[names[0]].length;
	return Array.from({ length: n }, (_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}

function trimmed(rows, value) {
	let from = 0, to = rows.length;
	while (from < to && !value(rows[from]))
		from++;
	while (to > from && !value(rows[to - 1]))
		to--;
	return rows.slice(from, to);
}

class PlainView {
	constructor(app) {
		this.app = app;
		this.element = h("section");
	}
	release() {}
	unitControl() {
		const { state } = this.app;
		return h("div.controls", null, segmented("Unit", [["bytes", "Bytes"], ["count", "Count"]], state.get("unit"), (unit) => state.set({ unit })));
	}
	/* These views have no error of their own. */
	estimated() {
		return this.app.trace.exact ? "" : " Estimated from the samples.";
	}
	nothing(words) {
		replace(this.element, h("p.note", null, words));
	}
}

export class SizesView extends PlainView {
	show() {
		const { trace, state } = this.app, { sizes } = trace.data, unit = state.get("unit");
		if (!sizes)
			return this.nothing("The trace says nothing about sizes.");
		const words = (v) => format.amount(v, unit);
		const rows = trimmed(tableRows(sizes), (r) => r["allocated_" + unit] || r["live_" + unit]);
		const label = (r) => r.from === r.to ? format.bytes(r.from) : format.tidy(`${format.bytes(r.from)} \u2013 ${format.bytes(r.to)}`);
		replace(this.element, this.unitControl(), h("div.columns", null,
			h("section.panel", null, h("h2", null, "Allocated, by size of block"), h("p.sub", null, "Every allocation of the run." + this.estimated()),
				histogram(rows, { label, value: (r) => r["allocated_" + unit], format: words })),
			h("section.panel", null, h("h2", null, "Live at the end, by size of block"), h("p.sub", null, "What was never freed." + this.estimated()),
				histogram(rows, { label, value: (r) => r["live_" + unit], format: words }))));
	}
}

export class LifetimesView extends PlainView {
	show() {
		const { trace, state } = this.app, { lifetimes } = trace.data, unit = state.get("unit");
		if (!lifetimes)
			return this.nothing("The trace says nothing about lifetimes.");
		const freed = unit === "count" ? "count" : "bytes", rows = trimmed(tableRows(lifetimes), (r) => r[freed] || r["live_" + unit]);
		const words = (v) => format.amount(v, unit);
		const label = (r) => r.to < 0 ? format.tidy(`above ${format.duration(r.from)}`) : r.from === 0 ? format.tidy(`below ${format.duration(r.to)}`) : format.tidy(`${format.duration(r.from)} \u2013 ${format.duration(r.to)}`);
		replace(this.element, this.unitControl(), h("div.columns", null,
			h("section.panel", null, h("h2", null, "Age when freed"), h("p.sub", null, "Short lives cost time in malloc; they could often be a buffer that is kept." + this.estimated()),
				histogram(rows, { label, value: (r) => r[freed], format: words })),
			h("section.panel", null, h("h2", null, "Age of what is still live"), h("p.sub", null, "Old blocks that nobody frees are what a leak looks like." + this.estimated()),
				histogram(rows, { label, value: (r) => r["live_" + unit], format: words }))));
	}
}

/* ---- threads, processes, modules ------------------------------------------------------ */

/* @columns: [title, classes]: "num" for numbers, "wide-only" for what a phone can do without. */
function plainTable(columns, rows) {
	return h("div.scroll", null, h("table.plain", null,
		h("thead", null, h("tr", null, columns.map(([title, kind]) => h("th" + (kind ? "." + kind : ""), null, title)))),
		h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell, i) => h("td" + (columns[i][1] ? "." + columns[i][1] : ""),
			{ dir: /num/.test(columns[i][1]) ? null : "auto" }, cell)))))));
}

function life(first, last, whole) {
	const node = h("span.life", null, h("i"));
	node.firstChild.style.left = 100 * first / whole + "%";
	node.firstChild.style.width = Math.max(0.5, 100 * (last - first) / whole) + "%";
	node.title = `${format.duration(first)} \u2013 ${format.duration(last)}`;
	return node;
}

const exactly = (value, unit) => h("span", { title: format.exact(value, unit), "data-raw": value }, format.amount(value, unit));

export class ThreadsView extends PlainView {
	show() {
		const { trace } = this.app, { threads, modules } = trace.data;
		replace(this.element, h("section.panel", null, h("h2", null, "Threads"),
			h("p.sub", null, "Who allocates and who frees: blocks that one thread allocates and another frees show as a difference." + this.estimated()),
			threads ? plainTable([["thread", "name"], ["tid", "num.wide-only"], ["alive", "wide-only"], ["allocations", "num"], ["frees", "num.wide-only"], ["allocated", "num"], ["still live", "num"]],
				tableRows(threads).sort((a, b) => b.allocated_count - a.allocated_count).slice(0, 500).map((t) => [format.shorten(t.name || "(no name)", 60),
					String(t.tid), life(t.first, t.last, trace.durationUs), exactly(t.allocated_count, "count"), exactly(t.freed_count, "count"),
					t.allocated_bytes === undefined ? "\u2013" : exactly(t.allocated_bytes, "bytes"),
					t.live_bytes === undefined ? "\u2013" : exactly(t.live_bytes, "bytes")])) : h("p.note", null, "The trace names no threads.")),
		modules ? h("section.panel", null, h("h2", null, "Modules"), h("p.sub", null, modules.names ? "Where names came from, and what would give more of them." : "What was loaded into the process."),
			plainTable([["module"], ["build-id", "wide-only"], ...(modules.names ? [["names from"]] : [])], tableRows(modules).map((m) => [format.shorten(m.path, 100),
				h("code", null, (m.build_id || "\u2013").slice(0, 16)), ...(modules.names ? [[m.names || "\u2013",
					m.words ? h("div.faint", null, format.shorten(m.words, 160)) : null]] : [])]))) : null);
	}
}

export class ProcessesView extends PlainView {
	show() {
		const { trace } = this.app, { processes } = trace.data;
		if (!processes || !processes.length)
			return this.nothing("The trace is of one process.");
		const whole = Math.max(trace.durationUs, ...processes.map((p) => p.last));
		const byParent = new Map(), pids = new Set(processes.map((p) => p.pid));
		for (const p of processes)
			pick(byParent, pids.has(p.ppid) ? p.ppid : 0, () => []).push(p);
		const rows = [];
		const walk = (parent, depth) => (byParent.get(parent) || []).forEach((p) => {
			byParent.set(parent, (byParent.get(parent) || []).filter((q) => q !== p));
			const name = h("span", null, format.shorten(format.baseName(p.exe || "?"), 80));
			name.style.paddingLeft = depth * 18 + "px";
			rows.push([name, String(p.pid), life(p.first, p.last, whole), exactly(p.live_bytes, "bytes"), exactly(p.peak_bytes, "bytes"),
				exactly(p.allocated_bytes, "bytes"), exactly(p.allocated_count, "count")]);
			walk(p.pid, depth + 1);
		});
		walk(0, 0);
		replace(this.element, h("section.panel", null, h("h2", null, "Processes"), h("p.sub", null, "The process and its children, each with a trace of its own." + this.estimated()),
			plainTable([["program", "name"], ["pid", "num"], ["alive", "wide-only"], ["live at the end", "num"], ["peak", "num.wide-only"], ["allocated", "num.wide-only"], ["allocations", "num.wide-only"]], rows)));
	}
}
