/*
 * A table of any length: only the rows in sight exist. Rows may be opened; an
 * open row carries a panel whose height is measured once it is drawn.
 *
 *	columns: [ { key, title, hint, align, cell(row) -> node or text, value(row) } ]
 */
import { h, replace } from "./dom.js";

const ROW = 34, OVERSCAN = 8;

export class VirtualTable {
	constructor({ label, columns, template, onsort, panel, empty }) {
		Object.assign(this, { columns, template, onsort, panel, empty });
		this.rows = [];
		this.open = new Map();   /* key -> height of its panel */
		this.head = h("div.vt-head", { role: "row" });
		this.body = h("div.vt-body", { role: "presentation" });
		this.element = h("div.vt", { role: "grid", "aria-label": label }, this.head, this.body);
		this.element.style.setProperty("--columns", template);
		this.redraw = () => this.drawRows();
		addEventListener("scroll", this.redraw, { passive: true });
		addEventListener("resize", this.redraw, { passive: true });
		this.body.addEventListener("keydown", (e) => this.key(e));
	}

	release() {
		removeEventListener("scroll", this.redraw);
		removeEventListener("resize", this.redraw);
	}

	show(rows, sort, descending) {
		const column = this.columns.find((c) => c.key === sort) || this.columns.find((c) => c.value);
		const sign = descending ? -1 : 1;
		this.sort = column.key;
		this.descending = descending;
		this.rows = [...rows].sort((a, b) => {
			const x = column.value(a), y = column.value(b);
			const order = typeof x === "string" ? x.localeCompare(y) : x - y;
			return sign * order || (a.key < b.key ? -1 : 1);
		});
		this.element.setAttribute("aria-rowcount", this.rows.length + 1);
		this.drawHead();
		this.place();
		this.drawRows(true);
	}

	drawHead() {
		replace(this.head, this.columns.map((c) => h("div.vt-th" + (c.align ? "." + c.align : "") + (c.wide ? ".wide-only" : ""),
			{ role: "columnheader", "aria-sort": c.key !== this.sort ? "none" :
				this.descending ? "descending" : "ascending" },
			c.value
				? h("button", { type: "button", title: c.hint || c.title, onclick: () =>
					this.onsort(c.key, c.key === this.sort ? !this.descending : c.descending !== false) },
				c.title, h("span.arrow", { "aria-hidden": "true" }, c.key === this.sort ? (this.descending ? "\u2193" : "\u2191") : ""))
				: h("span", { title: c.hint }, c.title))));
	}

	/* Where each row begins. */
	place() {
		this.top = new Float64Array(this.rows.length + 1);
		for (let i = 0; i < this.rows.length; i++)
			this.top[i + 1] = this.top[i] + ROW + (this.open.get(this.rows[i].key) || 0);
		this.body.style.height = Math.max(this.top[this.rows.length], this.rows.length ? 0 : 80) + "px";
	}

	find(y) {
		let lo = 0, hi = this.rows.length;
		while (lo < hi) {
			const mid = (lo + hi + 1) >> 1;
			if (this.top[mid] <= y)
				lo = mid;
			else
				hi = mid - 1;
		}
		return lo;
	}

	drawRows(force) {
		if (!this.element.isConnected)
			return;
		const above = -this.body.getBoundingClientRect().top;
		const from = Math.max(0, this.find(above) - OVERSCAN);
		const to = Math.min(this.rows.length, this.find(above + innerHeight) + OVERSCAN);
		if (!force && from === this.from && to === this.to)
			return;
		this.from = from;
		this.to = to;
		const focused = document.activeElement?.closest?.(".vt-row")?.dataset.key;
		replace(this.body, this.rows.length ? null : h("p.vt-empty", null, this.empty),
			this.rows.slice(from, to).map((row, i) => this.row(row, from + i)));
		this.measure();
		if (focused !== undefined)
			this.body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
	}

	row(row, index) {
		const isOpen = this.open.has(row.key);
		const cells = this.columns.map((c) => h("div.vt-td" + (c.align ? "." + c.align : "") + (c.wide ? ".wide-only" : ""),
			{ role: "gridcell" }, c.cell(row)));
		const line = h("div.vt-row" + (row.faint ? ".faint" : ""), { role: "row", tabindex: 0, "data-key": row.key,
			"aria-rowindex": index + 2, "aria-expanded": this.panel ? String(isOpen) : null,
			onclick: (e) => {
				if (!e.target.closest("button, a") && !String(getSelection()))
					this.toggle(row);
			} }, cells);
		const node = h("div.vt-slot" + (isOpen ? ".open" : ""), null, line,
			isOpen ? h("div.vt-panel", null, this.panel(row)) : null);
		node.style.top = this.top[index] + "px";
		return node;
	}

	/* Panels are as high as they are; rows below move when one was not known. */
	measure() {
		let changed = false;
		for (const slot of this.body.querySelectorAll(".vt-slot.open")) {
			const key = slot.querySelector(".vt-row").dataset.key;
			const height = slot.querySelector(".vt-panel").offsetHeight;
			if (this.open.get(key) !== height) {
				this.open.set(key, height);
				changed = true;
			}
		}
		if (!changed)
			return;
		this.place();
		[...this.body.querySelectorAll(".vt-slot")].forEach((slot, i) => {
			slot.style.top = this.top[this.from + i] + "px";
		});
	}

	toggle(row) {
		if (!this.panel)
			return;
		if (this.open.has(row.key))
			this.open.delete(row.key);
		else
			this.open.set(row.key, 0);
		this.place();
		this.drawRows(true);
	}

	key(event) {
		const slot = event.target.closest(".vt-slot");
		if (!slot || event.target.closest("button, a"))
			return;
		if (event.key === "Enter" || event.key === " ") {
			const key = slot.querySelector(".vt-row").dataset.key;
			this.toggle(this.rows.find((r) => String(r.key) === key));
		} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			const next = event.key === "ArrowDown" ? slot.nextElementSibling : slot.previousElementSibling;
			next?.querySelector(".vt-row").focus();
		} else
			return;
		event.preventDefault();
	}
}
