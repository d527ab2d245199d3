/*
 * Headless Chromium for the page's tests. Every console message, uncaught error
 * and request is written down: a good page makes none but for itself.
 */
import { chromium } from "playwright-core";
import { existsSync } from "node:fs";

const CHROMIUM = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export async function openBrowser(more = []) {
	if (!CHROMIUM)
		throw new Error("no Chromium found: install the package chromium");
	return chromium.launch({ executablePath: CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...more] });
}

export async function openPage(browser, file, { width = 1280, height = 860, theme = "light", hash = "", touch = false } = {}) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, hasTouch: touch,
		permissions: ["clipboard-write"] });
	const page = await context.newPage();
	page.noise = [];
	page.requests = [];
	page.on("console", (m) => page.noise.push(`${m.type()}: ${m.text()}`));
	page.on("pageerror", (e) => page.noise.push("error: " + e.message));
	page.on("request", (r) => page.requests.push(r.url()));
	const session = await context.newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	/* Processor time of the page's main thread so far, in ms: what other programs do does not count. */
	page.spent = async () => {
		const { metrics } = await session.send("Performance.getMetrics");
		return 1000 * metrics.find((m) => m.name === "TaskDuration").value;
	};
	await page.goto("file://" + file + hash);
	await page.waitForSelector("html[data-ready]", { timeout: 30000 });
	return page;
}
