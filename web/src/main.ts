import "./style.css";
import "./app/app.ts";
import { choices } from "./app/kept.ts";

document.documentElement.dataset["theme"] = choices().theme;
document.body.append(document.createElement("mp-app"));
if ("serviceWorker" in navigator && isSecureContext) void navigator.serviceWorker.register("/sw.js");
