// Keeps the shell of the app, so that it opens without a network and says so. What the gateway
// answers is never kept: a log is only ever shown as it is.

const SHELL = "millpond-shell-1";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys().then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)))),
  );
});

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (mode === "navigate" && (pathname === "/" || pathname.startsWith("/s/"))) event.respondWith(fresh(event.request, "/"));
  else if (pathname.startsWith("/assets/")) event.respondWith(kept(event.request));
});

/** What the network has, else what was kept. */
async function fresh(request, name) {
  const cache = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok) await keepShell(cache, name, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(name);
    if (kept) return kept;
    throw error;
  }
}

/** A page that has changed names other files: those of the one before go. */
async function keepShell(cache, name, response) {
  const [before, now] = [await cache.match(name), response.clone()];
  if (before && (await before.text()) !== (await now.text())) {
    for (const request of await cache.keys()) await cache.delete(request);
  }
  await cache.put(name, response);
}

/** These never change under their names. */
async function kept(request) {
  const cache = await caches.open(SHELL);
  const found = await cache.match(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
