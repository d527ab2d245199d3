/*
 * The page in a real browser: node test.mjs TEMPLATE FOLDER
 * Prints "ok - promise" or "not ok - promise" a line. The folder holds what
 * memprof-report made (see test/integration/page): pages of a trace, a process
 * tree, two traces, long ones under long/; and the command line's numbers of the
 * same as JSON. Everything else is made up.
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser, openPage } from "./browser.mjs";
import { drive } from "./drive.mjs";
import { mockPayload, writePage } from "./mock.mjs";

const [, , template, made] = process.argv;
const real = join(made, "real.html"), compareFile = join(made, "compare.html");
const json = (name) => JSON.parse(readFileSync(join(made, name)));
const folder = mkdtempSync(join(process.env.TMPDIR || tmpdir(), "page-"));
let failed = 0;

function ok(promise, holds, details) {
	console.log((holds ? "ok - " : "not ok - ") + promise);
	if (!holds) {
		failed = 1;
		if (details !== undefined)
			console.log("    # " + (typeof details === "string" ? details : JSON.stringify(details)).slice(0, 600));
	}
}

function make(name, options) {
	const file = join(folder, name);
	writeFileSync(file, writePage(template, mockPayload(options)));
	return file;
}

/* No error, no warning, no request but for the file itself. */
function quiet(what, page, file) {
	ok(`${what}: nothing on the console`, !page.noise.length, page.noise);
	ok(`${what}: no request but the file itself`, page.requests.every((u) => u.split("#")[0] === "file://" + file || u.startsWith("data:")), page.requests);
}

/* page.url() is told of changes of the fragment only later. */
const where = (page) => page.evaluate(() => location.href);

const go = (page, hash) => page.evaluate((h) => new Promise((done) => {
	location.hash = h;
	setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 30);
}), hash);

const browser = await openBrowser();

async function numbers() {
	const sites = json("sites.json"), page = await openPage(browser, real);
	for (const [metric, unit] of [["live", "bytes"], ["live", "count"], ["allocated", "bytes"], ["allocated", "count"], ["peak", "bytes"], ["temporary", "count"]]) {
		await go(page, `#view=sites&metric=${metric}&unit=${unit}`);
		const shown = await page.evaluate(() => window.memprof.view.table.rows.map((r) => [r.name, r.place, r.value]));
		const key = (name, place, value) => `${name} ${place} ${value}`;
		const base = (path) => path.slice(path.lastIndexOf("/") + 1);
		const want = sites.sites.filter((s) => s.kind === "malloc" && s[metric][unit] > 0).map((s) => key(s.function ?? `${base(s.module ?? "?")}+0x${(s.module_offset || 0).toString(16)}`,
			s.file ? base(s.file) + (s.line ? ":" + s.line : "") : "", s[metric][unit])).sort();
		const got = shown.map((r) => key(...r)).sort();
		ok(`sites by ${metric} ${unit} equal top-sites to the digit (${want.length})`, want.length > 0 && JSON.stringify(want) === JSON.stringify(got),
			want.filter((w) => !got.includes(w)).slice(0, 3).concat("|", got.filter((g) => !want.includes(g)).slice(0, 3)));
		const total = await page.evaluate(() => +document.querySelector("main .sub [data-raw]").dataset.raw);
		ok(`... and their total`, total === sites.totals[metric][unit], [total, sites.totals[metric][unit]]);
	}
	await go(page, "#view=flame&metric=allocated");
	const root = await page.evaluate(() => window.memprof.view.flame.tree.now[0]);
	ok("the flame graph holds all that was allocated", root === sites.totals.allocated.bytes, [root, sites.totals.allocated.bytes]);
	await go(page, `#view=flame&at=${await page.evaluate(() => window.memprof.trace.durationUs / 1e6)}`);
	const last = await page.evaluate(() => window.memprof.view.flame.tree.now[0]);
	ok("the last moment is what is live at the end", last === sites.totals.live.bytes, [last, sites.totals.live.bytes]);
	await page.evaluate(() => {
		const { t } = window.memprof.trace.moments;
		window.memprof.state.select({ kind: "range", from: t[Math.floor(t.length * 0.3)], to: t[Math.floor(t.length * 0.8)] });
	});
	const said = async (selector, which = 0) => ((await page.textContent(selector)).match(/[+\u2212]?\d[\d.,]*\u2009[KMG]?B/g) || []).at(which);
	const words = [await said(".strip-words"), await said("main .sub", -1)];
	await page.click('[data-view="overview"]');
	words.push(await said(".overview .columns .sub"));
	await page.click('[data-view="compare"]');
	words.push(await said(".lead-first"));
	ok("strip, flame graph, overview and comparison tell the same growth of a range", words[0] && words.every((w) => w === words[0]), words);
	for (const view of ["overview", "timeline", "treemap", "sizes", "lifetimes", "threads", "compare"])
		await go(page, "#view=" + view);
	await tables(page);
	quiet("a real trace", page, real);
	await page.context().close();
}

