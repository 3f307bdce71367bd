"use strict";
/*
 * The tree that the page contains, and the trees that are computed from it: without line numbers,
 * without threads, or reversed, from callees to callers.
 *
 * Nodes are numbered in preorder: the descendants of node i are i + 1 to last[i].  rows[level] has
 * a level's nodes from left to right; the order is the same for all values.
 */
const by = id => document.getElementById(id);
const recorded = JSON.parse(by("data").textContent);
const NODES_MAX = 1e6; /* limit for the nodes of a computed tree */

/* The tree that is shown. */
let data, count, parent, last, rows, totals, starts, frames;
const nameOf = i => frames[i] < 0 ? -1 - frames[i] : frames[i];
const isClass = i => frames[i] < 0;
/* Distinguishes a class from a method of the same name. */
const keyOf = i => isClass(i) ? data.names.length + nameOf(i) : nameOf(i);

function build(tree) {
	const path = [];
	data = tree;
	count = data.levels.length;
	[parent, last] = [new Int32Array(count), new Int32Array(count)];
	rows = [];
	totals = data.values.map(own => Float64Array.from(own));
	starts = data.values.map(() => new Float64Array(count));
	frames = Int32Array.from(data.frames);
	for (let i = 0; i < count; i++) {
		const level = data.levels[i];
		parent[i] = level ? path[level - 1] : -1;
		path[level] = last[i] = i;
		(rows[level] ||= []).push(i);
	}
	for (let i = count - 1; i > 0; i--) {
		last[parent[i]] = Math.max(last[parent[i]], last[i]);
		for (const total of totals)
			total[parent[i]] += total[i];
	}
	for (let v = 0; v < totals.length; v++) {
		const next = new Float64Array(count);
		for (let i = 1; i < count; i++) {
			next[i] = starts[v][i] = next[parent[i]];
			next[parent[i]] += totals[v][i];
		}
	}
}

/*
 * Returns "a.b.C.m" for "a.b.C.m(C.java:12)" and for "a.b.C.m:12", and other texts such as "(64
 * frames or more)" unchanged.
 */
const withoutLine = text => text.replace(/(.)(?:\([^()]*\)|:\d+)$/, "$1");

const isThread = text => text.startsWith("[") && text.endsWith("]");
/* True if each stack begins with a thread. */
const hasThreads = recorded.levels.length > 1 && recorded.levels.every((level, i) =>
	level !== 1 || recorded.frames[i] >= 0 && isThread(recorded.names[recorded.frames[i]]));
const hasLines = recorded.names.some(name => withoutLine(name) !== name);

/* A tree to which stacks are added. */
class Tree {
	constructor() {
		this.children = new Map();
		this.lists = [[]];
		this.frames = [0];
		this.values = recorded.values.map(() => [0]);
	}

	child(node, frame) {
		const key = node * 4 * recorded.names.length + frame + 2 * recorded.names.length;
		const old = this.children.get(key), made = this.frames.length;
		if (old !== undefined || made >= NODES_MAX)
			return old ?? node;
		this.children.set(key, made);
		this.frames.push(frame);
		this.values.forEach(own => own.push(0));
		this.lists[node].push(made);
		this.lists.push([]);
		return made;
	}

	add(node, i) {
		this.values.forEach((own, v) => own[node] += recorded.values[v][i]);
	}

	/* Numbers the nodes in preorder, siblings by name. */
	finish(names) {
		const nameAt = node => names[this.frames[node] < 0 ? -1 - this.frames[node]
			: this.frames[node]];
		const order = (a, b) => nameAt(a) < nameAt(b) ? -1 : nameAt(a) > nameAt(b) ? 1 : a - b;
		const levels = [], nodes = [], left = [[0, 0]];
		while (left.length) {
			const [node, level] = left.pop();
			nodes.push(node);
			levels.push(level);
			for (const next of this.lists[node].sort(order).reverse())
				left.push([next, level + 1]);
		}
		return { ...recorded, names, levels, frames: nodes.map(node => this.frames[node]),
			values: this.values.map(own => nodes.map(node => own[node])) };
	}
}

/*
 * Returns the names without lines, and a function that maps a recorded frame to one without a line.
 */
function methods() {
	const numbers = new Map(), names = [];
	const number = name => {
		if (!numbers.has(name))
			numbers.set(name, names.push(name) - 1);
		return numbers.get(name);
	};
	const plain = recorded.names.map(name => number(name));
	const short = recorded.names.map(name => number(withoutLine(name)));
	return [names, frame => frame < 0 ? -1 - plain[-1 - frame] : short[frame]];
}

/*
 * Returns the recorded tree with or without lines and threads; if `reversed`, from callees to
 * callers.
 */
function reshape({ lines, reversed, threads }) {
	const [names, strip] = lines ? [recorded.names, frame => frame] : methods();
	const tree = new Tree(), path = [], nodes = [0];
	for (let i = 0; i < recorded.levels.length; i++) {
		const level = recorded.levels[i];
		path[level] = recorded.frames[i];
		const skipped = !threads && level === 1 || level === 0;
		if (!reversed) {
			const above = level ? nodes[level - 1] : 0;
			nodes[level] = skipped ? above : tree.child(above, strip(path[level]));
			tree.add(nodes[level], i);
		} else if (recorded.values.some(own => own[i] > 0)) {
			let node = 0;
			for (let k = level; k > (threads ? 0 : 1); k--)
				node = tree.child(node, strip(path[k]));
			tree.add(node, i);
		}
	}
	return tree.finish(names);
}

/* Returns [{ name, self, total }] of all methods, for one value; the greatest self first. */
function hottest(v) {
	const found = new Map(), path = [], depth = new Map();
	const all = Float64Array.from(recorded.values[v]), levels = recorded.levels, up = [];
	for (let i = 0; i < levels.length; i++)
		[up[i], path[levels[i]]] = [levels[i] ? path[levels[i] - 1] : -1, i];
	for (let i = levels.length - 1; i > 0; i--)
		all[up[i]] += all[i];
	const rowAt = i => {
		const name = i > 0 && recorded.frames[i] >= 0 ? recorded.names[recorded.frames[i]] : "";
		if (!name || /^[([]/.test(name))
			return null;
		const method = withoutLine(name);
		if (!found.has(method))
			found.set(method, { name: method, self: 0, total: 0 });
		return found.get(method);
	};
	const above = [];
	for (let i = 0; i < levels.length; i++) {
		const level = levels[i], row = rowAt(i);
		for (let k = level; k < above.length; k++)
			depth.set(above[k], depth.get(above[k]) - 1);
		above.length = level;
		above[level] = row;
		depth.set(row, (depth.get(row) || 0) + 1);
		if (row && depth.get(row) === 1)
			row.total += all[i];
		const owner = above.findLast(method => method);
		if (owner)
			owner.self += recorded.values[v][i];
	}
	return [...found.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}
build(recorded);

