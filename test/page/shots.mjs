/*
 * Screenshots of every part in both themes and widths, to be looked at:
 * node shots.mjs TEMPLATE|PAGE FOLDER [view ...]
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { openBrowser, openPage } from "./browser.mjs";
import { mockPayload, writePage } from "./mock.mjs";

const [, , source, folder, ...only] = process.argv;
const SHOTS = [
	["overview", "#view=overview"], ["overview-range", "#view=overview&from=13.3&to=60"],
	["timeline", "#view=timeline"], ["timeline-range", "#view=timeline&from=20&to=52&stack=site"], ["timeline-kernel", "#view=timeline&stack=kernel&at=34.6"],
	["flame", "#view=flame"], ["flame-range", "#view=flame&from=13.3&to=78"], ["flame-search", "#view=flame&q=session&inv=1"],
	["treemap", "#view=treemap"], ["treemap-range", "#view=treemap&from=13.3&to=78"],
	["sites", "#view=sites"], ["sites-open", "#view=sites&site=1"], ["sites-range", "#view=sites&from=13.3&to=78"],
	["sizes", "#view=sizes&unit=count"], ["lifetimes", "#view=lifetimes&unit=count"], ["threads", "#view=threads"],
	["processes", "#view=processes"], ["compare", "#view=compare"], ["compare-range", "#view=compare&from=13.3&to=78"],
];
/* What must be pointed at to be seen: after which name, where the pointer goes. */
const POINT = { "timeline-card": [".u-over", 0.55], "timeline-mark": [".mark-several, .mark", 0.5], "flame-card": ["canvas.flame", 0.2], "treemap-card": [".tm-leaf", 0.5] };
for (const name of Object.keys(POINT))
	SHOTS.push([name, "#view=" + name.split("-")[0]]);
mkdirSync(folder, { recursive: true });
let file = source;
if (readFileSync(source, "utf8").includes("@MEMPROF_PAYLOAD@")) {
	file = folder + "/mock.html";
	writeFileSync(file, writePage(source, mockPayload({})));
	writeFileSync(folder + "/sampled.html", writePage(source, mockPayload({ sampled: true })));
	writeFileSync(folder + "/compare.html", writePage(source, mockPayload({ compare: true })));
	SHOTS.push(["two-traces", "#view=compare", "compare.html"], ["sampled-sites", "#view=sites", "sampled.html"], ["sampled-flame", "#view=flame", "sampled.html"]);
}
const browser = await openBrowser();
const THEMES = (process.env.THEMES || "light dark").split(" "), WIDTHS = (process.env.WIDTHS || "1280 390").split(" ");
for (const theme of THEMES)
	for (const width of WIDTHS.map(Number))
		for (const source of new Set(SHOTS.map((s) => s[2]))) {
			const wanted = SHOTS.filter((s) => s[2] === source && (!only.length || only.some((o) => s[0].startsWith(o))));
			if (!wanted.length)
				continue;
			const page = await openPage(browser, source ? `${folder}/${source}` : file, { theme, width, height: width > 600 ? 860 : 780 });
			for (const [name, hash] of wanted) {
				await page.evaluate((h) => { scrollTo(0, 0); location.hash = h; }, hash);
				await page.waitForTimeout(200);
				if (POINT[name] && await page.locator(POINT[name][0]).count()) {
					const box = await page.locator(POINT[name][0]).first().boundingBox();
					await page.mouse.move(box.x + box.width * POINT[name][1], box.y + Math.min(100, box.height / 2));
				}
				await page.screenshot({ path: `${folder}/${name}-${theme}-${width}.png`, fullPage: !POINT[name] && !/^(sites|sampled|compare|two)/.test(name) });
				const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				if (wide > 0)
					console.log(name, theme, width, "is", wide, "pixels too wide");
			}
			if (page.noise.length)
				console.log(theme, width, page.noise);
			await page.context().close();
		}
await browser.close();