/* What the plain views show: every number on the page, against the command's. */
async function tables(page) {
	const shown = (selector) => page.$$eval(selector, (nodes) => nodes.map((n) => +n.dataset.raw));
	/* Classes of which there are none stand on the page only. */
	const some = (list) => list.filter((v) => v);
	const alike = (words, all, seen, want = some(all), got = some(seen)) => ok(`${words} equal the command line's (${want.length})`, want.length > 0 && JSON.stringify(want) === JSON.stringify(got), { want, got });
	await go(page, "#view=sizes");
	const { classes } = json("sizes.json").traces[0];
	alike("sizes", [...classes.map((c) => c.allocated.bytes), ...classes.map((c) => c.live.bytes)], await shown(".hist-value"));
	await go(page, "#view=lifetimes");
	const ages = json("lifetimes.json").traces[0].classes;
	alike("lifetimes", [...ages.map((c) => c.freed.bytes), ...ages.map((c) => c.living.bytes)], await shown(".hist-value"));
	await go(page, "#view=threads");
	const threads = json("threads.json").traces[0].threads.sort((a, b) => b.allocated.count - a.allocated.count);
	alike("threads", threads.flatMap((t) => [t.allocated.count, t.freed_own.count + t.freed_others.count, t.allocated.bytes, t.live.bytes]),
		await shown("section.panel:first-child td [data-raw]"));
}

/* A snapshot, and what changed since: the page's moments against TRACE@NAME. */
async function moments() {
	const page = await openPage(browser, join(made, "kept.html")), kept = json("kept.json"), after = json("after.json");
	const us = await page.evaluate(() => { const { marks } = window.memprof.trace.data; return marks.t[marks.name.indexOf("kept")]; });
	const rows = (key) => page.evaluate((k) => window.memprof.view.table.rows.map((r) => [r.name, r[k]]).filter((r) => r[1]).sort(), key);
	const want = (sites, of) => sites.filter((s) => s.kind === "malloc" && of(s)).map((s) => [s.function, of(s)]).sort();
	for (const unit of ["bytes", "count"]) {
		await go(page, `#view=sites&unit=${unit}&at=${us / 1e6}`);
		const live = want(kept.sites, (s) => s.live[unit]), got = await rows("value");
		ok(`live ${unit} at a snapshot equal TRACE@NAME`, live.length > 0 && JSON.stringify(live) === JSON.stringify(got), { live, got });
	}
	await go(page, `#view=sites&from=${us / 1e6}&to=${await page.evaluate(() => window.memprof.trace.durationUs / 1e6)}`);
	const before = new Map(want(kept.sites, (s) => s.live.bytes)), change = want(after.sites, (s) => s.live.bytes - (before.get(s.function) || 0));
	const got = await rows("change");
	ok("what changed since a snapshot is the difference of both", change.length > 0 && JSON.stringify(change) === JSON.stringify(got), { change, got });
	await go(page, "#view=sites&kind=mapped&metric=allocated");
	const mapped = await page.evaluate(() => +document.querySelector("main .sub [data-raw]").dataset.raw);
	const all = after.sites.filter((s) => s.kind !== "malloc").reduce((a, s) => a + s.allocated.bytes, 0);
	ok("what the program mapped equals top-sites", all > 0 && mapped === all, { mapped, all });
	quiet("moments", page, join(made, "kept.html"));
	await page.context().close();
}

