/* The buttons for the other trees, the table and the address; at the end, the start of the page. */

const shape = { lines: true, reversed: false, threads: true };
function setShape() {
	const isRecorded = shape.lines && !shape.reversed && shape.threads;
	build(isRecorded ? recorded : reshape(shape));
	labels = [];
	[colours, fadedColours] = [[], []];
	[zoomed, current] = [0, -1];
	search();
	zoom(0, true);
}
for (const part of Object.keys(shape)) {
	by(part).setAttribute("aria-pressed", shape[part]);
	by(part).addEventListener("click", () => {
		shape[part] = !shape[part];
		by(part).setAttribute("aria-pressed", shape[part]);
		setShape();
	});
}
by("lines").hidden = !hasLines;
by("threads").hidden = !hasThreads;

const TABLE_ROWS = 50;
function showTable() {
	const all = totals[value][0], unit = data.units[value], rows = by("methods");
	rows.replaceChildren(...hottest(value).slice(0, TABLE_ROWS).map(({ name, self, total }) => {
		const row = document.createElement("tr");
		for (const text of [figure(self, unit), percent(self, all), figure(total, unit),
			percent(total, all), name]) {
			const cell = document.createElement("td");
			cell.textContent = text;
			row.append(cell);
		}
		row.tabIndex = 0;
		row.title = "Search for it";
		const find = () => {
			by("search").value = name;
			search();
		};
		row.addEventListener("click", find);
		row.addEventListener("keydown", event => {
			if (event.key === "Enter")
				find();
		});
		return row;
	}));
}
by("table").addEventListener("click", () => {
	by("hottest").hidden = !by("hottest").hidden;
	by("table").setAttribute("aria-pressed", !by("hottest").hidden);
	showTable();
});

/* The address has the search: "#q=TEXT". */
function searchOfAddress() {
	const text = /^#q=(.*)$/s.exec(location.hash);
	try {
		by("search").value = text ? decodeURIComponent(text[1]) : "";
	} catch { /* the address is malformed: this page has not written it */
		by("search").value = text[1];
	}
	search();
}
addEventListener("hashchange", searchOfAddress);

by("units").hidden = data.units.length < 2;
by("title").textContent = document.title = data.title;
by("subtitle").textContent = data.subtitle;
by("empty").hidden = totals.some(total => total[0] > 0);
canvas.hidden = !by("empty").hidden;
follow();
setValue(Math.max(0, totals.findIndex(total => total[0] > 0)));
if (location.hash)
	searchOfAddress();
new ResizeObserver(redraw).observe(view);
