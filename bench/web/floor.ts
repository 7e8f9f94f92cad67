// The floor: a page that does nothing but add the raw text to one text node.

import "../../web/harness/page.css";
import { offer } from "./driver.ts";

const host = document.getElementById("host") as HTMLElement;
const node = host.appendChild(document.createTextNode(""));

offer(host, {
  append: (delta) => node.appendData(delta),
  finish: () => undefined,
});
