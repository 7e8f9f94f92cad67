// Entry point of the app (index.html).

import "./style.css";
import "./app/app.ts";
import { readPreferences } from "./app/browser-storage.ts";
import { applyLanguage } from "./app/language.ts";
import { nextTask } from "./app/scheduling.ts";
import { whenIdle } from "./markdown/idle.ts";

const SERVICE_WORKER_DELAY_MS = 3_000;

document.documentElement.dataset["theme"] = readPreferences().theme;
const app = document.createElement("mp-app");
app.strings = await applyLanguage();
await nextTask();
document.body.append(app);
// After the first load: the worker fetches all other files of the app.
if ("serviceWorker" in navigator && isSecureContext) setTimeout(() => whenIdle(() => navigator.serviceWorker.register("/sw.js")), SERVICE_WORKER_DELAY_MS);
