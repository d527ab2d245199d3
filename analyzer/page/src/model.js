/*
 * The payload made ready for questions. PAYLOAD.md says what comes in; out come
 * typed columns, function and module numbers for every frame, and one question
 * that all views ask: how much is each stack worth under this metric, unit and
 * selection (the whole run, a moment, a range)?
 */
import { hueToken } from "./colors.js";
import * as format from "./format.js";

export const METRICS = ["live", "allocated", "peak", "temporary"];
const COLUMNS = ["allocated", "freed", "live", "peak", "temporary"];

export async function inflate(base64) {
	const text = atob(base64), raw = new Uint8Array(text.length);
	for (let i = 0; i < raw.length; i++)
		raw[i] = text.charCodeAt(i);
	const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(stream).json();
}

/* A column kept as differences from the row before. */
function summed(differences, Column) {
	const out = new Column(differences.length);
	for (let i = 0, sum = 0; i < out.length; i++)
		out[i] = sum += differences[i];
	return out;
}

function typed(table, length) {
	const out = {}, zeros = new Float64Array(length);
	for (const metric of COLUMNS)
		for (const unit of ["count", "bytes"])
			for (const suffix of ["", "_error"]) {
				const name = `${metric}_${unit}${suffix}`;
				out[name] = table[name] ? new Float64Array(table[name]) : zeros;
			}
	return out;
}

export class Trace {
	constructor(data) {
		this.data = data;
		this.info = data.trace;
		this.strings = data.strings;
		this.exact = !!this.info.exact;
		this.durationUs = this.info.duration_ns / 1000;
		this.readFrames();
		this.readSites();
		this.readTimeline();
		this.readMoments();
	}

	/* ---- names -------------------------------------------------------- */

	readFrames() {
		const { function: fn, module, file, line, offset } = this.data.frames;
		const ids = new Map();
		this.functions = [];
		this.functionOf = new Int32Array(fn.length);
		for (let f = 0; f < fn.length; f++) {
			const key = fn[f] > 0 ? fn[f] + "/" + module[f] : "?" + module[f] + "/" + offset[f];
			let id = ids.get(key);
			if (id === undefined) {
				id = this.functions.length;
				ids.set(key, id);
				this.functions.push({
					name: this.frameName(f), known: fn[f] > 0, frame: f, id,
					module: module[f], file: file[f],
				});
			}
			this.functionOf[f] = id;
		}
		this.node = {
			parent: new Int32Array(this.data.nodes.up).map((up, i) => i - up),
			frame: new Int32Array(this.data.nodes.frame),
		};
		this.rankModules();
	}

	frameName(f) {
		const { function: fn, module, offset } = this.data.frames;
		if (fn[f] > 0)
			return this.strings[fn[f]];
		const where = module[f] > 0 ? format.baseName(this.strings[module[f]]) : "?";
		return where + "+" + (this.strings[offset[f]] || "?");
	}

	framePlace(f) {
		const { file, line } = this.data.frames;
		if (!(file[f] > 0))
			return "";
		return format.baseName(this.strings[file[f]]) + (line[f] ? ":" + line[f] : "");
	}

	framePath(f) {
		const { file, line } = this.data.frames;
		return file[f] > 0 ? this.strings[file[f]] + (line[f] ? ":" + line[f] : "") : "";
	}

	moduleName(id) {
		return id > 0 ? format.baseName(this.strings[id]) : "(no module)";
	}

	/* A system library: what "hide libraries" hides. */
	isLibrary(module) {
		const path = this.strings[module] || "";
		return /^(\/usr)?\/lib(32|64|x32)?\//.test(path) || path.startsWith("[") ||
			/\/(libc|libstdc\+\+|ld-linux[^/]*|libpthread|libm|libgcc_s)(\.so|-)[^/]*$/.test(path);
	}

	/* Modules by how much they allocate: the colours are given out in this order. */
	rankModules() {
		const weight = new Map();
		const { stacks, frames } = this.data;
		const sites = this.data.sites.frame;
		for (let s = 0; s < stacks.site.length; s++) {
			const module = frames.module[sites[stacks.site[s]]];
			weight.set(module, (weight.get(module) || 0) +
				stacks.live_bytes[s] * 4 + stacks.allocated_bytes[s]);
		}
		for (const f of this.functions)
			if (!weight.has(f.module))
				weight.set(f.module, 0);
		this.moduleRank = new Map([...weight].sort((a, b) => b[1] - a[1]).map(([m], i) => [m, i]));
	}

