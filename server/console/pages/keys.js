"use strict";
// Keys: / search, j and k the next and the last row, Enter opens it. In the list of memories a and
// r decide about the one that has the focus, with its reason first. Elsewhere u, p and n go to the
// buttons Undo, Pin and Unpin, which Enter presses. Everything works without this file.
const rows = () => [...document.querySelectorAll("tbody tr, .found li, .memory")]
	.map((e) => e.matches(".memory") ? e : e.querySelector("a")).filter((e) => e?.checkVisibility());
const decide = (memory, key) => {
	const button = memory.querySelector(`button[data-key="${key}"]`), reason = memory.querySelector("[name=reason]");
	if (!button) return;
	reason.dataset.choice = key; // what Enter in the reason decides
	if (reason.value) button.click(); else reason.focus();
};
document.addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
	if (e.key === "Enter" && e.target.matches(".memory [name=reason]")) {
		e.target.form.querySelector(`button[data-key="${e.target.dataset.choice}"]`)?.click();
		return;
	}
	if (e.target.matches("input, textarea, select")) return;
	const list = rows(), has = document.activeElement, memory = has.closest(".memory");
	const at = list.findIndex((e) => e === has || e.closest("tr, li")?.contains(has));
	if (e.key === "/") {
		document.getElementById("q")?.focus();
	} else if (e.key === "j" || e.key === "k") {
		list[Math.max(0, Math.min(list.length - 1, at + (e.key === "j" ? 1 : -1)))]?.focus();
	} else if (memory && (e.key === "a" || e.key === "r")) {
		decide(memory, e.key);
	} else if (!memory && "upn".includes(e.key)) {
		document.querySelector(`[data-key="${e.key}"]`)?.focus();
	} else return;
	e.preventDefault();
});
// A browser lets a page copy over TLS and on this machine only.
for (const b of document.querySelectorAll("[data-copy]")) {
	if (!navigator.clipboard) break;
	b.hidden = false;
	b.addEventListener("click", async () => {
		await navigator.clipboard.writeText(b.dataset.copy);
		b.textContent = "Copied";
	});
}
// A slider says where it stands while it is moved, and submits its form when it is let go.
for (const s of document.querySelectorAll("[data-submit]")) {
	const says = document.querySelector(`[data-of="${s.id}"]`);
	s.addEventListener("input", () => { says.textContent = s.value + " %"; });
	s.addEventListener("change", () => s.form.requestSubmit());
}
// A session that changes says so, and its figures follow. The list stays until it is asked for. A
// page that is not shown does not listen, because a browser has few connections to a host.
const live = document.querySelector("[data-live]");
const changed = async (e) => {
	live.hidden = e.data === live.dataset.state;
	if (live.hidden || live.dataset.shown === e.data) return;
	live.dataset.shown = e.data;
	const page = await fetch(location.href);
	if (!page.ok) return;
	const now = new DOMParser().parseFromString(await page.text(), "text/html");
	for (const part of document.querySelectorAll("[data-now]")) part.replaceWith(now.getElementById(part.id) ?? part);
};
let events;
const listen = () => {
	events?.close();
	if (document.hidden) return;
	events = new EventSource(live.dataset.live);
	events.onmessage = changed;
};
if (live) {
	document.addEventListener("visibilitychange", listen);
	listen();
}
