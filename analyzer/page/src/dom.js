/*
 * Making elements. Whatever comes from a trace passes through text nodes and
 * properties here; nothing in the page is ever built from a string of markup.
 */
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (name === "style")
			for (const [property, v] of Object.entries(value))
				node.style.setProperty(property, v);
		else if (name === "text")
			node.textContent = value;
		else
			node.setAttribute(name, value === true ? "" : value);
	}
	append(node, children);
	return node;
}

function append(node, children) {
	for (const child of children) {
		if (Array.isArray(child))
			append(node, child);
		else if (child !== null && child !== undefined && child !== false)
			node.append(child);
	}
}

export function h(tag, attributes, ...children) {
	const [name, ...classes] = tag.split(".");
	const node = document.createElement(name || "div");
	if (classes.length)
		node.className = classes.join(" ");
	return fill(node, attributes, children);
}

export function svg(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(node, ...children) {
	node.textContent = "";
	append(node, children);
	return node;
}

/* The colour tokens of the theme in force, for what is drawn on a canvas. */
export function token(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* A canvas of @width x @height css pixels, sharp on every screen. */
export function sizeCanvas(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.max(1, Math.round(height * ratio));
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

/* A row of buttons of which one is pressed. @options: [value, label, title, disabled] */
export function segmented(label, options, value, onchange) {
	return h("div.segmented", { role: "group", "aria-label": label },
		options.map(([v, text, title, disabled]) =>
			h("button", {
				type: "button", "aria-pressed": String(v === value), title, disabled: !!disabled,
				"data-value": v, onclick: () => onchange(v),
			}, text)));
}

/* One tooltip for the whole page. */
const tip = h("div.tip", { role: "tooltip", hidden: true });

export function showTip(x, y, ...children) {
	if (!tip.isConnected)
		document.body.append(tip);
	replace(tip, ...children);
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	const left = x + 16 + width > innerWidth - 8 ? x - width - 12 : x + 16;
	const top = y + 18 + height > innerHeight - 8 ? y - height - 12 : y + 18;
	tip.style.left = Math.max(8, left) + "px";
	tip.style.top = Math.max(8, top) + "px";
}

export function hideTip() {
	tip.hidden = true;
}