/* A process tree: its processes, and when they were forked. */
async function tree() {
	const file = join(made, "tree.html"), page = await openPage(browser, file, { hash: "#view=timeline" });
	const rows = await page.$$eval(".events tbody tr", (all) => all.map((r) => r.textContent));
	ok("a fork is among the events, with both pids", rows.some((r) => /Fork.*threads_and_child \d+by \d+/.test(r)), rows);
	ok("... and on the lane above the chart", (await page.locator(".mark").count()) > 0);
	await page.hover(".mark");
	ok("... where it is told on hover", /Fork|Thread/.test(await page.textContent(".tip")), await page.textContent(".tip"));
	await go(page, "#view=processes");
	ok("both processes are in the table", (await page.locator("section.panel tbody tr").count()) === 2);
	quiet("a process tree", page, file);
	await page.context().close();
}

async function actions() {
	const file = make("mock.html", {}), page = await openPage(browser, file);
	const text = (selector) => page.textContent(selector);
	const licences = await text("footer");
	ok("the licences of what is bundled are in the page", /uplot [\d.]+ \(MIT\)/.test(licences) && /d3-hierarchy [\d.]+ \(ISC\)/.test(licences) && /Permission is hereby granted/.test(licences));
	ok("the page may load nothing and run no other script", await page.evaluate(() => {
		const policy = document.querySelector("meta[http-equiv]").content;
		return policy.startsWith("default-src 'none'") && !policy.includes("unsafe");
	}));
	await page.click("summary:has-text('mapping by mapping')");
	ok("the kernel's mappings are a table", (await page.locator("details[open] tbody tr").count()) === 6 && (await text("details[open]")).includes("[heap]"));
	await page.evaluate(() => scrollTo(0, 0));
	ok("the parts of the memory have colours of their own, the same as on the timeline", await page.evaluate(() => {
		const of = window.memprof.trace.memoryCategories().map((c) => c.color), bars = [...document.querySelectorAll(".overview .bar-part")].map((b) => b.style.background);
		return new Set(of).size === of.length && new Set(bars).size === bars.length && of.at(-1) === "hue-rest";
	}));
	ok("the overview leads with the verdict", (await text(".lead .verdict")) === "Growth" && (await text(".lead-first")).length > 20);

	const strip = await page.locator("canvas.strip").boundingBox();
	await page.mouse.move(strip.x + strip.width * 0.25, strip.y + 20);
	await page.mouse.down();
	await page.mouse.move(strip.x + strip.width * 0.75, strip.y + 20, { steps: 4 });
	await page.mouse.up();
	ok("dragging on the strip chooses a range", /from=2\d.*to=6\d/.test(await where(page)), await where(page));
	ok("... and the growth follows", (await text(".overview .columns .sub")).includes("from 20.8"));
	await page.keyboard.press("5");
	ok("a digit goes to a view", /view=sites/.test(await where(page)));
	ok("... where the range shows the change first", (await page.textContent(".vt-head")).startsWith("call site") && (await page.textContent(".vt-head")).includes("change"));
	const first = await page.textContent(".vt-slot .vt-row");
	await page.click('.vt-th button:has-text("call site")');
	ok("a click on a column sorts", /sort=name/.test(await where(page)) && (await page.textContent(".vt-slot .vt-row")) !== first);
	await page.keyboard.press("Escape");
	ok("Escape goes back to the whole run", !/from=/.test(await where(page)));
	await page.mouse.click(strip.x + strip.width * 0.5, strip.y + 20);
	ok("a click on the strip chooses a moment", /at=41/.test(await where(page)), await where(page));
	const before = await where(page);
	await page.keyboard.press("]");
	ok("] goes to the next moment", await where(page) !== before && /at=41\.9|at=42/.test(await where(page)), await where(page));
	await page.goBack();
	await page.waitForTimeout(50);
	ok("Back goes back", !/at=41\.9/.test(await where(page)) || await where(page) !== before);

	await go(page, "#view=sites");
	await page.fill(".search", "attach_trailer");
	ok("the filter filters", (await page.locator(".vt-row").count()) === 1);
	await page.focus(".vt-row");
	await page.keyboard.press("Enter");
	ok("Enter opens a row with its stacks", (await page.locator(".vt-panel .frames li").count()) > 3);
	ok("... and the source around its line", (await text(".vt-panel code.here")).includes("new Trailer"));
	await page.click("text=Find in the flame graph");
	ok("from a row to the flame graph", /view=flame/.test(await where(page)) && (await text(".matched")).includes("% matches"));
	await go(page, "#view=flame");
	await page.keyboard.press("/");
	ok("/ goes to the search box", await page.evaluate(() => document.activeElement.classList.contains("search")));
	await page.keyboard.type("session");
	ok("... what is found has a share", /^ \d+(\.\d)?% matches/.test(await text(".matched")), await text(".matched"));
	await page.fill(".search", "");
	const flame = await page.locator("canvas.flame").boundingBox();
	await page.mouse.click(flame.x + 80, flame.y + 5 * 20 + 8);
	ok("a click zooms", /zoom=/.test(await where(page)));
	await page.focus("canvas.flame");
	await page.keyboard.press("ArrowDown");
	ok("arrow keys walk and are told in words", (await text(".flame-box .unseen")).includes(", "));
	await page.keyboard.press("Escape");
	ok("Escape zooms out", !/zoom=/.test(await where(page)));
	await page.click('button:has-text("From the sites")');
	ok("inverted: the sites are on top", await page.evaluate(() => {
		const { tree, ordered } = window.memprof.view.flame, f = window.memprof.view.flame;
		return f.name(f.ordered(0)[0]).includes("Store::insert") && !!tree && !!ordered;
	}));
	await go(page, "#view=treemap");
	ok("the treemap has modules and tiles", (await page.locator(".tm-module").count()) > 3 && (await page.locator(".tm-leaf").count()) > 20);
	ok("... none of which is larger than its module", await page.evaluate(() => {
		const map = document.querySelector(".treemap").getBoundingClientRect();
		return [...document.querySelectorAll(".tm-leaf")].every((tile) => {
			const box = tile.getBoundingClientRect();
			return box.right <= map.right + 0.5 && box.bottom <= map.bottom + 0.5;
		});
	}));
	await go(page, "#view=sites&q=");
	const count = await page.evaluate(() => window.memprof.view.table.rows.length);
	ok("names are offered to be completed", (await page.locator("datalist option").count()) > 20);
	await page.check("text=Hide libraries");
	ok("libraries can be hidden", (await page.evaluate(() => window.memprof.view.table.rows.length)) < count && /libs=hide/.test(await where(page)));
	await page.uncheck("text=Hide libraries");
	await page.selectOption("select", "module");
	ok("sites can be grouped, and add up to the same", (await page.evaluate(() => {
		const { rows } = window.memprof.view.table;
		return rows.length < 9 && rows.reduce((a, r) => a + r.value, 0) === window.memprof.trace.data.totals.live.bytes;
	})));
	await go(page, "#view=timeline");
	ok("the timeline has three charts", (await page.locator(".u-over").count()) === 3);
	const chart = await page.locator(".u-over").first().boundingBox();
	await page.mouse.move(chart.x + 300, chart.y + 60);
	ok("the hover card has all values", (await text(".tip")).includes("live heap") && (await text(".tip")).includes("resident"));
	await page.mouse.down();
	await page.mouse.move(chart.x + 600, chart.y + 60, { steps: 3 });
	await page.mouse.up();
	ok("dragging on a chart chooses a range", /from=.*to=/.test(await where(page)), await where(page));
	ok("... that is told above the chart, and what grew below it", (await text(".chosen")).includes(" live") &&
		(await text(".timeline > .panel h2")) === "Where the growth went" && (await page.locator(".timeline > .panel .bar-row").count()) > 4);
	await page.keyboard.press("Escape");
	await page.mouse.click(chart.x + 500, chart.y + 60);
	ok("a click on a chart chooses a moment", /at=/.test(await where(page)) && (await text(".timeline > .panel h2")) === "What was live then");
	await page.keyboard.press("Escape");
	for (const [by, name] of [["module", "edge-cache"], ["site", "all others"], ["kernel", "nobody explains this"]]) {
		await page.click(`.timeline [data-value="${by}"]`);
		ok(`the composition by ${by} has its legend`, (await text(".timeline > .legend")).includes(name));
	}
	await go(page, "#view=sites&q=helper_45");
	await page.focus(".vt-row");
	await page.keyboard.press("Enter");
	await page.click("text=Show over time");
	ok("from a row to its curve on the timeline", (await text(".key.asked")).includes("helper_45"), await where(page));
	await page.keyboard.press("t");
	ok("t changes the theme", (await page.evaluate(() => document.documentElement.dataset.theme)) === "dark" && /theme=dark/.test(await where(page)));
	await go(page, "#view=compare&from=13.312&to=83.2");
	ok("two moments are compared", (await page.locator(".vt-row").count()) > 5 && (await text(".lead-first")).includes("from"));
	await go(page, "#view=nonsense&metric=%00&at=x&zoom=9.9&group=__proto__&site=-1");
	ok("a broken fragment does no harm", (await page.locator(".overview").count()) === 1);
	quiet("everything done", page, file);
	await page.context().close();
}

