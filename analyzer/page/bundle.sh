#!/bin/sh
# Makes the page's template as bytes of a C array: analyzer/page/bundle.sh OUT
#
# Needs node and npm (the packages in package-lock.json are fetched once). Where
# that can't be done the array is empty and `memprof-report html` writes a plain
# page: a build never fails for want of a browser's script.
set -eu

out=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plain() # WHY
{
	echo "  PAGE     $1: 'memprof-report html' will write a plain page without script" >&2
	echo "           (nothing else is affected; \`make full-page\` installs npm and builds the full one)" >&2
	echo 0, >"$out"
	exit 0
}

bytes() # FILE
{
	od -An -v -tu1 "$1" | sed 's/  */,/g; s/^,//; s/$/,/'
}

mkdir -p "$(dirname "$out")"
[ "${PAGE:-yes}" != no ] || plain "PAGE=no"
command -v node >/dev/null 2>&1 || plain "node is not installed"
if [ ! -d "$here/node_modules/esbuild" ] || [ "$here/package-lock.json" -nt "$here/node_modules" ]; then
	command -v npm >/dev/null 2>&1 || plain "npm is not installed"
	(cd "$here" && timeout 180 npm ci --ignore-scripts --no-audit --no-fund) >"$work/log" 2>&1 ||
		plain "npm can't fetch the packages ($(tail -1 "$work/log"))"
	touch "$here/node_modules"
fi
node "$here/build.mjs" "$work/page.html" 2>"$work/log" || plain "the bundler failed ($(head -1 "$work/log"))"
cp "$work/page.html" "${out%.inc}.html"
bytes "$work/page.html" >"$work/page.inc"
mv "$work/page.inc" "$out"
