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

	// A page that says so is told of changes by a stream, or asks again and again where that does not work. Nothing changes under
	// the hands of somebody at work in it.
	const main = document.querySelector("main[data-live]");
	if (!main) return;
	const note = document.createElement("span");
	note.setAttribute("role", "status");
	footer.append(note);
	const say = (text) => { note.textContent = text && ` · ${text}`; };

	const changed = (field) => {
		if (field.type === "checkbox") return field.checked !== field.defaultChecked;
		if (field.options) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
		return field.value !== field.defaultValue;
	};
	const typed = () => [...main.querySelectorAll("input, select, textarea")].some(changed);
	const mayKeep = "details[id] > summary, .wide"; // what is open, or has the focus, stays so
	const held = () => main !== document.activeElement && main.contains(document.activeElement) && !document.activeElement.matches(mayKeep);
	const busy = () => document.hidden || keys.open || typed() || !getSelection().isCollapsed || held() || main.querySelector("details[open]:not([id])");

	let last = new Date();
	// show puts a new state in place of the one before, unless somebody is at work in that.
	const show = (text) => {
		if (busy()) {
			say(`Not updated since ${local(last)}, while you work in the page`);
			return;
		}
		last = new Date();
		say("");
		const page = new DOMParser().parseFromString(text, "text/html");
		const places = new Map([...main.querySelectorAll(".wide")].map((wide) => [wide.ariaLabel, wide.scrollLeft]));
		const open = [...main.querySelectorAll("details[id][open]")].map((details) => details.id);
		const focused = main.contains(document.activeElement) && document.activeElement.closest("details[id]")?.id;
		const scrolled = document.activeElement.matches(".wide") && document.activeElement.ariaLabel;
		main.replaceChildren(...page.querySelector("main").childNodes);
		for (const wide of main.querySelectorAll(".wide")) wide.scrollLeft = places.get(wide.ariaLabel) ?? 0;
		for (const id of open) document.getElementById(id)?.setAttribute("open", "");
		if (focused) document.getElementById(focused)?.querySelector("summary").focus({ preventScroll: true });
		if (scrolled) [...main.querySelectorAll(".wide")].find((wide) => wide.ariaLabel === scrolled)?.focus({ preventScroll: true });
		document.title = page.title;
		localize();
	};

	// ask reads the page again, and again after a while. It says whether to go on.
	const ask = async () => {
		try {
			const answer = await fetch(location.href, { headers: { Accept: "text/html", "Postbag-Again": "1" } }); // which keeps no session alive
			if (answer.redirected) {
				say("Your session has ended. Load the page again to log in.");
				return false;
			}
			if (!answer.ok) throw new Error(answer.statusText);
			show(await answer.text());
		} catch {
			say(`Not updated since ${local(last)}`);
		}
		return true;
	};
	const poll = async () => {
		if (busy() || await ask()) setTimeout(poll, 1000 * main.dataset.live);
	};

	let stream = null;
	let done = false; // the stream said that it is over, or cannot be had
	const listen = () => {
		if (done || stream || document.hidden) return;
		let lost = false;
		stream = new EventSource(main.dataset.events);
		stream.onopen = () => {
			if (lost) say("Connected again");
			lost = false;
		};
		stream.onerror = () => {
			if (stream.readyState === EventSource.CLOSED) { // it is refused
				done = true;
				poll();
				return;
			}
			lost = true;
			say(`Connection lost. Not updated since ${local(last)}`);
		};
		stream.addEventListener("state", (event) => {
			show(event.data);
		});
		stream.addEventListener("failure", (event) => say(`Not updated since ${local(last)}: ${JSON.parse(event.data).error}`));
		stream.addEventListener("end", (event) => {
			done = true;
			stream.close();
			say(JSON.parse(event.data).error);
		});
	};
	// A page that nobody sees needs no stream. A browser has few connections.
	document.addEventListener("visibilitychange", async () => {
		if (!document.hidden) {
			if (!done && await ask()) listen();
			return;
		}
		stream?.close();
		stream = null;
	});
	if (window.EventSource) listen();
	else poll();
})();
