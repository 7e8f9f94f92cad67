import "./style.css";
import "./app/app.ts";
import { choices } from "./app/kept.ts";
import { chosenWords } from "./app/language.ts";
import { nextTurn } from "./app/turns.ts";
import { whenIdle } from "./markdown/idle.ts";

const WORKER_AFTER_MS = 3_000;

document.documentElement.dataset["theme"] = choices().theme;
const app = document.createElement("mp-app");
app.words = await chosenWords();
await nextTurn();
document.body.append(app);
// Once all is there: it fetches what the app may need later.
if ("serviceWorker" in navigator && isSecureContext) setTimeout(() => whenIdle(() => navigator.serviceWorker.register("/sw.js")), WORKER_AFTER_MS);
