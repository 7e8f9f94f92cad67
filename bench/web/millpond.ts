// Millpond's page: everything the application has, colours and formulas included.

import "../../web/harness/page.css";
import "../../web/src/markdown/markdown.css";
import { MarkdownStream } from "../../web/src/markdown/stream.ts";
import { offer } from "./driver.ts";

const host = document.getElementById("host") as HTMLElement;
const stream = new MarkdownStream(host, {
  strings: { copy: "Copy", copied: "Copied", showImage: (from) => `Show image from ${from}`, diagram: "Diagram" },
  createRemoteImage: () => document.createElement("span"),
});

offer(host, stream);
