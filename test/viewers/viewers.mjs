/*
 * Exports in the viewers that come as npm packages: node viewers.mjs FOLDER
 * The folder holds x.FORMAT of one trace and sites.json of the same by top-sites.
 * Prints "ok - promise" or "not ok - promise" a line.
 *
 * speedscope: its schema, and the viewer itself in headless Chromium, whose
 * table of functions is read back. DuckDB: NDJSON and CSV as tables.
 */
import Ajv from "ajv";
import { DuckDBInstance } from "@duckdb/node-api";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { openBrowser } from "../page/browser.mjs";

const folder = resolve(process.argv[2]);
const release = dirname(createRequire(import.meta.url).resolve("speedscope/dist/release/index.html"));
const { sites } = JSON.parse(readFileSync(join(folder, "sites.json")));
const heap = sites.filter((s) => s.kind === "malloc");
let failed = 0;

function same(promise, expected, got) {
	const holds = JSON.stringify(expected) === JSON.stringify(got);
	console.log((holds ? "ok - " : "not ok - ") + promise);
	if (!holds) {
		failed = 1;
		console.log("    # expected " + JSON.stringify(expected).slice(0, 500) + "\n    # got      " + JSON.stringify(got).slice(0, 500));
	}
}

/* { function: value } of what top-sites says, of those that have some. */
function byFunction(metric, unit = "bytes") {
	const sums = {};
	for (const s of heap)
		if (s[metric][unit] > 0)
			sums[s.function] = (sums[s.function] || 0) + s[metric][unit];
	return sums;
}

/* ---- speedscope ---------------------------------------------------------------- */

function schema() {
	const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(join(release, "file-format-schema.json"))));
	const file = JSON.parse(readFileSync(join(folder, "x.speedscope")));
	same("speedscope: the file is as the viewer's schema says", [true, null], [validate(file), validate.errors]);
	same("speedscope: a weight of another type would be found", false,
		validate({ ...file, profiles: file.profiles.map((p) => ({ ...p, weights: ["many"] })) }));
}

/* The same by the innermost function of every stack: an allocator's own where it
 * has a name. */
function byLeaf(metric) {
	const sums = {};
	for (const stack of heap.flatMap((s) => s.stacks))
		if (stack[metric].bytes > 0)
			sums[stack.frames[0].function] = (sums[stack.frames[0].function] || 0) + stack[metric].bytes;
	return sums;
}

/* As the viewer writes a number of bytes. */
function asShown(bytes) {
	const units = ["B", "KB", "MB", "GB"];
	let unit = 0;
	for (; bytes >= 1024 && unit < 3; unit++)
		bytes /= 1024;
	return unit ? `${bytes.toFixed(2)} ${units[unit]}` : `${bytes} B`;
}

