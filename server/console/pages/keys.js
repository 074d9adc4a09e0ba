"use strict";
// Keys: / search, j and k the next and the last row, Enter opens it, a and r decide about the
// memory that has the focus. Everything works without this file.
const rows = () => [...document.querySelectorAll("tbody a, .found a, .memory")];
document.addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, textarea, select")) return;
	const list = rows(), at = list.indexOf(document.activeElement);
	if (e.key === "/") {
		document.getElementById("q")?.focus();
		e.preventDefault();
	} else if (e.key === "j" || e.key === "k") {
		list[Math.max(0, Math.min(list.length - 1, at + (e.key === "j" ? 1 : -1)))]?.focus();
	} else if (e.key === "a" || e.key === "r") {
		const memory = document.activeElement.closest(".memory");
		const button = memory?.querySelector(`[data-key="${e.key}"]`);
		if (!button) return;
		const reason = memory.querySelector("[name=reason]");
		if (reason.value) button.click(); else reason.focus();
		e.preventDefault();
	}
});
for (const b of document.querySelectorAll("[data-copy]")) {
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
// A session that grows says so.
const live = document.querySelector("[data-live]");
if (live) {
	new EventSource(live.dataset.live).onmessage = (e) => { live.hidden = e.data === live.dataset.revision; };
}
