/*
 * Starts the page: payload, state, frame round the views. A view has an element,
 * show(changes) and release(); only the one in sight exists.
 */
import { h, replace, hideTip } from "./dom.js";
import { inflate, Trace } from "./model.js";
import { State } from "./state.js";
import { Strip, snap } from "./strip.js";
import { forgetColors } from "./colors.js";
import { OverviewView } from "./overview.js";
import { TimelineView } from "./timeline.js";
import { FlameView, TreemapView, SitesView, SizesView, LifetimesView, ThreadsView, ProcessesView } from "./views.js";
import { CompareView } from "./compare.js";
import * as format from "./format.js";

const VIEWS = [
	["overview", "Overview", OverviewView],
	["timeline", "Timeline", TimelineView],
	["flame", "Flame graph", FlameView],
	["treemap", "Treemap", TreemapView],
	["sites", "Sites", SitesView],
	["sizes", "Sizes", SizesView],
	["lifetimes", "Lifetimes", LifetimesView],
	["threads", "Threads", ThreadsView],
	["processes", "Processes", ProcessesView],
	["compare", "Compare", CompareView],
];

const KEYS = [["1 \u2013 9, 0", "go to a view"], ["/", "search"], ["[  ]", "the moment before, the next one"], ["Esc", "the whole run again"],
	["t", "dark or light"], ["arrows, Enter", "walk the flame graph and the table"], ["?", "this list"]];

/* A word of the command as a shell would take it. */
function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

class App {
	constructor(payload) {
		const traces = payload.traces.map((t) => new Trace(t));
		this.tool = payload.tool;
		this.baseline = traces.length > 1 ? traces[0] : null;
		this.later = this.trace = traces[traces.length - 1];
		this.compare = false;
		this.state = new State();
		this.state.limitUs = this.trace.durationUs;
		if (this.baseline && !location.hash)
			this.state.values.view = "compare";
		this.memo = new Map();
	}

	/* Values under the selection in force; kept, so that views can ask again. */
	values(metric) {
		const s = this.state.selection(), unit = this.state.get("unit");
		const id = [metric, unit, s.kind, s.at, s.from, s.to].join();
		if (!this.memo.has(id)) {
			if (this.memo.size > 24)
				this.memo.clear();
			this.memo.set(id, { ...this.trace.values(s, metric, unit), id });
		}
		return this.memo.get(id);
	}

	snap(selection) {
		return snap(this.trace, selection);
	}

	start() {
		this.strip = new Strip(this.trace, this.state);
		this.tabs = h("nav.tabs", { "aria-label": "Views" });
		this.main = h("main", { id: "main", tabindex: -1 });
		this.help = this.makeHelp();
		const notices = document.getElementById("licences").textContent;
		replace(document.body, h("a.skip", { href: "#", onclick: (e) => {
			e.preventDefault();
			this.main.focus();
		} }, "Skip to the content"),
		h("header", null, this.title(), this.tabs), this.strip.element, this.main, this.footer(notices), this.help, this.names());
		this.applyTheme();
		this.state.listen((changes) => this.update(changes));
		addEventListener("keydown", (e) => this.key(e));
		addEventListener("resize", () => {
			clearTimeout(this.resizing);
			this.resizing = setTimeout(() => this.resized(), 120);
		});
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
		this.update({ view: this.state.get("view") });
	}

	/* As it was called; the executable may be one program with many names. */
	programName() {
		const { info } = this.trace, called = Array.isArray(info.command) ? info.command[0] : "";
		return format.baseName(called || info.exe || info.path || "?");
	}

	title() {
		const { info } = this.trace, command = Array.isArray(info.command) ? info.command.map(quoted).join(" ") : info.command || info.exe || info.path;
		document.title = format.shorten(this.programName(), 80) + " \u2013 memprof";
		const facts = [info.pid && "pid " + info.pid, format.clock(info.start_unix_ns), "ran " + format.duration(info.duration_ns / 1000),
			info.exact ? "exact" : "sampled, one in " + format.bytes(info.rate_bytes), format.count(info.events) + " events",
			info.complete ? null : "cut short", info.running ? "still running" : null].filter(Boolean);
		return h("div.title", null, h("div.title-text", null,
			h("h1", { dir: "auto", title: format.shorten(command, 1000) }, format.shorten(this.programName(), 60),
				this.baseline ? h("span.faint", null, "  compared with " + format.shorten(format.baseName(this.baseline.info.path || ""), 60)) : null),
			h("p.command", { dir: "auto" }, format.shorten(command, 240)),
			h("p.facts-line", null, facts.join("  \u00b7  "))),
		h("div.title-tools", null, h("button.icon", { type: "button", title: "Dark or light (t)", "aria-label": "Dark or light", onclick: () => this.toggleTheme() }, "\u25d0"),
			h("button.icon", { type: "button", title: "Keys (?)", "aria-label": "Keyboard shortcuts", onclick: () => this.help.showModal() }, "?")));
	}

	makeHelp() {
		return h("dialog.help", { "aria-label": "Keyboard shortcuts" }, h("h2", null, "Keys"), h("table", null, KEYS.map(([key, words]) =>
			h("tr", null, h("td", null, h("kbd", null, key)), h("td", null, words)))), h("form", { method: "dialog" }, h("button.primary", null, "Close")));
	}

