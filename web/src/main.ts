import "./style.css";
import "./app/app.ts";
import { choices } from "./app/kept.ts";
import { chosenWords } from "./app/language.ts";
import { whenIdle } from "./markdown/idle.ts";

document.documentElement.dataset["theme"] = choices().theme;
const app = document.createElement("mp-app");
app.words = await chosenWords();
document.body.append(app);
// Once nothing else is to be done: it fetches all that the app may need later.
if ("serviceWorker" in navigator && isSecureContext) whenIdle(() => navigator.serviceWorker.register("/sw.js"));
