// Service worker: caches the files of the app, so that it opens offline, and shows notifications. API
// responses are never cached.
//
// Invariant: files that an open page may still load are cached. The files of a build are cached together
// before it is used, and deleted when no page of that build is open: a new worker waits for that.

// Filled in by the build.
const BUILD = { name: "none", files: [] };
const CACHE_NAME = `millpond-${BUILD.name}`;

/** Cached page by first path segment. */
const PAGES = new Map([["", "/"], ["s", "/"], ["share", "/"], ["theatre", "/theatre.html"]]);

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE_NAME).then((cache) => cache.addAll(BUILD.files)));
});

self.addEventListener("activate", (event) => {
  const deleteOldCaches = async () => {
    const others = (await caches.keys()).filter((name) => name !== CACHE_NAME);
    await Promise.all(others.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(deleteOldCaches());
});

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  const page = PAGES.get(pathname.split("/")[1]);
  if (mode === "navigate" && page) event.respondWith(networkFirst(event.request, page));
  else if (pathname.startsWith("/assets/")) event.respondWith(cacheFirst(event.request));
});

/** Finds a cached file; request headers do not matter. */
const findCached = (name) => caches.match(name, { ignoreVary: true });

/** The network's response, else the cached page. */
async function networkFirst(request, page) {
  try {
    const response = await fetch(request);
    if (response.status < 500) return response;
    return (await findCached(page)) ?? response;
  } catch (error) {
    const cached = await findCached(page);
    if (cached) return cached;
    throw error;
  }
}

/** The cached file, else the network's. Assets have content hashes in their names and never change. */
async function cacheFirst(request) {
  const cached = await findCached(request);
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE_NAME)).put(request, response.clone());
  return response;
}

self.addEventListener("message", (event) => {
  if (event.data?.notice) event.waitUntil(showNotification(event.data.notice));
});

/** Windows of the app, also those opened before this worker; replay and shared pages do not handle messages. */
async function appWindows() {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return windows.filter(({ url }) => /^\/(s\/|$)/.test(new URL(url).pathname));
}

/** Shows a notification unless a window of the app is visible. */
async function showNotification({ title, body, session }) {
  if ((await appWindows()).some(({ visibilityState }) => visibilityState === "visible")) return;
  await self.registration.showNotification(title, { body, tag: session, data: session, icon: "/icon-192.png" });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openSession(event.notification.data));
});

/** Opens the session in an existing window, or in a new one. */
async function openSession(session) {
  const [window] = await appWindows();
  if (!window) return self.clients.openWindow(`/s/${session}`);
  // Before `focus`, which the browser may refuse.
  window.postMessage({ open: session });
  await window.focus();
}
