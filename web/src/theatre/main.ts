import "../style.css";
import "./theatre.css";
import "./theatre.ts";
import { choices } from "../app/kept.ts";

document.documentElement.dataset["theme"] = choices().theme;
document.body.append(document.createElement("mp-theatre"));
