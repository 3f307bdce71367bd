const ROW = 20, PAD = 4, LEAST_TEXT = 26, ZOOM_MS = 180;

/* Indexes of the displayed value, of the node that fills the width, and of the node in the footer
   (-1: none). */
let value = 0, zoomed = 0, current = -1;
let left = 0, right = 0;          /* edges of the view, in the unit of the value */
let flipped = false, dark = false;
let matches = null;               /* for each name whether it matches; null: no search */
let width = 0, height = 0, ratio = 1, contentHeight = 0;
const view = by("view"), canvas = by("graph"), ctx = canvas.getContext("2d", { alpha: false });

/* Texts */

function figure(x, unit) {
	const scale = (x, step, names) => {
		let i = 0;
		for (; x >= step - .5 && i + 1 < names.length; i++)
			x /= step;
		return (i && x < 999.5 ? x.toPrecision(3) : Math.round(x)) + " " + names[i];
	};
	if (unit === "bytes")
		return scale(x, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
	if (unit === "ns")
		return scale(x, 1000, ["ns", "µs", "ms", "s"]);
	return x.toLocaleString("en") + " " + (x === 1 ? unit.replace(/s$/, "") : unit);
}

function percent(part, all) {
	const p = all ? 100 * part / all : 0;
	if (p > 0 && p < .001)
		return "< 0.001 %";
	return (p >= 10 || p === 0 ? p.toFixed(1) : p.toPrecision(2)) + " %";
}

/* Returns a difference of two shares as "+1.2 %". */
function signed(share) {
	return (share < 0 ? "-" : "+") + percent(Math.abs(share), 1);
}

function textOf(i) {
	return i ? data.names[nameOf(i)] || "(no name)" : "all";
}

/* Shortens "a.b.C.m(File.java:12)" to "C.m:12", or if there is no room for that, to "C.m". */
let labels = [];
function labelOf(i) {
	if (i === 0)
		return measured("all", ": " + figure(totals[value][0], data.units[value]));
	return labels[keyOf(i)] ||= shorten(i);
}

function shorten(i) {
	const text = textOf(i);
	const open = text.indexOf("(", 1), head = open < 0 || isClass(i) ? text : text.slice(0, open);
	const inside = head === text ? "" : text.slice(open);
	const method = isClass(i) ? head.length : head.lastIndexOf(".");
	const short = head.slice(head.lastIndexOf(".", method - 1) + 1);
	const line = /:(\d+)\)$/.exec(inside);
	const rest = line ? ":" + line[1] : inside === "(Native Method)" ? " (native)" :
		/^\((Unknown Source|[^,()]*\.(java|kt|scala|groovy|clj))\)$/.test(inside) ? "" : inside;
	return measured(short, rest);
}

function measured(short, rest) {
	return { short, shortWidth: ctx.measureText(short).width,
		long: short + rest, longWidth: ctx.measureText(short + rest).width };
}

/*
 * Colours: one hue a package, blue for classes, pale for methods of the JDK, so that methods of the
 * application stand out.  OKLCH, unlike HSL, gives all hues the same lightness.
 */

const HUES = [22, 36, 50, 64, 80, 98, 116, 136, 156, 176, 328, 346];

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h ^ h >>> 15) >>> 0;
}

function oklch(lightness, chroma, hue) {
	const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
	const l = (lightness + .39634 * a + .2158 * b) ** 3;
	const m = (lightness - .10556 * a - .06385 * b) ** 3;
	const s = (lightness - .08948 * a - 1.29149 * b) ** 3;
	return packed([4.07674 * l - 3.30771 * m + .23097 * s, -1.26844 * l + 2.60976 * m - .34132 * s,
		-.0042 * l - .70342 * m + 1.70761 * s]
		.map(x => Math.round(255 * (x > .00313 ? 1.055 * x ** (1 / 2.4) - .055 : 0))));
}

/* Returns the colour as the four bytes of a pixel. */
function packed([red, green, blue]) {
	const byte = x => Math.min(255, Math.max(0, x));
	return (255 << 24 | byte(blue) << 16 | byte(green) << 8 | byte(red)) >>> 0;
}

/* Blends the colour with the background. */
function faded(colour) {
	const at = shift => .45 * (colour >>> shift & 255) + .55 * (back >>> shift & 255);
	return packed([at(0), at(8), at(16)]);
}

let back = 0, colours = [], fadedColours = [];
function colourOf(i, fade) {
	const key = !i ? -1 : data.diff ? i : keyOf(i), colour = colours[key] ||= mix(i);
	return fade ? fadedColours[key] ||= faded(colour) : colour;
}

/*
 * growth() returns how much the node's share of the total has grown since the earlier profile.
 * Nodes that have grown are red, others blue; from a change of 10 % of the total on, the colour has
 * its full strength.
 */
