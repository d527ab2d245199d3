/*
 * Does with a page of any trace what its reader would, and times it as the
 * reader feels it: from the key or button to the next picture (the browser's
 * own Event Timing, in steps of 8 ms; what is faster than 16 ms is not told).
 */

async function watch(page) {
	await page.evaluate(() => {
		window.felt = [];
		new PerformanceObserver((list) => window.felt.push(...list.getEntries().map((e) => e.duration)))
			.observe({ type: "event", durationThreshold: 16 });
	});
}

/* Milliseconds until the picture changed, of the slowest of the action's events;
 * and what of the processor's time the page took for it. */
async function felt(page, action) {
	await page.evaluate(() => { window.felt.length = 0; });
	const before = await page.spent();
	await action();
	await page.waitForTimeout(200);
	const cpu = Math.round(await page.spent() - before);
	return { wall: await page.evaluate(() => Math.max(16, ...window.felt)), cpu };
}

async function drag(page, box, from, to) {
	await page.mouse.move(box.x + box.width * from, box.y + 25);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * (from + to) / 2, box.y + 25);
	await page.mouse.move(box.x + box.width * to, box.y + 25);
	await page.mouse.up();
}

/*
 * Gives { load, ms } where load and every action of ms is { wall, cpu } in
 * milliseconds. @promise(words, holds) is told what the page did.
 */
export async function drive(page, promise) {
	const ms = {}, at = (key) => page.evaluate((k) => new URLSearchParams(location.hash.slice(1)).get(k), key);
	const show = (view) => page.click(`[data-view="${view}"]`);
	const load = { wall: await page.evaluate(() => +document.documentElement.dataset.ready), cpu: Math.round(await page.spent()) };
	const view = await page.evaluate(() => window.memprof.trace.siteLabel(window.memprof.trace.stacks.site[0]).name.slice(0, 8));
	await watch(page);
	await page.evaluate(() => scrollTo(0, 0));
	await show("sites");
	const strip = await page.locator("canvas.strip").boundingBox();
	ms.range = await felt(page, () => drag(page, strip, 0.2, 0.8));
	promise("a range is dragged, and the table shows the change", (await at("from")) !== null && (await page.textContent(".vt-head")).includes("change"));
	ms.sort = await felt(page, () => page.click('.vt-th button:has-text("call site")'));
	promise("a click sorts the table", (await at("sort")) === "name");
	ms.moment = await felt(page, () => page.mouse.click(strip.x + strip.width * 0.6, strip.y + 25));
	promise("a moment is clicked", (await at("at")) !== null);
	ms.key = await felt(page, () => page.keyboard.press("]"));
	await page.keyboard.press("Escape");
	promise("Escape goes back to the whole run", (await at("at")) === null);
	ms["to the flame graph"] = await felt(page, () => page.keyboard.press("3"));
	promise("a digit goes to the flame graph", (await at("view")) === "flame");
	await page.click('[data-value="allocated"]');
	const canvas = await page.locator("canvas.flame").boundingBox();
	ms.zoom = await felt(page, () => page.mouse.click(canvas.x + 40, canvas.y + 2 * 20 + 8));
	promise("a click zooms", (await at("zoom")) !== null);
	await page.click("text=Reset zoom");
	await page.keyboard.press("/");
	ms.search = await felt(page, () => page.keyboard.type(view, { delay: 20 }));
	promise("what is searched for has a share", /% matches/.test(await page.textContent(".matched")));
	await page.fill(".search", "");
	ms.invert = await felt(page, () => page.click('button:has-text("From the sites")'));
	await page.evaluate(() => document.activeElement.blur());
	ms["to the treemap"] = await felt(page, () => page.keyboard.press("4"));
	promise("the treemap has tiles", (await page.locator(".tm-leaf").count()) > 0);
	ms["to the timeline"] = await felt(page, () => page.keyboard.press("2"));
	const chart = await page.locator(".u-over").first().boundingBox();
	ms["range on the timeline"] = await felt(page, () => drag(page, chart, 0.1, 0.9));
	promise("a range is dragged on the chart, and what is below follows", (await at("from")) !== null &&
		(await page.textContent(".timeline > .panel")).startsWith("Where the growth went") && (await page.textContent(".chosen")).includes("whole run"));
	ms.compare = await felt(page, () => show("compare"));
	promise("the two ends of the range are compared", / from .* to /.test(await page.textContent(".lead-first")));
	for (const other of ["sizes", "lifetimes", "threads", "overview"])
		await show(other);
	return { load, ms };
}