/* Rows of the viewer's table: { name, self, total }, those of equal names apart. */
async function tableOf(page) {
	await page.keyboard.press("3");
	await page.waitForFunction(() => /Symbol Name/.test(document.body.innerText));
	return page.$$eval("tr", (rows) => rows.map((r) => [...r.cells].map((c) => c.innerText.trim())).filter((c) => c.length === 3 && c[0].endsWith("%)"))
		.map(([total, self, name]) => ({ name, total: total.replace(/ \(.*/, ""), self: self.replace(/ \(.*/, "") })));
}

async function open(browser, name) {
	const page = await browser.newPage({ viewport: { width: 1200, height: 1600 } }), trouble = [];
	page.on("pageerror", (e) => trouble.push(e.message));
	page.on("request", (r) => r.url().startsWith("file:") || r.url().startsWith("data:") || r.url().startsWith("blob:") || trouble.push(r.url()));
	/* The viewer takes a file that it may not fetch from a script that hands it over. */
	const script = join(folder, name + ".js");
	writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${readFileSync(join(folder, name)).toString("base64")}")`);
	await page.goto(`file://${join(release, "index.html")}#localProfilePath=${script}`);
	await page.waitForFunction(() => /Sandwich/.test(document.body.innerText), null, { timeout: 20000 });
	return { page, trouble };
}

const shown = (sums) => Object.entries(sums).map(([name, bytes]) => `${name} ${asShown(bytes)}`).sort();
const selves = (rows) => rows.filter((r) => !/^0 /.test(r.self)).map((r) => `${r.name} ${r.self}`).sort();

async function viewer(browser) {
	const { page, trouble } = await open(browser, "x.speedscope");
	const titles = () => page.evaluate(() => /(.*) \((\d+)\/(\d+)\)/.exec(document.body.innerText)?.slice(1) || []);
	const [, now, of] = await titles();
	same("speedscope's viewer offers every metric", "10", of);
	for (let at = +now; at > 1; at--)
		await page.keyboard.press("p");
	for (const [title, metric] of [["Live bytes", "live"], [null], ["Allocated bytes", "allocated"]]) {
		if (title) {
			same(`... "${title}" by name`, title, (await titles())[0]);
			same("... its functions have top-sites' bytes", shown(byLeaf(metric)), selves(await tableOf(page)));
		}
		await page.keyboard.press("n");
	}
	same("... without an error, and without the network", [], trouble);
	await page.close();
}

/* The same viewer reads formats of others. */
async function others(browser) {
	for (const [name, metric] of [["x.pprof", "live"], ["x.folded", "live"]]) {
		const { page, trouble } = await open(browser, name), rows = await tableOf(page);
		const leaf = rows.find((r) => r.name.startsWith("keep_forever"));
		const bytes = byFunction(metric).keep_forever;
		same(`speedscope's viewer opens ${name}`, [true, []], [[asShown(bytes), String(bytes), bytes.toLocaleString("en")].includes(leaf?.self), trouble]);
		if (leaf?.self === undefined)
			console.log("    # " + JSON.stringify(rows.slice(0, 6)));
		await page.close();
	}
}

/* ---- DuckDB ----------------------------------------------------------------------- */

async function duckdb() {
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	const ask = async (sql) => (await db.runAndReadAll(sql)).getRows().map((row) => row.map((v) => typeof v === "bigint" ? Number(v) : v));
	const all = (metric, unit) => heap.reduce((a, s) => a + s[metric][unit], 0);
	for (const [name, table] of [["CSV", `read_csv('${folder}/x.csv')`], ["NDJSON", `read_ndjson('${folder}/x.ndjson')`]]) {
		same(`DuckDB sums the bytes of ${name}`, [[all("allocated", "bytes"), all("live", "bytes"), all("live", "count")]],
			await ask(`select sum(allocated_bytes)::bigint, sum(live_bytes)::bigint, sum(live_count)::bigint from ${table} where kind = 'malloc'`));
		same(`DuckDB groups ${name} by function`, Object.entries(byFunction("live")).sort(),
			(await ask(`select function, sum(live_bytes)::bigint from ${table} where kind = 'malloc' and live_bytes > 0 group by 1`)).sort());
		const types = await ask(`select column_name, column_type from (describe select live_bytes, allocated_count, line from ${table})`);
		same(`DuckDB finds numbers in ${name} by itself`, [], types.filter(([, type]) => !/^(BIGINT|INTEGER|UBIGINT)$/.test(type)));
	}
	same("DuckDB: the frames of a stack, innermost first", [["keep_forever", "main"]],
		await ask(`select frames[1].function, frames[2].function from read_ndjson('${folder}/x.ndjson') where function = 'keep_forever' limit 1`));
}

const browser = await openBrowser(["--enable-unsafe-swiftshader", "--allow-file-access-from-files"]);
try {
	schema();
	for (const part of [() => viewer(browser), () => others(browser), duckdb])
		await part().catch((e) => same("ran to its end", "", e.message));
} finally {
	await browser.close();
}
process.exit(failed);