async function shared() {
	const file = make("mock.html", {}), page = await openPage(browser, file, { hash: "#view=sites&metric=allocated&unit=count&group=module&q=lib" });
	ok("a shared address opens the same view", (await page.locator("[aria-current]").textContent()) === "Sites" &&
		(await page.locator('[data-value="count"]').first().getAttribute("aria-pressed")) === "true" && (await page.inputValue(".search")) === "lib");
	await page.context().close();
	const narrow = await openPage(browser, file, { width: 390, height: 780 });
	const wide = [];
	for (const view of ["overview", "timeline", "flame", "treemap", "sites", "sizes", "lifetimes", "threads", "processes", "compare"]) {
		await go(narrow, "#view=" + view);
		if (await narrow.evaluate(() => document.documentElement.scrollWidth > innerWidth))
			wide.push(view);
	}
	ok("390 pixels are wide enough for every view", !wide.length, wide);
	const unnamed = await narrow.evaluate(() => [...document.querySelectorAll("button, a, input, select, canvas[tabindex]")]
		.filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label"))).length);
	ok("every control has a name", unnamed === 0, unnamed);
	const faint = await narrow.evaluate(() => {
		const luminance = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
			.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
		const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), found = [];
		for (const theme of ["light", "dark"]) {
			document.documentElement.dataset.theme = theme;
			const token = (name) => luminance(getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
			for (const ink of ["ink", "ink-2", "ink-3", "accent", "warn"])
				for (const ground of ["paper", "raised", "sunk"])
					if (contrast(token(ink), token(ground)) < 4.5)
						found.push([theme, ink, ground, contrast(token(ink), token(ground)).toFixed(2)].join(" "));
		}
		return found;
	});
	ok("every ink can be read on every ground, in both themes", !faint.length, faint);
	quiet("a narrow page", narrow, file);
	await narrow.context().close();
}

async function hostile() {
	const file = make("hostile.html", { hostile: true }), page = await openPage(browser, file);
	const elements = () => page.evaluate(() => document.querySelectorAll("main img, main script, main b b, footer script").length);
	for (const view of ["overview", "timeline", "flame", "treemap", "sites&metric=live", "sites&group=module", "sites&group=file", "sites&site=20", "threads", "compare&from=1&to=80"]) {
		await go(page, "#view=" + view);
		ok(`hostile names are text in ${view}`, (await elements()) === 0 && (await page.evaluate(() => window.hacked)) === undefined);
	}
	await go(page, "#view=sites&q=" + encodeURIComponent("<img src=x onerror=window.hacked=1>"));
	ok("... and can be searched for", (await page.locator(".vt-row").count()) > 0 && (await page.evaluate(() => window.hacked)) === undefined);
	ok("a page of hostile names is not wider than the window", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	quiet("hostile names", page, file);
	await page.context().close();

	const traced = join(made, "hostile.html"), second = await openPage(browser, traced);
	ok("a program's name is text, whatever it is", (await second.textContent("h1")).includes("script>") && (await second.textContent(".command")).includes(" '<script>hacked=1</script>' '"));
	for (const view of ["overview", "timeline", "flame", "treemap", "sites&group=module", "threads", "compare"])
		await go(second, "#view=" + view);
	ok("... in every view", await second.evaluate(() => window.hacked === undefined && !document.querySelector("header img, main img, main script, header script")));
	ok("... and bytes that are no UTF-8 are shown as such", (await second.textContent(".command")).includes("\u202e\ufffd"), await second.textContent(".command"));
	quiet("a trace with hostile names", second, traced);
	await second.context().close();
}

/* A recording by memprof run has readings of the mappings: the account of the
 * resident memory is that of the memory view. */
async function memory() {
	const file = join(made, "run.html"), page = await openPage(browser, file), { now } = json("memory.json").traces[0];
	const account = await page.evaluate((us) => {
		const { t, categories } = window.memprof.trace.data.memory, i = t.indexOf(us);
		return Object.fromEntries(categories.map((c) => [c.key, c.bytes[i]]));
	}, Math.floor(now.time_ns / 1000));
	const order = (o) => JSON.stringify(Object.entries(o).sort());
	ok("the resident memory's parts equal those of the memory view", order(account) === order(now.rows), { account, rows: now.rows });
	ok("... and add up to it", Object.values(account).reduce((a, b) => a + b, 0) === now.resident);
	const shown = await page.textContent(".overview");
	ok("... the overview tells them", shown.includes("Where did all the memory go?") && shown.includes("live blocks") && shown.includes("mapping by mapping"));
	await page.context().close();
}

/* A program that allocated nothing: no view fails for want of numbers. */
async function empty() {
	const file = join(made, "empty.html"), page = await openPage(browser, file), wrong = [];
	for (const view of ["overview", "timeline", "flame", "treemap", "sites", "sizes", "lifetimes", "threads", "compare", "sites&at=0", "flame&from=0&to=1", "compare&from=0&to=1"]) {
		await go(page, "#view=" + view);
		const text = await page.textContent("main");
		if (/NaN|Infinity|undefined|null/.test(text) || text.length < 20)
			wrong.push(view + ": " + text.slice(0, 200));
	}
	ok("a trace of nothing is told in words in every view", !wrong.length, wrong);
	quiet("a trace of nothing", page, file);
	await page.context().close();
}

async function sampled() {
	const file = make("sampled.html", { sampled: true }), page = await openPage(browser, file, { hash: "#view=sites" });
	ok("sampled numbers have their error", (await page.textContent(".vt-row .pm")).includes("\u00b1"));
	await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
	await page.waitForTimeout(100);
	ok("what is noise is grey", (await page.locator(".vt-row.faint").count()) > 0);
	ok("... and the total its own", /\u00b1[\d.]+\u2009[KM]B/.test(await page.textContent("main .sub")));
	await go(page, "#view=flame");
	ok("the flame graph has the error of every box, and noise in grey", await page.evaluate(() => {
		const { flame } = window.memprof.view, wanted = Math.hypot(...window.memprof.trace.stacks.live_bytes_error.filter((_, s) => window.memprof.trace.isHeap(s)));
		const noise = flame.tree.now.findIndex((v, n) => n > 0 && v > 0 && flame.isNoise(n)), grey = flame.color(0);
		return Math.abs(flame.error(0) / wanted - 1) < 1e-9 && noise > 0 && flame.color(noise) === grey && flame.card(noise).textContent.includes("\u00b1");
	}));
	await go(page, "#view=threads");
	ok("... and tables without errors say that they are estimates", (await page.textContent("main")).includes("Estimated from the samples."));
	await go(page, "#view=overview");
	ok("... the headline figures have theirs", (await page.locator(".figure .pm").count()) >= 4);
	quiet("a sampled trace", page, file);
	await page.context().close();
}

async function compared() {
	const page = await openPage(browser, compareFile);
	ok("two traces open as a comparison", (await page.locator("[aria-current]").textContent()) === "Compare" && (await page.locator("canvas.curves").count()) === 1);
	const sums = await page.evaluate(() => [window.memprof.baseline, window.memprof.later].map((t) => t.data.totals.live.bytes));
	const change = await page.evaluate(() => +document.querySelector(".delta").dataset.raw);
	ok("... whose change is that of the totals", change === sums[1] - sums[0], [change, sums]);
	quiet("two traces", page, compareFile);
	await page.context().close();
}

/* 20 000 stacks, 100 000 points, and real traces: all that a reader does, timed. */
async function long() {
	const large = make("large.html", { stacks: 20000, points: 100000 });
	const bytes = statSync(large).size;
	ok("20 000 stacks and 100 000 points fit in 3 MB", bytes <= 3e6, bytes);
	const folder = join(made, "long"), pages = existsSync(folder) ? readdirSync(folder).filter((f) => f.endsWith(".html")) : [];
	for (const file of [large, ...pages.map((f) => join(folder, f))]) {
		const name = file.replace(/.*\/|\.html$/g, ""), page = await openPage(browser, file);
		const told = await drive(page, (words, holds) => ok(`${name}: ${words}`, holds, page.url()));
		quiet(name, page, file);
		const words = ({ wall, cpu }) => `${wall} (${cpu})`;
		console.log(`# ${name}: ${(statSync(file).size / 1e6).toFixed(2)} MB; ms to the picture (of the processor): ready ${words(told.load)}, ` +
			Object.entries(told.ms).map(([what, ms]) => `${what} ${words(ms)}`).join(", "));
		/* The processor's time, since other programs run here too; a busy machine doubles it. */
		ok(`${name}: it loads within a second and reacts at once`, told.load.cpu < 2000 && Object.values(told.ms).every(({ cpu }) => cpu <= 300), told);
		await page.context().close();
	}
}

try {
	for (const part of [numbers, moments, memory, tree, actions, shared, hostile, empty, sampled, compared, ...(process.env.LONG === "1" ? [long] : [])]) {
		if (process.env.PART && process.env.PART !== part.name)
			continue;
		const begun = Date.now();
		await part().catch((e) => ok(`${part.name}: ran to its end`, false, e.message));
		console.log(`# ${part.name}: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
	}
} finally {
	await browser.close();
	rmSync(folder, { recursive: true, force: true });
}
process.exit(failed);
