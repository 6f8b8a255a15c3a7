/*
 * A page that is looked at again while a study goes on: what the service wrote between then and now takes the place of
 * what was there. Without this script the page is complete, and reloading it does the same. It is served as it stands
 * here, so that it needs nothing to be built.
 */

const PAUSE = 3000; // milliseconds between two looks

async function look() {
  const live = document.getElementById("live");
  if (live === null) return;
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(location.pathname, { credentials: "omit", cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = answer.ok ? page.getElementById("live") : null;
      if (now !== null && now.innerHTML !== live.innerHTML && !live.contains(document.activeElement)) {
        live.replaceChildren(...now.childNodes);
      }
    } catch {
      // The service is away for a moment: look again later.
    }
  }
  setTimeout(() => void look(), PAUSE);
}

setTimeout(() => void look(), PAUSE);
