// The one script of the console. Every page can be read without it.
(() => {
	"use strict";

	// Times are shown in the zone of the one who looks, and in UTC when the pointer rests on them.
	const two = (n) => String(n).padStart(2, "0");
	for (const time of document.querySelectorAll("time[datetime]")) {
		const at = new Date(time.dateTime);
		if (Number.isNaN(at.getTime())) continue;
		time.title = time.textContent;
		time.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
	}

	const keys = document.getElementById("keys");
	const rows = () => [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector("a"));

	// step goes to the first link of the next row, or of the one before.
	const step = (by) => {
		const all = rows();
		const here = all.findIndex((row) => row.contains(document.activeElement));
		const row = all[Math.min(Math.max(here + by, 0), all.length - 1)];
		if (!row) return;
		row.querySelector("a").focus();
		row.scrollIntoView({ block: "nearest" });
	};

	// search opens the filters and goes to the first of them.
	const search = () => {
		const form = document.querySelector("form[role=search]");
		if (!form) return;
		form.closest("details").open = true;
		form.querySelector("select, input").focus();
	};

	const follow = (rel) => document.querySelector(`main a[rel=${rel}]`)?.click();
	const does = {
		"/": search, j: () => step(1), k: () => step(-1), n: () => follow("next"), p: () => follow("prev"),
		"?": () => (keys.open ? keys.close() : keys.showModal()),
	};
	document.addEventListener("keydown", (event) => {
		const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
		const act = does[event.key];
		if (!act || typing || event.ctrlKey || event.metaKey || event.altKey || (keys.open && event.key !== "?")) return;
		event.preventDefault();
		act();
	});

	const hint = document.createElement("span");
	hint.textContent = " · Press ? for the keys";
	document.querySelector("footer").append(hint);
})();
