/*
 * Payloads made up for the page's tests: a proxy with a leak, a cache that
 * grows to its plateau, buffers that churn. The same seed gives the same
 * payload. mockPayload({ stacks, points, sampled, hostile }).
 */
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";

function random(seed) {
	let a = seed >>> 0;
	return () => {
		a = (a + 0x6d2b79f5) | 0;
		let t = Math.imul(a ^ (a >>> 15), 1 | a);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

class Strings {
	constructor() {
		this.list = [""];
		this.ids = new Map([["", 0]]);
	}
	id(text) {
		if (!this.ids.has(text)) {
			this.ids.set(text, this.list.length);
			this.list.push(text);
		}
		return this.ids.get(text);
	}
}

const APP = "/opt/edge/bin/edge-cache", SSL = "/usr/lib/x86_64-linux-gnu/libssl.so.3",
	CRYPTO = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", JSONLIB = "/opt/edge/lib/libjsonkit.so.2",
	CXX = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6",
	LUA = "/opt/edge/lib/libluaext.so";

/* [module, function, file, line, weight, behaviour] */
const SITES = [
	[APP, "edge::cache::Store::insert(edge::cache::Key const&, edge::Buffer&&)", "src/cache/store.cc", 214, 420e6, "plateau"],
	[APP, "edge::session::Session::attach_trailer(std::string_view)", "src/session/session.cc", 88, 61e6, "leak"],
	[APP, "edge::http::Parser::grow_buffer(unsigned long)", "src/http/parser.cc", 140, 9e6, "churn"],
	[SSL, "SSL_new", "ssl/ssl_lib.c", 742, 38e6, "waves"],
	[CRYPTO, "CRYPTO_zalloc", "crypto/mem.c", 197, 22e6, "waves"],
	[JSONLIB, "jk_parse_object", "lib/parse.c", 311, 14e6, "churn"],
	[APP, "edge::config::load(std::filesystem::path const&)", "src/config/load.cc", 52, 11e6, "once"],
	[APP, "edge::metrics::Registry::histogram(std::string)", "src/metrics/registry.cc", 173, 27e6, "growth"],
	[LUA, "lua_ext_alloc", "ext/alloc.c", 29, 46e6, "waves"],
	[APP, "edge::io::RingBuffer::RingBuffer(unsigned int)", "src/io/ring.cc", 31, 33e6, "once"],
	[CXX, "std::__cxx11::basic_string<char>::_M_create", "", 0, 6e6, "churn"],
	[APP, "edge::dns::Resolver::cache_answer(edge::dns::Message const&)", "src/dns/resolver.cc", 266, 18e6, "plateau"],
	[APP, "edge::log::Line::format(edge::log::Level)", "src/log/line.cc", 77, 1.2e6, "churn"],
	[LIBC, "", "", 0, 3e6, "once"],
];

const CALLERS = ["main", "edge::Server::run()", "edge::Worker::loop()", "edge::io::Poller::dispatch(int)",
	"edge::http::Connection::on_readable()", "edge::http::Connection::handle_request(edge::http::Request&)",
	"edge::route::Router::match(edge::http::Request const&)", "edge::upstream::Pool::acquire()",
	"edge::tls::Handshake::step()", "edge::filter::Chain::run(edge::filter::Context&)", "edge::script::Engine::call()",
	"edge::cache::Store::lookup_or_fetch(edge::cache::Key const&)", "edge::http2::Stream::on_headers()",
	"edge::http2::Session::recv(unsigned char const*, unsigned long)", "edge::session::Manager::open(unsigned long)",
	"edge::util::retry<edge::upstream::Fetch>(int, edge::upstream::Fetch&&)"];

const HOSTILE = ["<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "\u202egnp.exe\u202c",
	"</script><script>window.hacked=1</script>", "\u0000\u0001\u001b[31mred", "a\ufffd\ufffdb", "&lt;b&gt;&amp;",
	"--></style><b>", "x".repeat(100000), "javascript:window.hacked=1", "__proto__", "constructor", "\u0301".repeat(40)];

const SHAPES = {
	plateau: (x) => 1 - Math.exp(-6 * x),
	leak: (x) => x,
	growth: (x) => Math.sqrt(x),
	once: (x) => (x > 0.02 ? 1 : 0),
	waves: (x, p) => 0.55 + 0.35 * Math.sin(9 * x + p) * Math.min(1, x * 5),
	churn: (x, p) => 0.4 + 0.6 * Math.abs(Math.sin(91 * x + p)) * Math.abs(Math.sin(13.7 * x + p)),
};
const VERDICTS = { plateau: "plateau", leak: "leak suspect", growth: "growing", once: "one-time", waves: "churn", churn: "churn" };

export function mockTrace({ stacks = 900, points = 4000, sampled = false, hostile = false, seed = 7, scale = 1 } = {}) {
	const rnd = random(seed), strings = new Strings();
	const frames = { function: [], file: [], module: [], line: [], offset: [], inlined: [] };
	const frameIds = new Map();
	const frame = (module, fn, file, line, inlined = 0) => {
		const key = [module, fn, file, line, inlined].join("\0");
		if (!frameIds.has(key)) {
			frameIds.set(key, frames.function.length);
			frames.function.push(strings.id(fn));
			frames.file.push(strings.id(file));
			frames.module.push(strings.id(module));
			frames.line.push(line);
			frames.offset.push(strings.id("0x" + (0x1000 + line * 16 + fn.length * 4096).toString(16)));
			frames.inlined.push(inlined);
		}
		return frameIds.get(key);
	};
	const nodes = { parent: [-1], frame: [-1] }, nodeIds = new Map();
	const node = (parent, f) => {
		const key = parent + "/" + f;
		if (!nodeIds.has(key)) {
			nodeIds.set(key, nodes.parent.length);
			nodes.parent.push(parent);
			nodes.frame.push(f);
		}
		return nodeIds.get(key);
	};

	const sites = { kind: [], frame: [], verdict: [], why: [] };
	const metrics = {};
	for (const m of ["allocated", "freed", "live", "peak", "temporary"])
		for (const u of ["count", "bytes"]) {
			metrics[`${m}_${u}`] = [];
			if (sampled)
				metrics[`${m}_${u}_error`] = [];
		}
	const stackTable = { site: [], node: [] };
	const duration = 83.2e6, E = 241;
	const t = Array.from({ length: E }, (_, e) => Math.round(duration * e / (E - 1)));
	const kinds = SITES.map((s) => [...s]);
	if (hostile)
		HOSTILE.forEach((name, i) => kinds.push([i % 2 ? APP : name, name, i % 3 ? name : "src/x.c", i + 1, 20e6 / (i + 1), "growth"]));
	while (kinds.length < Math.min(400, 14 + stacks / 8)) {
		const base = SITES[Math.floor(rnd() * SITES.length)];
		const n = kinds.length;
		kinds.push([base[0], `edge::detail::helper_${n}(unsigned int)`, `src/detail/helper_${n % 37}.cc`, 20 + n, 4e6 * rnd() * rnd(), base[5]]);
	}
	const perStack = [];
	kinds.forEach(([module, fn, file, line, weight, shape], i) => {
		sites.kind.push(i === 9 ? 1 : 0);
		sites.frame.push(frame(module, fn, file, line));
		sites.verdict.push(strings.id(VERDICTS[shape]));
		sites.why.push(strings.id(shape === "leak" ? "live bytes rise by 0.73 MB/s all the time; of the blocks older than 10 s, 100% are still there" : ""));
		const n = i < 14 ? Math.ceil(stacks / 40) : Math.max(1, Math.round(stacks / kinds.length / 2));
		let left = weight * scale;
		for (let k = 0; k < n && perStack.length < stacks; k++) {
			const bytes = k === n - 1 ? left : left * (0.2 + 0.5 * rnd());
			left -= bytes;
			let at = 0;
			const depth = 3 + Math.floor(rnd() * 12);
			for (let d = 0; d < depth; d++) {
				const fnName = d < 3 ? CALLERS[d] : CALLERS[3 + Math.floor(rnd() * (CALLERS.length - 3))];
				at = node(at, frame(APP, hostile && d === 4 ? HOSTILE[k % HOSTILE.length] : fnName,
					"src/" + fnName.replace(/\W+/g, "_").slice(0, 14) + ".cc", 20 + Math.floor(rnd() * 5) * 17));
			}
			at = node(at, frame(module, fn, file, line));
			perStack.push({ site: i, node: at, bytes, shape, phase: rnd() * 6 });
		}
	});
	const size = (p) => (p.shape === "churn" ? 180 : p.shape === "plateau" ? 8200 : 640);
	const peakAt = Math.round((E - 1) * 0.93);
	const whole = (v) => (sampled ? v : Math.round(v));
	const rows = perStack.map((p) => {
		const live = t.map((_, e) => {
			const x = e / (E - 1);
			let v = p.bytes * SHAPES[p.shape](x, p.phase);
			if (p.shape === "churn" && e === E - 1)
				v *= 0.05;
			return Math.max(0, whole(v));
		});
		const turn = { churn: 60, waves: 8, plateau: 2.2, leak: 1, growth: 1.4, once: 1 }[p.shape];
		const alloc = t.map((_, e) => whole(Math.max(live[e], p.bytes * turn * (e / (E - 1)))));
		for (let e = 1; e < E; e++)
			alloc[e] = Math.max(alloc[e], alloc[e - 1]);
		return { ...p, live, alloc, size: size(p) };
	});
	rows.forEach((r) => {
		const last = E - 1, n = (b) => whole(b / r.size);
		stackTable.site.push(r.site);
		stackTable.node.push(r.node);
		const temp = r.shape === "churn" ? whole(r.alloc[last] * 0.7) : 0;
		const c = { allocated: r.alloc[last], live: r.live[last], freed: r.alloc[last] - r.live[last], peak: r.live[peakAt], temporary: temp };
		for (const [m, v] of Object.entries(c)) {
			metrics[m + "_bytes"].push(v);
			metrics[m + "_count"].push(n(v));
			if (sampled) {
				metrics[m + "_bytes_error"].push(Math.sqrt(524288 * v));
				metrics[m + "_count_error"].push(Math.sqrt(524288 * v) / r.size);
			}
		}
	});
	const siteMetrics = {};
	for (const [name, column] of Object.entries(metrics)) {
		const out = new Array(kinds.length).fill(0);
		column.forEach((v, s) => { out[stackTable.site[s]] += name.endsWith("_error") ? v * v : v; });
		siteMetrics[name] = name.endsWith("_error") ? out.map(Math.sqrt) : out;
	}
	const changes = (values) => {
		const out = [];
		let last = 0;
		values.forEach((v, e) => { if (v !== last) { out.push(e, v - last); last = v; } });
		return out;
	};
	const order = rows.map((_, i) => i).filter((i) => kinds[rows[i].site] && sites.kind[rows[i].site] === 0)
		.sort((a, b) => rows[b].bytes - rows[a].bytes);
	const K = Math.min(300, order.length), rest = order.slice(K);
	const restRow = (pick) => {
		const sums = t.map(() => 0);
		for (const i of rest)
			pick(rows[i]).forEach((v, e) => { sums[e] += v; });
		return changes(sums);
	};
	const table = (pick, restPick) => [...order.slice(0, K).map((i) => changes(pick(rows[i]))), restRow(restPick || pick)];
	const counts = (r, v) => v.map((b) => whole(b / r.size));
	const moments = { t, stack: order.slice(0, K),
		live_bytes: table((r) => r.live), live_count: table((r) => counts(r, r.live)),
		allocated_bytes: table((r) => r.alloc), allocated_count: table((r) => counts(r, r.alloc)) };

	const heapAt = t.map((_, e) => order.reduce((a, i) => a + rows[i].live[e], 0));
	const allocAt = t.map((_, e) => order.reduce((a, i) => a + rows[i].alloc[e], 0));
	const mappedBytes = rows.filter((r) => sites.kind[r.site] === 1).reduce((a, r) => a + r.bytes, 0);
	const at = (column, x) => {
		const e = Math.min(E - 2, Math.floor(x * (E - 1))), f = x * (E - 1) - e;
		return column[e] * (1 - f) + column[e + 1] * f;
	};
	const timeline = { t: [], live_bytes: [], live_count: [], allocated_bytes: [], allocated_count: [], mapped_bytes: [] };
	let before = 0;
	for (let i = 0; i < points; i++) {
		const x = i / (points - 1), us = Math.round(duration * x);
		timeline.t.push(us - before);
		before = us;
		const wobble = 1 + 0.012 * (rnd() - 0.5);
		timeline.live_bytes.push(Math.round(at(heapAt, x) * (i === points - 1 ? 1 : wobble)));
		timeline.live_count.push(Math.round(at(heapAt, x) / 700));
		timeline.allocated_bytes.push(Math.round(at(allocAt, x)));
		timeline.allocated_count.push(Math.round(at(allocAt, x) / 300));
		timeline.mapped_bytes.push(x > 0.02 ? Math.round(mappedBytes) : 0);
	}
	const readings = { t: [], resident: [], shared: [], virtual: [], mapped: [] };
	for (let i = 0; i <= 400; i++) {
		const x = i / 400, heap = at(heapAt, x);
		readings.t.push(Math.round(duration * x));
		readings.resident.push(Math.round((heap * 1.13 + mappedBytes * 0.8 + 41e6 + 2e6 * rnd()) / 4096) * 4096);
		readings.shared.push(12 << 20);
		readings.virtual.push(2e9);
		readings.mapped.push(Math.round(mappedBytes));
	}
	const total = (name, kind) => {
		const one = (suffix) => siteMetrics[name + suffix]?.reduce((a, v, i) => a + (sites.kind[i] === kind ? (suffix.endsWith("error") ? v * v : v) : 0), 0) ?? 0;
		return { count: Math.round(one("_count")), bytes: Math.round(one("_bytes")),
			count_error: Math.sqrt(one("_count_error")), bytes_error: Math.sqrt(one("_bytes_error")) };
	};
	const totals = (kind) => Object.fromEntries(["allocated", "freed", "live", "peak", "temporary"].map((m) => [m, total(m, kind)]));
	const rss = (x) => readings.resident[Math.round(x * 400)];
	const when = [0.05, 0.25, 0.5, 0.75, 1];
	const category = (key, label, kind, f) => ({ key, label, kind, bytes: when.map((x) => Math.round(f(x))) });
	const fixed = [category("heap", "live heap, by call site", "explained", (x) => at(heapAt, x)),
		category("mapped", "mapped by the program", "explained", () => mappedBytes * 0.8),
		category("slack", "heap held by the allocator, not in use", "known", (x) => at(heapAt, x) * 0.09),
		category("code", "code and data of files", "known", () => 21e6),
		category("stacks", "thread stacks", "known", () => 3.4e6)];
	fixed.push({ key: "other", label: "nobody explains this", kind: "unknown",
		bytes: when.map((x, i) => Math.max(0, rss(x) - fixed.reduce((a, c) => a + c.bytes[i], 0))) });

	const marks = [["thread", 0.001, "worker-0", ""], ["thread", 0.0012, "worker-1", ""], ["thread", 0.0015, "worker-2", ""],
		["module", 0.012, LUA, ""], ["event", 0.03, "config loaded", "14 routes"], ["snapshot", 0.16, "warmup", ""], ["event", 0.41, "deploy", "canary 10%"],
		["fork", 0.52, "pid 4190", ""], ["snapshot", 0.6, "steady", ""], ["reset", 0.605, "", ""], ["event", 0.78, "cache flush refused", "lock held"], ["snapshot", 0.97, "before-exit", ""]];
	const sizes = { from: [], to: [], allocated_count: [], allocated_bytes: [], live_count: [], live_bytes: [] };
	for (let k = 0; k < 24; k++) {
		const from = k ? 1 << k : 0, to = (2 << k) - 1;
		const n = Math.round(2.1e6 * Math.exp(-((k - 6) ** 2) / 9) + 9e4 * Math.exp(-((k - 13) ** 2) / 5));
		sizes.from.push(from); sizes.to.push(to);
		sizes.allocated_count.push(n); sizes.allocated_bytes.push(Math.round(n * from * 1.4));
		sizes.live_count.push(Math.round(n * 0.06)); sizes.live_bytes.push(Math.round(n * 0.06 * from * 1.4));
	}
	const lifetimes = { from: [], to: [], count: [], bytes: [], live_count: [], live_bytes: [] };
	for (let k = 0; k < 9; k++) {
		const n = [3e5, 2.6e6, 3.9e6, 1.8e6, 6e5, 1.6e5, 5e4, 2.6e4, 0][k];
		lifetimes.from.push(k ? 10 ** (k - 1) : 0); lifetimes.to.push(10 ** k);
		lifetimes.count.push(n); lifetimes.bytes.push(n * (180 + 300 * k));
		lifetimes.live_count.push([0, 10, 90, 800, 4e3, 2e4, 9e4, 3.1e5, 1.9e5][k]);
		lifetimes.live_bytes.push([0, 10, 90, 800, 4e3, 2e4, 9e4, 3.1e5, 1.9e5][k] * 900);
	}
	const threads = { tid: [4127, 4128, 4129, 4130, 4131], name: ["edge-cache", "worker-0", "worker-1", "worker-2", "flusher"],
		first: [0, 9e4, 1e5, 1.2e5, 2e6], last: [duration, duration, duration, 6.1e7, duration], allocated_count: [410233, 4120399, 3922145, 2210004, 9120],
		allocated_bytes: [9.1e7, 1.9e9, 1.8e9, 9.9e8, 2e6], freed_count: [390112, 4010020, 3921000, 2300000, 9120], live_bytes: [5.2e7, 3.1e8, 2.9e8, 7e7, 1e5] };
	return {
		trace: { path: "memprof.edge-cache.4127.trace", pid: 4127, exe: "/opt/edge/bin/edge-cache", command: ["edge-cache", "--listen", ":8443", "--config", "/etc/edge/prod.toml"],
			start_unix_ns: 1.7963e18, duration_ns: duration * 1000, rate_bytes: sampled ? 524288 : 1, exact: !sampled, complete: true,
			events: 21345678, dropped: {}, modules: 23, unresolved_frames: 12, warnings: hostile ? ["<b>cut</b> short"] : [] },
		totals: totals(0), mapped: totals(1), peak_us: t[peakAt], verdict: "growth",
		sentences: ["The heap grew from 168 MB after warm-up to 689 MB and was still growing by 0.9 MB/s at the end.",
			"Session::attach_trailer keeps everything it allocates: 61 MB that nobody freed, 12% of the growth; the cache above it has reached its plateau."],
		strings: strings.list, frames, nodes, sites: { ...sites, ...siteMetrics }, stacks: { ...stackTable, ...metrics }, timeline, readings, moments,
		marks: { t: marks.map((m) => Math.round(m[1] * duration)), kind: marks.map((m) => m[0]), name: marks.map((m) => m[2]), detail: marks.map((m) => m[3]), value: marks.map(() => 0) },
		threads, sizes, lifetimes,
		modules: { path: [APP, SSL, CRYPTO, JSONLIB, CXX, LIBC, LUA], build_id: ["9f2c1e", "aa01", "bb02", "", "cc03", "dd04", "ee05"], start: [0, 0, 0, 0, 0, 0, 1e6], end: [-1, -1, -1, -1, -1, -1, -1],
			names: ["debug information", "symbols", "symbols", "debug information", "symbols", "symbols", "debug information"], words: ["", "install libssl3-dbgsym for lines", "", "", "", "", ""] },
		memory: { t: when.map((x) => Math.round(x * duration)), categories: fixed },
		smaps: { t: duration, columns: ["Rss", "Pss", "Private_Dirty", "Swap", "Size"],
			rows: [["[heap]", 712e6, 712e6, 712e6, 0, 731e6], ["(anonymous)", 41e6, 41e6, 41e6, 0, 96e6], [APP, 9e6, 9e6, 1e6, 0, 14e6], [CRYPTO, 3.3e6, 1.1e6, 2e5, 0, 4.4e6], [LIBC, 1.7e6, 2e5, 3e4, 0, 1.9e6], ["[stack]", 1.4e5, 1.4e5, 1.4e5, 0, 1.4e5]] },
		processes: [{ pid: 4127, ppid: 1, exe: APP, first: 0, last: duration, live_bytes: 689e6, peak_bytes: 702e6, allocated_bytes: 4.8e9, allocated_count: 10671901 },
			{ pid: 4190, ppid: 4127, exe: "/opt/edge/bin/edge-log", first: 43e6, last: 80e6, live_bytes: 2.1e6, peak_bytes: 8e6, allocated_bytes: 4e7, allocated_count: 120331 }],
		sources: [{ file: strings.id("src/session/session.cc"), first: 84, lines: ["void Session::attach_trailer(std::string_view text)", "{", "\tif (text.empty())", "\t\treturn;", "\ttrailers_.push_back(new Trailer{text});", "\tstats_.trailers++;", "}"] }],
	};
}

/* With the columns that PAYLOAD.md marks (d) as differences. */
function packed(trace) {
	const steps = (column) => column.map((v, i) => v - (i ? column[i - 1] : 0));
	const { t, ...curves } = trace.timeline;
	return { ...trace, nodes: { up: trace.nodes.parent.map((p, i) => i - p), frame: trace.nodes.frame },
		stacks: { ...trace.stacks, node: steps(trace.stacks.node) },
		timeline: { t, ...Object.fromEntries(Object.entries(curves).map(([name, column]) => [name, steps(column)])) } };
}

export function mockPayload(options = {}) {
	const traces = options.compare
		? [mockTrace({ ...options, seed: 7, scale: 0.72 }), mockTrace({ ...options, seed: 7 })]
		: [mockTrace(options)];
	return { schema: "memprof.page/2", tool: "memprof (mock)", traces: traces.map(packed) };
}

/* The page as memprof-report writes it. */
export function writePage(template, payload) {
	const packed = gzipSync(JSON.stringify(payload), { level: 9 }).toString("base64");
	const text = readFileSync(template, "utf8");
	const [head, tail] = text.split("@MEMPROF_PAYLOAD@");
	return head + packed + tail;
}
