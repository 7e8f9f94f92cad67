// Streamdown's page: as it comes, without its plugins for code, formulas and diagrams.

import "../../web/harness/page.css";
import { createElement, useState } from "react";
import { createRoot } from "react-dom/client";
import { Streamdown } from "streamdown";
import { offer } from "./driver.ts";

const host = document.getElementById("host") as HTMLElement;
let show: (text: string) => void = () => undefined;
let text = "";

function Answer() {
  const [shown, setShown] = useState("");
  show = setShown;
  return createElement(Streamdown, null, shown);
}

createRoot(host).render(createElement(Answer));

offer(host, {
  append(delta) {
    text += delta;
    show(text);
  },
  finish: () => undefined,
});