	/* Frames of the deepest stack. */
	deepest() {
		if (this.depth === undefined) {
			const depths = new Int32Array(this.node.parent.length);
			this.depth = 0;
			for (let n = 1; n < depths.length; n++) {
				depths[n] = depths[this.node.parent[n]] + 1;
				this.depth = Math.max(this.depth, depths[n]);
			}
		}
		return this.depth;
	}

	/* Frames of a stack, innermost first. */
	stackFrames(s) {
		const out = [];
		for (let n = this.stacks.node[s]; n > 0; n = this.node.parent[n])
			out.push(this.node.frame[n]);
		return out;
	}

	/* ---- sites and stacks ---------------------------------------------- */

	readSites() {
		const { sites, stacks } = this.data;
		this.siteCount = sites.frame.length;
		this.stackCount = stacks.site.length;
		this.sites = { kind: sites.kind, frame: sites.frame, verdict: sites.verdict || [],
			why: sites.why || [], ...typed(sites, this.siteCount) };
		this.stacks = { site: new Int32Array(stacks.site), node: summed(stacks.node, Int32Array),
			...typed(stacks, this.stackCount) };
		this.stacksOfSite = Array.from({ length: this.siteCount }, () => []);
		for (let s = 0; s < this.stackCount; s++)
			this.stacksOfSite[this.stacks.site[s]].push(s);
	}

	siteLabel(site) {
		const f = this.sites.frame[site];
		return { name: this.frameName(f), place: this.framePlace(f),
			module: this.data.frames.module[f] };
	}

	isHeap(s) {
		return this.sites.kind[this.stacks.site[s]] === 0;
	}

	/* ---- time ----------------------------------------------------------- */

	readTimeline() {
		const raw = this.data.timeline;
		this.timeline = null;
		if (!raw || raw.t.length < 2)
			return;
		const t = summed(raw.t, Float64Array);
		const column = (name) => raw[name] ? summed(raw[name], Float64Array) : new Float64Array(t.length);
		this.timeline = { t, live_bytes: column("live_bytes"), live_count: column("live_count"),
			allocated_bytes: column("allocated_bytes"), allocated_count: column("allocated_count"),
			mapped_bytes: column("mapped_bytes") };
		this.durationUs = Math.max(this.durationUs, t[t.length - 1]);
	}

	readMoments() {
		const raw = this.data.moments;
		this.moments = null;
		if (!raw || raw.t.length < 2)
			return;
		const E = raw.t.length, rows = raw.stack.length + 1;
		const spread = (changes) => {
			const out = new Float64Array(rows * E);
			for (let r = 0; r < rows; r++) {
				const list = changes[r] || [];
				let value = 0, at = 0;
				for (let i = 0; i < list.length; i += 2) {
					out.fill(value, r * E + at, r * E + list[i]);
					at = list[i];
					value += list[i + 1];
				}
				out.fill(value, r * E + at, (r + 1) * E);
			}
			return out;
		};
		this.moments = { t: new Float64Array(raw.t), stack: raw.stack, rows, E };
		/* Each is large and most are never asked for. */
		for (const name of ["live_bytes", "live_count", "allocated_bytes", "allocated_count"]) {
			let column;
			Object.defineProperty(this.moments, name, { get: () => column || (column = spread(raw[name])) });
		}
		this.rowOfStack = new Map(raw.stack.map((s, row) => [s, row]));
	}

	/* The kept moment that is nearest to @us. */
	nearestMoment(us) {
		const t = this.moments.t;
		let lo = 0, hi = t.length - 1;
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (t[mid] < us)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo > 0 && us - t[lo - 1] < t[lo] - us ? lo - 1 : lo;
	}

	valueAt(series, us) {
		const { t } = this.timeline, values = this.timeline[series];
		let lo = 0, hi = t.length - 1;
		while (lo < hi) {
			const mid = (lo + hi + 1) >> 1;
			if (t[mid] <= us)
				lo = mid;
			else
				hi = mid - 1;
		}
		return values[lo];
	}

	/* The live heap at a moment: what its stacks add up to, else the curve's. */
	liveAt(us) {
		if (!this.moments)
			return this.valueAt("live_bytes", us);
		const e = this.nearestMoment(us), { E, rows, stack, live_bytes } = this.moments;
		let total = live_bytes[(rows - 1) * E + e];
		for (let r = 0; r < rows - 1; r++)
			if (this.isHeap(stack[r]))
				total += live_bytes[r * E + e];
		return total;
	}

