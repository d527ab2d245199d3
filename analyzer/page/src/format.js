/*
 * Numbers for people: three digits, sizes in steps of 1024, as the command line
 * writes them. The exact number is always at hand in a title or a data field.
 */
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

function digits(value) {
	if (value >= 99.95)
		return value.toFixed(0);
	return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

export function bytes(value) {
	const sign = value < 0 ? "\u2212" : "";
	let v = Math.abs(value), unit = 0;
	while (v >= 999.5 && unit < UNITS.length - 1) {
		v /= 1024;
		unit++;
	}
	return sign + (unit ? digits(v) : Math.round(v)) + "\u2009" + UNITS[unit];
}

export function count(value) {
	const sign = value < 0 ? "\u2212" : "";
	const v = Math.abs(value);
	if (v < 999999.5)
		return sign + group(Math.round(v));
	if (v < 999.5e6)
		return sign + digits(v / 1e6) + "\u2009M";
	return sign + digits(v / 1e9) + "\u2009G";
}

/* 1 234 567 with thin spaces */
export function group(value) {
	return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

export function exact(value, unit) {
	const text = (value < 0 ? "\u2212" : "") + group(Math.abs(Math.round(value)));
	return unit === "count" ? text : text + " bytes";
}

export function amount(value, unit) {
	return unit === "count" ? count(value) : bytes(value);
}

export function signed(value, unit) {
	return (value > 0 ? "+" : "") + amount(value, unit);
}

export function percent(share) {
	const p = 100 * share;
	if (!isFinite(p))
		return "\u2013";
	if (p !== 0 && Math.abs(p) < 0.1)
		return p < 0 ? "\u2212<0.1%" : "<0.1%";
	return (p < 0 ? "\u2212" : "") + Math.abs(p).toFixed(Math.abs(p) < 10 ? 1 : 0) + "%";
}

/* Microseconds. */
export function duration(us) {
	const sign = us < 0 ? "\u2212" : "";
	const v = Math.abs(us);
	if (v < 1000)
		return sign + Math.round(v) + "\u2009\u00b5s";
	if (v < 1e6)
		return sign + digits(v / 1e3) + "\u2009ms";
	if (v < 120e6)
		return sign + digits(v / 1e6) + "\u2009s";
	if (v < 7200e6)
		return sign + Math.floor(v / 60e6) + "\u2009min " + Math.round(v % 60e6 / 1e6) + "\u2009s";
	return sign + Math.floor(v / 3600e6) + "\u2009h " + Math.round(v % 3600e6 / 60e6) + "\u2009min";
}

/* "10.0 s" -> "10 s": for scales, where the numbers are round. */
export function tidy(text) {
	return text.replace(/(\d)\.0+(?=\D|$)/g, "$1").replace(/(\.\d*?)0+(?=\D|$)/g, "$1");
}

export function clock(unixNs) {
	const date = new Date(unixNs / 1e6);
	return isNaN(date) ? "" : date.toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

/* Names can be anything: cut what nobody could read, in the middle. */
export function shorten(text, limit) {
	if (text.length <= limit)
		return text;
	const head = Math.ceil((limit - 1) * 0.6);
	return text.slice(0, head) + "\u2026" + text.slice(text.length - (limit - 1 - head));
}

export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}
