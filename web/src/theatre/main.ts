import "../style.css";
import "./theatre.css";
import "./theatre.ts";
import { choices } from "../app/kept.ts";
import { chosenWords } from "../app/language.ts";

document.documentElement.dataset["theme"] = choices().theme;
const theatre = document.createElement("mp-theatre");
theatre.words = await chosenWords();
document.body.append(theatre);