	/*
	 * The points of the timeline that a picture of @columns pixels can show: of
	 * each column the first, the lowest, the highest and the last.
	 */
	outline(columns) {
		if (this.outlined?.columns === columns)
			return this.outlined.points;
		const { t, live_bytes } = this.timeline, points = [], scale = columns / this.durationUs;
		for (let i = 0; i < t.length;) {
			const column = Math.floor(t[i] * scale);
			let low = i, high = i, end = i;
			for (; end < t.length && Math.floor(t[end] * scale) === column; end++) {
				if (live_bytes[end] < live_bytes[low])
					low = end;
				if (live_bytes[end] > live_bytes[high])
					high = end;
			}
			points.push(...new Set([i, Math.min(low, high), Math.max(low, high), end - 1]));
			i = end;
		}
		this.outlined = { columns, points };
		return points;
	}

	/* Live bytes of a group of stacks over the moments. */
	curve(stacks, name = "live_bytes") {
		if (!this.moments)
			return null;
		const { E } = this.moments, out = new Float64Array(E);
		let known = false;
		for (const s of stacks) {
			const row = this.rowOfStack.get(s);
			if (row === undefined)
				continue;
			known = true;
			for (let e = 0; e < E; e++)
				out[e] += this.moments[name][row * E + e];
		}
		return known ? out : null;
	}

	/* What the resident memory consists of, each with its colour: the hues go to
	 * the largest, what nobody explains is grey. */
	memoryCategories() {
		const { categories } = this.data.memory;
		const most = (c) => c.bytes.reduce((a, b) => Math.max(a, b), 0);
		const rank = new Map(categories.filter((c) => c.kind !== "unknown").sort((a, b) => most(b) - most(a)).map((c, i) => [c, i]));
		return categories.map((c) => ({ ...c, color: hueToken(rank.get(c)) }));
	}

	/* ---- the question --------------------------------------------------- */

	/*
	 * @selection: { kind: "all" } | { kind: "moment", at } | { kind: "range", from, to }
	 * Gives { now, before, error, rest, words, signed }: a value for every stack;
	 * `before` only for a range of live memory (then now - before is the growth);
	 * `rest` is what the stacks without a curve are worth together.
	 */
	values(selection, metric, unit) {
		const name = `${metric}_${unit}`;
		if (selection.kind === "all" || !this.moments || !this.momentAnswers(metric))
			return { now: this.stacks[name], before: null,
				error: this.exact ? null : this.stacks[name + "_error"], rest: 0,
				words: wholeWords(metric) };
		const column = this.moments[name];
		if (selection.kind === "moment")
			return this.atMoment(column, this.nearestMoment(selection.at), null, metric, unit);
		return this.atMoment(column, this.nearestMoment(selection.to),
			this.nearestMoment(selection.from), metric, unit);
	}

	/* Peak and temporary are facts about the whole run. */
	momentAnswers(metric) {
		return metric === "live" || metric === "allocated";
	}

	atMoment(column, e, from, metric, unit) {
		const { E, rows, stack } = this.moments;
		const now = new Float64Array(this.stackCount);
		const growth = from !== null && metric === "live";
		const before = growth ? new Float64Array(this.stackCount) : null;
		const minus = from !== null && metric === "allocated";
		for (let r = 0; r < rows - 1; r++) {
			now[stack[r]] = column[r * E + e] - (minus ? column[r * E + from] : 0);
			if (growth)
				before[stack[r]] = column[r * E + from];
		}
		const last = (rows - 1) * E;
		const rest = column[last + e] - (from !== null ? column[last + from] : 0);
		return { now, before, rest, error: this.guessError(now, before, unit),
			words: momentWords(metric, from !== null) };
	}

	/* For blocks much smaller than the rate R the error of M bytes is sqrt(R M). */
	guessError(now, before, unit) {
		if (this.exact || unit !== "bytes")
			return null;
		const rate = this.info.rate_bytes;
		return now.map((v, i) => Math.sqrt(rate * Math.max(v, before ? before[i] : 0)));
	}
}

function wholeWords(metric) {
	return { live: "live at the end", allocated: "allocated over the run",
		peak: "live at the peak", temporary: "allocated and freed at once" }[metric];
}

function momentWords(metric, range) {
	if (metric === "live")
		return range ? "live at the end of the range, coloured by growth" : "live at this moment";
	return range ? "allocated in this range" : "allocated up to this moment";
}

/*
 * The call tree under a set of values, merged by function. Returns columns
 * { fn, parent, depth, now, before, frame, children }; node 0 is the root.
 * @inverted: callers hang below the sites. @folded: a function that is already
 * on the path is gone back to, so that recursion is shown once. In sampled traces
 * `variance` has the squares of the errors.
 */
