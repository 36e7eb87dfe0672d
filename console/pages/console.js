// The one script of the console. Every page can be read without it.
(() => {
	"use strict";

	// Times are shown in the zone of the one who looks, and in UTC when the pointer rests on them.
	const two = (n) => String(n).padStart(2, "0");
	const local = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
	const localize = () => {
		for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
			const at = new Date(time.dateTime);
			if (Number.isNaN(at.getTime())) continue;
			time.title = time.textContent;
			time.textContent = local(at);
		}
	};
	localize();

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

	const footer = document.querySelector("footer");
	footer.append(" · Press ? for the keys");

	// A page that says so is read again once in a while, unless somebody is at work in it.
	const main = document.querySelector("main[data-live]");
	if (!main) return;
	const note = document.createElement("span");
	note.setAttribute("role", "status");
	footer.append(note);
	const typed = () => [...main.querySelectorAll("input, select")].some((field) => field.value !== (field.defaultValue ?? field.value));
	const busy = () => document.hidden || keys.open || typed() || !getSelection().isCollapsed || (main !== document.activeElement && main.contains(document.activeElement)) || main.querySelector("details[open]");
	const refresh = async () => {
		const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
		if (answer.redirected) {
			note.textContent = " · Your session has ended. Load the page again to log in.";
			return false;
		}
		if (!answer.ok) throw new Error(answer.statusText);
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		if (!busy()) {
			const places = new Map([...main.querySelectorAll(".wide")].map((wide) => [wide.ariaLabel, wide.scrollLeft]));
			main.replaceChildren(...page.querySelector("main").childNodes);
			for (const wide of main.querySelectorAll(".wide")) wide.scrollLeft = places.get(wide.ariaLabel) ?? 0;
			document.title = page.title;
			localize();
		}
		note.textContent = "";
		return true;
	};
	let last = new Date();
	const live = async () => {
		let goOn = true;
		if (!busy()) {
			try {
				goOn = await refresh();
				last = new Date();
			} catch {
				note.textContent = ` · Not updated since ${local(last)}`;
			}
		}
		if (goOn) setTimeout(live, 1000 * main.dataset.live);
	};
	setTimeout(live, 1000 * main.dataset.live);
})();