const shareIn = (i, v) => totals[v][0] ? totals[v][i] / totals[v][0] : 0;
const growth = i => shareIn(i, 0) - shareIn(i, 1);

function mixDifference(i) {
	const strength = Math.min(1, Math.sqrt(Math.abs(growth(i)) / .1));
	return oklch((dark ? .43 : .86) - (dark ? 0 : .2 * strength), .005 + .14 * strength,
		growth(i) > 0 ? 25 : 255);
}

function mix(i) {
	const text = textOf(i).replace(/(.)\(.*$/, "$1");
	/* the root, a name such as (unknown stack), or a thread; these are not frames */
	if (i === 0 || text.startsWith("(") || hasThreads && isThread(text))
		return packed(dark ? [58, 58, 66] : [223, 220, 214]);
	if (data.diff)
		return mixDifference(i);
	const shade = (hash(text) % 7 - 3) / 100, light = (dark ? .43 : .83) + shade;
	const area = text.split(".").slice(0, -2).slice(0, 3).join(".");
	if (isClass(i))
		return oklch(light - (dark ? 0 : .05), dark ? .1 : .11, 232 + hash(text) % 28);
	const hue = HUES[hash(area) % HUES.length];
	if (/^(javax?|jdk|sun|com\.sun)\./.test(text))
		return oklch(light + (dark ? -.04 : .03), .025, hue);
	return oklch(light, dark ? .085 : .1, hue);
}

/*
 * Drawing: each visible row is painted as one line of pixels and then stretched to its height, so
 * the cost does not depend on the number of boxes that share a pixel.
 */

const strips = document.createElement("canvas"), stripsCtx = strips.getContext("2d");
/* image of `strips` and its pixels, one line for each visible row */
let image = null, pixels = null;
let asked = 0;
function redraw() {
	asked ||= requestAnimationFrame(() => {
		asked = 0;
		draw();
	});
}

function yOf(level) {
	return flipped ? contentHeight - (level + 1) * ROW : level * ROW;
}

/* Returns the index in the row of the first node that ends after x. */
function firstAfter(row, x) {
	const start = starts[value], total = totals[value];
	let low = 0, high = row.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (start[row[middle]] + total[row[middle]] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

function fit() {
	const w = view.clientWidth, h = view.clientHeight, r = devicePixelRatio || 1;
	let deepest = 0;
	for (let i = zoomed; i <= last[zoomed]; i++)
		deepest = Math.max(deepest, data.levels[i]);
	contentHeight = Math.max(h, (deepest + 1) * ROW);
	by("content").style.height = contentHeight + "px";
	if (w === width && h === height && r === ratio)
		return;
	[width, height, ratio] = [w, h, r];
	canvas.width = Math.round(w * r);
	canvas.height = Math.round(h * r);
	canvas.style.height = h + "px";
}

function drawText(i, from, to, y, dimmed) {
	const label = labelOf(i), room = to - from - 2 * PAD;
	let text = label.long;
	if (label.longWidth > room)
		text = label.short;
	if (label.longWidth > room && label.shortWidth > room) {
		const n = Math.floor(text.length * room / label.shortWidth) - 1;
		if (n < 3)
			return;
		text = text.slice(0, n) + "…";
	}
	ctx.globalAlpha = dimmed ? .5 : 1;
	ctx.fillText(text, from + PAD, y + ROW / 2 + .5, room);
}

/* Paints the boxes of a row into a line of pixels, and collects the texts. */
function paintRow(row, line, isAbove, y, texts) {
	const start = starts[value], total = totals[value], scale = width / (right - left);
	const lit = packed(dark ? [208, 36, 156] : [255, 122, 209]);
	let filled = 0;
	for (let k = firstAfter(row, left); k < row.length && start[row[k]] < right; k++) {
		const i = row[k], from = Math.max(0, (start[i] - left) * scale);
		const to = Math.min(width, (start[i] + total[i] - left) * scale);
		const a = Math.round(from * ratio), b = Math.round(to * ratio);
		if (b <= filled)
			continue;
		filled = b;
		const matched = matches && matches[nameOf(i)];
		const dimmed = isAbove || matches && !matched;
		line.fill(matched ? lit : colourOf(i, dimmed), a, b - a > 2 ? b - 1 : b);
		if (to - from > LEAST_TEXT)
			texts.push([i, from, to, y, dimmed]);
	}
}

function drawCurrent() {
	const scale = width / (right - left), y = yOf(data.levels[current]) - view.scrollTop;
	const from = Math.max(0, (starts[value][current] - left) * scale);
	const to = Math.min(width, (starts[value][current] + totals[value][current] - left) * scale);
	ctx.strokeStyle = dark ? "#fff" : "#1d1d21";
	ctx.lineWidth = 1.5;
	if (to > from)
		ctx.strokeRect(from + .75, y + .75, Math.max(1, to - from - 2), ROW - 2.5);
}

function drawRows(texts) {
	const w = canvas.width, shown = Math.ceil(height / ROW) + 1;
	if (!image || image.width !== w || image.height !== shown) {
		[strips.width, strips.height] = [w, shown];
		image = new ImageData(w, shown);
		pixels = new Uint32Array(image.data.buffer);
	}
	pixels.fill(back);
	const ys = [];
	for (let level = 0; level < rows.length; level++) {
		const y = yOf(level) - view.scrollTop, line = ys.length * w;
		if (y <= -ROW || y >= height)
			continue;
		paintRow(rows[level], pixels.subarray(line, line + w), level < data.levels[zoomed], y,
			texts);
		ys.push(y);
	}
	stripsCtx.putImageData(image, 0, 0);
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.imageSmoothingEnabled = false;
	ys.forEach((y, line) => {
		const top = Math.round(y * ratio), bottom = Math.round((y + ROW) * ratio) - 1;
		ctx.drawImage(strips, 0, line, w, 1, 0, top, w, bottom - top);
	});
}

function draw() {
	const texts = [];
	fit();
	ctx.globalAlpha = 1;
	ctx.fillStyle = getComputedStyle(document.body).backgroundColor;
	back = packed(ctx.fillStyle.match(/\w\w/g).map(digits => parseInt(digits, 16)));
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.fillRect(0, 0, canvas.width, canvas.height);
	if (!(right > left))
		return;
	drawRows(texts);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
	ctx.textBaseline = "middle";
	ctx.fillStyle = dark ? "#f4f4f6" : "#1d1d21";
	for (const text of texts)
		drawText(...text);
	ctx.globalAlpha = 1;
	if (current >= 0)
		drawCurrent();
}

/* Details of a node */

function showDetails() {
	const i = current < 0 ? zoomed : current, of = totals[value], up = parent[i];
	let text = figure(of[i], data.units[value]);
	if (i > 0)
		text += ` · ${percent(of[i], of[0])} of all`;
	if (up > 0)
		text += ` · ${percent(of[i], of[up])} of its caller`;
	if (last[i] > i && data.values[value][i] > 0)
		text += ` · ${figure(data.values[value][i], data.units[value])} self`;
	data.units.forEach((unit, v) => {
		if (v !== value && !data.diff)
			text += ` · ${figure(totals[v][i], unit)}`;
	});
	if (data.diff)
		text += ` · ${signed(growth(i))}, before ${percent(shareIn(i, 1), 1)}, ` +
			`now ${percent(shareIn(i, 0), 1)}`;
	if (current < 0)
		text += " — click or Enter: zoom, /: search, Esc: back";
	by("name").textContent = textOf(i);
	by("figures").textContent = text;
}

function point(i) {
	if (i === current)
		return;
	current = i;
	showDetails();
	redraw();
}

/* Zoom */

let moving = 0;
function zoom(i, at_once) {
	const from = [left, right], begin = performance.now();
	const to = [starts[value][i], starts[value][i] + totals[value][i]];
	const still = at_once || matchMedia("(prefers-reduced-motion: reduce)").matches;
	const move = now => {
		const part = still ? 1 : Math.min(1, Math.max(0, (now - begin) / ZOOM_MS));
		const done = 1 - (1 - part) ** 3;
		left = from[0] + (to[0] - from[0]) * done;
		right = from[1] + (to[1] - from[1]) * done;
		if (part === 1)
			[left, right] = to;
		draw();
		moving = part < 1 ? requestAnimationFrame(move) : 0;
	};
	zoomed = i;
	by("reset").disabled = i === 0;
	cancelAnimationFrame(moving);
	move(begin);
	if (flipped)
		view.scrollTop = contentHeight;
	showShare();
	showDetails();
}

/* Search */

function matcher(text) {
	const lower = text.toLowerCase();
	let regex = null;
	try {
		regex = new RegExp(text, "i");
	} catch { /* not a regular expression: search for the text only */ }
	return name => name.toLowerCase().includes(lower) || regex !== null && regex.test(name);
}

/* Returns the total of the matches in the subtree of root; ignores matches inside a match. */
function matchedIn(root) {
	let sum = 0;
	for (let i = root; i <= last[root]; i++) {
		if (i === 0 || !matches[nameOf(i)])
			continue;
		sum += totals[value][i];
		i = last[i];
	}
	return sum;
}

function showShare() {
	by("matched").textContent = matches ?
		percent(matchedIn(zoomed), totals[value][zoomed]) : "";
}

function search() {
	const text = by("search").value;
	matches = text ? data.names.map(matcher(text)) : null;
	/* Only the fragment changes: the page is not loaded again. */
	history.replaceState(null, "", text ? "#q=" + encodeURIComponent(text) : "#");
	showShare();
	redraw();
}

function clearSearch() {
	by("search").value = "";
	search();
}

/* Returns the largest match in the zoomed node, or -1. */
function largestMatch() {
	let best = -1;
	for (let i = Math.max(zoomed, 1); matches && i <= last[zoomed]; i++) {
		if (matches[nameOf(i)] && (best < 0 || totals[value][i] > totals[value][best]))
			best = i;
	}
	return best;
}

/* Pointer and keys */

function nodeAt(event) {
	const box = canvas.getBoundingClientRect();
	const y = event.clientY - box.top + view.scrollTop;
	const level = Math.floor((flipped ? contentHeight - y : y) / ROW), row = rows[level];
	if (!row || !(right > left))
		return -1;
	const x = left + (event.clientX - box.left) * (right - left) / width;
	const i = row[firstAfter(row, x)];
	return i !== undefined && starts[value][i] <= x ? i : -1;
}

function widestChild(i) {
	let best = -1;
	for (let child = i + 1; child <= last[i]; child = last[child] + 1) {
		if (best < 0 || totals[value][child] > totals[value][best])
			best = child;
	}
	return best;
}

/* Returns the next node of the row that is wide enough to see, or -1. */
function beside(i, step) {
	const row = rows[data.levels[i]], least = (right - left) / width / 2;
	for (let k = row.indexOf(i) + step; k >= 0 && k < row.length; k += step) {
		const start = starts[value][row[k]], total = totals[value][row[k]];
		if (start + total <= left || start >= right)
			return -1;
		if (total >= least)
			return row[k];
	}
	return -1;
}

function walk(key) {
	if (current < 0)
		return zoomed;
	if (key === "ArrowLeft" || key === "ArrowRight")
		return beside(current, key === "ArrowLeft" ? -1 : 1);
	return (key === "ArrowUp") === flipped ? widestChild(current) : parent[current];
}

function show(i) {
	const y = yOf(data.levels[i]);
	if (y < view.scrollTop)
		view.scrollTop = y;
	else if (y + ROW > view.scrollTop + height)
		view.scrollTop = y + ROW - height;
	point(i);
}

canvas.addEventListener("pointermove", event => point(nodeAt(event)));
canvas.addEventListener("pointerleave", () => point(-1));
canvas.addEventListener("click", event => {
	const i = nodeAt(event);
	if (i >= 0)
		zoom(i);
});
canvas.addEventListener("keydown", event => {
	if (event.key.startsWith("Arrow")) {
		const i = walk(event.key);
		if (i >= 0)
			show(i);
	} else if (event.key === "Enter" || event.key === " ") {
		zoom(Math.max(current, 0));
	} else {
		return;
	}
	event.preventDefault();
});
document.addEventListener("keydown", event => {
	if (event.key === "/" && event.target !== by("search")) {
		event.preventDefault();
		by("search").select();
		by("search").focus();
	} else if (event.key === "Escape") {
		event.preventDefault();
		if (by("search").value)
			clearSearch();
		else
			zoom(0);
		canvas.focus();
	}
});
by("search").addEventListener("input", search);
by("controls").addEventListener("submit", event => {
	const i = largestMatch();
	event.preventDefault();
	canvas.focus();
	if (i >= 0)
		show(i);
});
by("reset").addEventListener("click", () => zoom(0));
by("flip").addEventListener("click", () => {
	flipped = !flipped;
	by("flip").setAttribute("aria-pressed", flipped);
	view.scrollTop = flipped ? contentHeight : 0;
	redraw();
});
view.addEventListener("scroll", redraw);

/* The theme follows the system until the user chooses one. */
function setTheme(isDark) {
	dark = isDark;
	[colours, fadedColours] = [[], []];
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	by("theme").textContent = dark ? "Light" : "Dark";
	redraw();
}
const system = matchMedia("(prefers-color-scheme: dark)");
const follow = () => setTheme(system.matches);
system.addEventListener("change", follow);
by("theme").addEventListener("click", () => {
	system.removeEventListener("change", follow);
	setTheme(!dark);
});

function setValue(v) {
	value = v;
	[...by("units").children].forEach((button, i) => button.setAttribute("aria-pressed", i === v));
	zoom(totals[v][zoomed] > 0 ? zoomed : 0, true);
	showTable();
}
data.units.forEach((unit, v) => {
	const button = document.createElement("button");
	button.type = "button";
	button.textContent = data.diff ? ["now", "before"][v] : unit === "ns" ? "time" : unit;
	button.disabled = !(totals[v][0] > 0);
	button.addEventListener("click", () => setValue(v));
	by("units").append(button);
});
