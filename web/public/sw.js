// Keeps the files of the app, so that it opens without a network and says so, and shows notices. What
// the gateway answers is never kept: a log is only ever shown as it is.
//
// Invariant: what an open page may still ask for is there. Files of a build are kept together, before
// it is used, and go when no page of that build is open: this worker waits for that.

// The build says which they are, and names them.
const BUILD = { name: "none", files: [] };
const KEPT = `millpond-${BUILD.name}`;

const PAGES = new Map([["", "/"], ["s", "/"], ["share", "/"], ["theatre", "/theatre.html"]]);

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(BUILD.files)));
});

self.addEventListener("activate", (event) => {
  const forget = async () => {
    const others = (await caches.keys()).filter((name) => name !== KEPT);
    await Promise.all(others.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(forget());
});

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  const page = PAGES.get(pathname.split("/")[1]);
  if (mode === "navigate" && page) event.respondWith(fresh(event.request, page));
  else if (pathname.startsWith("/assets/")) event.respondWith(kept(event.request));
});

/** However it is asked for, a file is the same. */
const find = (name) => caches.match(name, { ignoreVary: true });

/** What the network has, else what was kept. */
async function fresh(request, page) {
  try {
    const response = await fetch(request);
    if (response.status < 500) return response;
    return (await find(page)) ?? response;
  } catch (error) {
    const found = await find(page);
    if (found) return found;
    throw error;
  }
}

/** These never change under their names. */
async function kept(request) {
  const found = await find(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await (await caches.open(KEPT)).put(request, response.clone());
  return response;
}

self.addEventListener("message", (event) => {
  if (event.data?.notice) event.waitUntil(show(event.data.notice));
});

/** Windows of the chat, also those that were open before this worker: the others show one session, and listen to nobody. */
async function chats() {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return windows.filter(({ url }) => /^\/(s\/|$)/.test(new URL(url).pathname));
}

/** Whoever looks at one of our windows sees it there. */
async function show({ title, body, session }) {
  if ((await chats()).some(({ visibilityState }) => visibilityState === "visible")) return;
  await self.registration.showNotification(title, { body, tag: session, data: session, icon: "/icon-192.png" });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function open(session) {
  const [window] = await chats();
  if (!window) return self.clients.openWindow(`/s/${session}`);
  // First: a browser may not let it come to the front.
  window.postMessage({ open: session });
  await window.focus();
}
