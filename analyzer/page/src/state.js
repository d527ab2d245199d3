/*
 * What the reader has chosen, kept in the fragment of the address: a view can be
 * sent to somebody, and Back works. Unknown or broken values are ignored.
 */
const DEFAULTS = { view: "overview", metric: "live", unit: "bytes", from: "", to: "", at: "",
	q: "", group: "site", sort: "", libs: "", kind: "heap", inv: "", rec: "", zoom: "", stack: "module",
	theme: "", site: "" };

export class State {
	constructor() {
		this.listeners = [];
		this.limitUs = Infinity;   /* nothing can be chosen beyond */
		this.values = { ...DEFAULTS };
		this.read();
		addEventListener("hashchange", () => {
			this.read();
			this.tell({});
		});
	}

	read() {
		const fragment = new URLSearchParams(location.hash.slice(1));
		for (const key of Object.keys(DEFAULTS))
			this.values[key] = fragment.get(key) ?? DEFAULTS[key];
	}

	get(key) {
		return this.values[key];
	}

	/* @quiet: replaces the entry in the history, for what changes often. */
	set(changes, quiet) {
		Object.assign(this.values, changes);
		const fragment = new URLSearchParams();
		for (const [key, value] of Object.entries(this.values))
			if (value !== DEFAULTS[key])
				fragment.set(key, value);
		const hash = "#" + fragment;
		if (hash !== location.hash && !(hash === "#" && !location.hash))
			history[quiet ? "replaceState" : "pushState"](null, "", hash);
		this.tell(changes);
	}

	listen(listener) {
		this.listeners.push(listener);
	}

	tell(changes) {
		for (const listener of this.listeners)
			listener(changes);
	}

	/* The chosen piece of time, in microseconds. */
	selection() {
		const number = (key) => this.values[key] === "" ? NaN : parseFloat(this.values[key]) * 1e6;
		const at = number("at"), from = number("from"), to = number("to");
		if (at >= 0)
			return { kind: "moment", at: Math.min(at, this.limitUs) };
		if (from >= 0 && to > from && from < this.limitUs)
			return { kind: "range", from, to: Math.min(to, this.limitUs) };
		return { kind: "all" };
	}

	select(selection, quiet) {
		const seconds = (us) => String(+(us / 1e6).toFixed(6));
		const changes = { at: "", from: "", to: "" };
		if (selection.kind === "moment")
			changes.at = seconds(selection.at);
		else if (selection.kind === "range")
			Object.assign(changes, { from: seconds(selection.from), to: seconds(selection.to) });
		this.set(changes, quiet);
	}
}