	footer(notices) {
		return h("footer", null, h("p", null, `Made by ${this.tool}. Sizes are 1024-based; point at a number for all its digits. Nothing is loaded from anywhere.`),
			notices.trim() ? h("details", null, h("summary", null, "Third-party licences"), h("pre", null, notices)) : null);
	}

	/* What the search boxes complete. */
	names() {
		const { trace } = this, weight = new Map();
		for (let i = 0; i < trace.siteCount; i++)
			weight.set(trace.siteLabel(i).name, trace.sites.allocated_bytes[i]);
		const top = [...weight].sort((a, b) => b[1] - a[1]).slice(0, 150).map(([name]) => name).filter((n) => n.length < 200);
		const modules = [...trace.moduleRank.keys()].slice(0, 20).map((m) => trace.moduleName(m));
		return h("datalist", { id: "names" }, [...top, ...modules].map((name) => h("option", { value: name })));
	}

	views() {
		return VIEWS.filter(([key]) => key !== "processes" || (this.trace.data.processes || []).length > 1);
	}

	update(changes) {
		const view = this.views().some(([k]) => k === this.state.get("view")) ? this.state.get("view") : "overview";
		const begun = performance.now();
		if ("theme" in changes || !Object.keys(changes).length)
			this.applyTheme();
		hideTip();
		this.drawTabs(view);
		this.strip.element.hidden = view === "timeline" || !this.trace.timeline || (view === "compare" && !!this.baseline);
		const selects = ["at", "from", "to"].some((k) => k in changes);
		if (this.viewName !== view) {
			this.view?.release();
			this.viewName = view;
			this.view = new (VIEWS.find(([k]) => k === view)[2])(this);
			replace(this.main, this.view.element);
			this.view.show();
			if ("view" in changes && scrollY > 200 && this.state.get("site") === "")
				scrollTo(0, 0);
		} else if (selects && this.view.select && view === "timeline")
			this.view.select();
		else
			this.view.show(changes);
		if (!this.strip.element.hidden)
			this.strip.draw();
		this.lastUpdateMs = performance.now() - begun;
	}

	drawTabs(view) {
		const tabs = this.views();
		if (this.tabs.childElementCount !== tabs.length)
			replace(this.tabs, tabs.map(([key, label]) => h("a", { href: "#view=" + key, "data-view": key, onclick: (e) => {
				e.preventDefault();
				this.state.set({ view: key, sort: "", site: "" });
			} }, label)));
		for (const tab of this.tabs.children) {
			if (tab.dataset.view === view)
				tab.setAttribute("aria-current", "page");
			else
				tab.removeAttribute("aria-current");
		}
		const current = this.tabs.querySelector("[aria-current]");
		if (current && this.tabs.scrollWidth > this.tabs.clientWidth)
			this.tabs.scrollLeft = current.offsetLeft - 40;
	}

	/* ---- theme ------------------------------------------------------------ */

	applyTheme() {
		const theme = this.state.get("theme");
		if (theme === "dark" || theme === "light")
			document.documentElement.dataset.theme = theme;
		else
			delete document.documentElement.dataset.theme;
		forgetColors();
	}

	toggleTheme() {
		const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
		this.state.set({ theme: dark ? "light" : "dark" }, true);
	}

	repaint() {
		this.applyTheme();
		this.view.show();
		this.strip.draw();
	}

	resized() {
		if (this.lastWidth === innerWidth)
			return;
		this.lastWidth = innerWidth;
		if (!this.strip.element.hidden)
			this.strip.draw();
		if (this.viewName === "timeline")
			this.view.show();
	}

	/* ---- keyboard ------------------------------------------------------------ */

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || this.help.open)
			return;
		const typing = event.target.closest("input, select, textarea");
		if (typing) {
			if (event.key === "Escape")
				typing.blur();
			return;
		}
		const views = this.views(), digit = "1234567890".indexOf(event.key);
		if (digit >= 0 && event.key.length === 1 && views[digit])
			this.state.set({ view: views[digit][0], sort: "", site: "" });
		else if (event.key === "/")
			this.search();
		else if (event.key === "t")
			this.toggleTheme();
		else if (event.key === "?")
			this.help.showModal();
		else if (event.key === "Escape" && event.target.tagName !== "CANVAS")
			this.state.select({ kind: "all" });
		else if ((event.key === "[" || event.key === "]") && this.trace.moments)
			this.step(event.key === "]" ? 1 : -1);
		else
			return;
		event.preventDefault();
	}

	search() {
		if (!document.querySelector(".search"))
			this.state.set({ view: "flame" });
		document.querySelector(".search").focus();
	}

	step(by) {
		const { t } = this.trace.moments, s = this.state.selection();
		const now = s.kind === "moment" ? s.at : s.kind === "range" ? s.to : this.trace.durationUs;
		const next = Math.max(0, Math.min(t.length - 1, this.trace.nearestMoment(now) + by));
		this.state.select({ kind: "moment", at: t[next] }, true);
	}
}

async function start() {
	const element = document.getElementById("payload");
	const payload = await inflate(element.textContent.trim());
	element.remove();
	const app = new App(payload);
	window.memprof = app;
	app.start();
	document.documentElement.dataset.ready = Math.round(performance.now());
}

start().catch((error) => {
	document.body.textContent = "This page can\u2019t be shown: " + error.message +
		". It needs a browser with DecompressionStream (Firefox 113, Chromium 80, Safari 16.4 or newer).";
	console.error(error);
});
