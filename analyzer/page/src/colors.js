/*
 * Colours with a meaning. Modules get a hue each, in the order of their weight;
 * what is left over is grey. Differences run from blue (less) over paper to
 * orange (more): told apart by every kind of colour vision, in both themes.
 * All are made from the tokens of page.css, so that a theme changes them.
 */
import { token } from "./dom.js";

export const HUES = 8;
let cache = new Map();

export function forgetColors() {
	cache = new Map();
}

function parsed(name) {
	let rgb = cache.get(name);
	if (!rgb) {
		const hex = token(name).replace("#", "");
		rgb = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) || 0);
		cache.set(name, rgb);
	}
	return rgb;
}

function css(rgb) {
	return `rgb(${rgb.map(Math.round).join(" ")})`;
}

function mix(a, b, share) {
	return a.map((v, i) => v + (b[i] - v) * share);
}

export function hueToken(rank) {
	return rank === undefined || rank < 0 || rank >= HUES ? "hue-rest" : "hue-" + rank;
}

export function hue(rank) {
	return css(parsed(hueToken(rank)));
}

/* The module's hue, a little lighter or darker by function. */
export function frameColor(rank, id) {
	const key = "f" + rank + "/" + id % 7;
	let color = cache.get(key);
	if (!color) {
		color = css(mix(parsed(hueToken(rank)), parsed("paper"), 0.34 + 0.045 * ((id * 3) % 7)));
		cache.set(key, color);
	}
	return color;
}

/* @share from -1 (all gone) to 1 (all new). */
export function differenceColor(share) {
	const s = Math.max(-1, Math.min(1, share));
	const end = parsed(s > 0 ? "grown" : "shrunk");
	return css(mix(parsed("even"), end, Math.abs(s)));
}

/* Black or white, whichever can be read better on @color: the luminance and the
 * point where both contrasts are equal are those of WCAG 2. */
export function inkOn(color) {
	const [r, g, b] = color.match(/\d+(\.\d+)?/g).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#16181d" : "#ffffff";
}