export function buildTree(trace, values, { inverted, keep, folded }) {
	const tree = { fn: [-1], parent: [-1], depth: [0], now: [0], before: [0], frame: [-1],
		children: [null], maxDepth: 0, variance: values.error ? [0] : null };
	const chain = [];
	for (let s = 0; s < trace.stackCount; s++) {
		const now = values.now[s], before = values.before ? values.before[s] : 0;
		if ((!now && !before) || !keep(s))
			continue;
		chain.length = 0;
		for (let n = trace.stacks.node[s]; n > 0; n = trace.node.parent[n])
			chain.push(trace.node.frame[n]);
		addStack(trace, tree, inverted ? chain : chain.reverse(), { now, before, error: values.error?.[s] ?? 0 }, folded);
	}
	if (values.rest) {
		tree.now[0] += values.rest;
		child(tree, 0, -2, -1);
		tree.now[tree.now.length - 1] += values.rest;
	}
	return tree;
}

function addStack(trace, tree, frames, worth, folded) {
	const seen = folded ? new Map() : null;
	let at = 0;
	add(tree, at, worth);
	for (const frame of frames) {
		const fn = trace.functionOf[frame], earlier = seen?.get(fn);
		if (earlier !== undefined) {
			at = earlier;
			continue;
		}
		at = child(tree, at, fn, frame);
		seen?.set(fn, at);
		add(tree, at, worth);
	}
}

function add(tree, at, { now, before, error }) {
	tree.now[at] += now;
	tree.before[at] += before;
	if (tree.variance)
		tree.variance[at] += error * error;
}

function child(tree, parent, fn, frame) {
	const children = tree.children[parent] || (tree.children[parent] = new Map());
	let id = children.get(fn);
	if (id !== undefined)
		return id;
	id = tree.fn.length;
	children.set(fn, id);
	tree.fn.push(fn);
	tree.frame.push(frame);
	tree.parent.push(parent);
	tree.depth.push(tree.depth[parent] + 1);
	tree.now.push(0);
	tree.before.push(0);
	tree.variance?.push(0);
	tree.children.push(null);
	tree.maxDepth = Math.max(tree.maxDepth, tree.depth[id]);
	return id;
}

/*
 * Rows for the table: stacks put together by a key. Sites use the trace's own
 * site numbers when the whole run is asked for, so that they equal the command
 * line's to the digit.
 */
export const GROUPS = {
	site: { label: "call site", of: (t, s) => t.stacks.site[s] },
	function: { label: "function", of: (t, s) => t.functionOf[t.sites.frame[t.stacks.site[s]]] },
	file: { label: "file", of: (t, s) => t.data.frames.file[t.sites.frame[t.stacks.site[s]]] },
	module: { label: "module", of: (t, s) => t.data.frames.module[t.sites.frame[t.stacks.site[s]]] },
	stack: { label: "call stack", of: (t, s) => s },
};

export function groupRows(trace, group, keep) {
	const rows = new Map(), of = GROUPS[group].of;
	for (let s = 0; s < trace.stackCount; s++) {
		if (!keep(s))
			continue;
		const site = trace.stacks.site[s];
		const key = trace.sites.kind[site] + "/" + of(trace, s);
		let row = rows.get(key);
		if (!row) {
			row = { key, kind: trace.sites.kind[site], site, stacks: [], ...labelOf(trace, group, s) };
			rows.set(key, row);
		}
		row.stacks.push(s);
	}
	return [...rows.values()];
}

function labelOf(trace, group, s) {
	const label = trace.siteLabel(trace.stacks.site[s]);
	const module = trace.moduleName(label.module);
	if (group === "module")
		return { name: module, place: "", module: "", moduleId: label.module };
	if (group === "file") {
		const file = trace.data.frames.file[trace.sites.frame[trace.stacks.site[s]]];
		return { name: file > 0 ? trace.strings[file] : "(file not known)", place: "", module,
			moduleId: label.module };
	}
	return { name: label.name, place: group === "function" ? "" : label.place, module,
		moduleId: label.module };
}

/* Sum of a column over stacks; errors add as squares. */
export function sum(column, stacks) {
	let total = 0;
	for (const s of stacks)
		total += column[s];
	return total;
}

export function sumError(column, stacks) {
	let total = 0;
	for (const s of stacks)
		total += column[s] * column[s];
	return Math.sqrt(total);
}
