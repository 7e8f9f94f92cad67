import "./style.css";
import "./app/app.ts";
import { choices } from "./app/kept.ts";
import { chosenWords } from "./app/language.ts";

document.documentElement.dataset["theme"] = choices().theme;
const app = document.createElement("mp-app");
app.words = await chosenWords();
document.body.append(app);
if ("serviceWorker" in navigator && isSecureContext) void navigator.serviceWorker.register("/sw.js");
