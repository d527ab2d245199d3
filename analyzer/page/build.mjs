/*
 * Bundles the page: `node build.mjs OUT.html`. Script and style are minified
 * into the template; the content policy allows exactly these two by their
 * hashes. The licences of what is bundled travel inside the page.
 */
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const PACKAGES = ["uplot", "d3-hierarchy"];

async function bundle(entry, extra) {
	const result = await build({ entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false,
		target: ["chrome88", "firefox113", "safari16.4"], charset: "utf8", legalComments: "none", logLevel: "warning", ...extra });
	return result.outputFiles[0].text.trim();
}

function hash(text) {
	return "sha256-" + createHash("sha256").update(text, "utf8").digest("base64");
}

function licences() {
	return PACKAGES.map((name) => {
		const folder = join(here, "node_modules", name);
		const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
		return `${name} ${version} (${license})\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
	}).join("\n");
}

const script = (await bundle("main.js", { format: "iife" })).replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
const style = await bundle("style.css");
const parts = { SCRIPT: script, STYLE: style, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style),
	LICENCES: licences().replace(/</g, "(").replace(/>/g, ")") };
const page = readFileSync(join(here, "src/template.html"), "utf8")
	.replace(/@(SCRIPT_HASH|STYLE_HASH|SCRIPT|STYLE|LICENCES)@/g, (_, name) => parts[name]);
writeFileSync(process.argv[2], page);
