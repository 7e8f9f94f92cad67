// Entry point of the replay page (theatre.html, served at /theatre/SESSION).

import "../style.css";
import "./replay.css";
import "./replay.ts";
import { readPreferences } from "../app/browser-storage.ts";
import { applyLanguage } from "../app/language.ts";

document.documentElement.dataset["theme"] = readPreferences().theme;
const replay = document.createElement("mp-replay");
replay.strings = await applyLanguage();
document.body.append(replay);
