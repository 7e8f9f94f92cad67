"use strict";
// Draws the pages of all views. Text from the stream is inserted as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const last = Math.max(data.events.length - 1, 0);

const KIND_LABELS = {
  user: "You", reasoning: "Thinking", tool: "Tool", entry: "Result", action: "Action",
  ask: "Question", request: "Request", checkpoint: "Checkpoint", notice: "Notice",
  error: "Error", withdrawal: "Withdrawn",
};
const STATE_LABELS = {
  live: "running", done: "done", failed: "failed", denied: "denied", incomplete: "incomplete",
  called: "called",
};
const CARDS = new Set(["tool", "entry", "action"]);

function createNode(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Creates an element with text from the stream, in its own writing direction. */
function createTextElement(tag, name, text) {
  const element = createNode(tag, name, text);
  element.dir = "auto";
  return element;
}

const byId = (id) => document.getElementById(id);

// Items

function drawItem(item) {
  const node = createNode("li", `item ${item.kind} ${item.state}`);
  if (item.kind === "steps") {
    node.append(drawSteps(item));
  } else if (CARDS.has(item.kind)) {
    node.append(drawCard(item));
  } else {
    drawText(item, node);
  }
  for (const image of item.images ?? []) node.append(drawImage(image));
  for (const citation of item.citations ?? []) node.append(drawCitation(citation));
  return node;
}

function drawText(item, node) {
  const word = KIND_LABELS[item.kind];
  if (word) node.append(createNode("span", "kind", word));
  // Trailing blank lines belong to the text but are not visible.
  if (item.text) node.append(createTextElement("div", "words", item.text.trimEnd()));
  if (item.result) node.append(createTextElement("div", "words", `Answer: ${item.result}`));
  if (item.state !== "live" && item.state !== "done") {
    node.append(createNode("span", "state", STATE_LABELS[item.state] ?? item.state));
  }
}

/** A line with name and state; arguments, text and result unfold below it. */
function drawCard(item) {
  const parts = [item.arguments, item.text, item.result].filter((part) => part?.trim());
  const card = createNode(parts.length > 0 ? "details" : "div", "card");
  const head = createNode(parts.length > 0 ? "summary" : "div", "line");
  head.append(createNode("span", "kind", KIND_LABELS[item.kind]));
  if (item.name) head.append(" ", createTextElement("span", "name", item.name));
  head.append(" ", createNode("span", "state", STATE_LABELS[item.state] ?? item.state));
  card.append(head, ...parts.map((part) => createTextElement("pre", "part", part)));
  return card;
}

function drawSteps(item) {
  const steps = createNode("details", "folded");
  const list = createNode("ol", "page");
  list.append(...(item.steps ?? []).map(drawItem));
  steps.append(createNode("summary", "line", item.label ?? "Steps"), list);
  return steps;
}

function drawImage(image) {
  const source = Object.hasOwn(data.images, image.ref) ? data.images[image.ref] : undefined;
  if (source === undefined) return createTextElement("div", "note", `Image: ${image.ref}`);
  const element = createNode("img");
  element.alt = `Image from the stream, ${image.mediaType ?? "of unknown type"}`;
  element.src = source;
  return element;
}

function drawCitation(citation) {
  const words = [citation.title, citation.url].filter(Boolean);
  const source = words.join(", ") || citation.quote || "unnamed";
  return createTextElement("div", "note", `Source: ${source}`);
}

// Columns

class Column {
  constructor(view) {
    this.timeline = new Timeline(view.frames);
    this.drawn = new Map();
    this.list = createNode("ol", "page");
    this.border = createNode("li", "border", "settled above, live below");
    this.asks = createNode("div", "asks");
    this.status = createNode("p", "status");
    this.change = createNode("span", "change", "changed");
    this.body = createNode("div", "body");
    this.body.tabIndex = 0;
    this.body.setAttribute("role", "region");
    this.body.setAttribute("aria-label", `What ${view.name} shows`);
    this.body.append(this.list, this.asks);
    this.element = createNode("section", "view");
    const name = createNode("h2", "", view.name);
    name.id = `view-${view.name}`;
    this.element.setAttribute("aria-labelledby", name.id);
    const line = createNode("div", "title");
    line.append(name, this.change);
    const head = createNode("div", "head");
    head.append(line, createNode("p", "purpose", view.purpose));
    this.element.append(head, this.body, this.status);
  }

  show(seq) {
    const page = this.timeline.at(seq);
    const room = this.body.scrollHeight - this.body.clientHeight;
    const isAtEnd = room - this.body.scrollTop < 8;
    this.drawItems(page);
    this.drawAsks(page);
    this.drawStatus(page);
    this.change.hidden = (this.timeline.frames[seq] ?? []).length === 0;
    if (isAtEnd) this.body.scrollTop = this.body.scrollHeight;
  }

  /** Redraws only changed items: an unchanged item is the same object. */
  drawItems(page) {
    for (const [key, { node }] of this.drawn) {
      const item = page.items[key];
      if (item === undefined || item.state === "withdrawn") {
        node.remove();
        this.drawn.delete(key);
      }
    }
    this.border.remove();
    let place = this.list.firstChild;
    page.items.forEach((item, key) => {
      if (item.state === "withdrawn") return;
      const old = this.drawn.get(key);
      let node = old?.node;
      if (old?.item !== item) {
        node = drawItem(item);
        keepDetailsOpen(old?.node, node);
        if (old && old.node === place) place = place.nextSibling;
        old?.node.remove();
        this.drawn.set(key, { item, node });
      }
      if (node === place) place = place.nextSibling;
      else this.list.insertBefore(node, place);
    });
    this.drawBorder(page);
  }

  drawBorder({ items, settled }) {
    const isLive = (_, key) => settled.count <= key && this.drawn.has(key);
    const firstLive = this.drawn.get(items.findIndex(isLive))?.node;
    if (0 < settled.count && firstLive?.previousSibling) firstLive.before(this.border);
  }

  drawAsks(page) {
    const isOnPage = (ask) =>
      page.items.some((item) => item?.kind === "ask" && item.id === ask.id);
    const asks = page.asks.filter((ask) => !isOnPage(ask)).map((ask) => {
      const node = createNode("div", "item ask");
      const options = ask.options.map((option) => option.label).join(" / ");
      node.append(createNode("span", "kind", "Question"));
      node.append(createTextElement("div", "words", ask.text));
      if (options) node.append(createTextElement("div", "note", options));
      return node;
    });
    this.asks.replaceChildren(...asks);
  }

  drawStatus(page) {
    const isEmpty = this.list.childElementCount === 0;
    const overlay = page.status.text === undefined ? page.overlay?.label : "";
    const words = overlay || page.label || (page.ended ? "Done" : "");
    this.status.textContent = words || (isEmpty ? "Nothing yet" : "");
    this.status.classList.toggle("ended", page.ended !== null);
  }
}

/** Keeps opened details open across a redraw. */
function keepDetailsOpen(old, node) {
  const before = old?.querySelectorAll("details") ?? [];
  node.querySelectorAll("details").forEach((details, at) => {
    if (before[at]?.open) details.open = true;
  });
}

// Time

const columns = data.views.map((view) => new Column(view));
const slider = byId("slider");
let now = 0;
let timer = null;

function showEvent(seq) {
  now = Math.min(Math.max(seq, 0), last);
  for (const column of columns) column.show(now);
  const event = data.events[now] ?? { type: "nothing", text: "" };
  slider.value = String(now);
  slider.setAttribute("aria-valuetext", `Event ${now} of ${last}: ${event.type}`);
  byId("place").textContent = `${now} of ${last}${formatElapsed(event)}`;
  byId("type").textContent = event.type;
  byId("gist").textContent = event.text;
  for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", String(now === 0));
  for (const id of ["next", "last"]) byId(id).setAttribute("aria-disabled", String(now === last));
  if (byId("near").open) drawNearbyEvents();
}

function formatElapsed(event) {
  const first = data.events.find((other) => other.at !== null);
  if (!first || event.at === null) return "";
  return `, +${((event.at - first.at) / 1000).toFixed(1)} s`;
}

/** Lists the events around the current one; all of them would be too many. */
function drawNearbyEvents() {
  const from = Math.max(0, Math.min(now - 4, last - 8));
  const rows = data.events.slice(from, from + 9).map((event, at) => {
    const seq = from + at;
    const row = createNode("li");
    const button = createNode("button", "", `${seq} ${event.type}`);
    button.type = "button";
    if (seq === now) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => {
      pause();
      showEvent(seq);
      byId("events").querySelector("[aria-current]")?.focus();
    });
    row.append(button, " ", createNode("span", "gist", event.text));
    return row;
  });
  byId("events").replaceChildren(...rows);
}

/** Plays the events; a long stream in larger steps, so that it takes at most 30 seconds. */
function play() {
  if (now === last) showEvent(0);
  const step = Math.max(1, Math.ceil(last / 300));
  // Too fast for screen readers.
  byId("event").setAttribute("aria-live", "off");
  byId("play").textContent = "Pause";
  timer = setInterval(() => {
    showEvent(now + step);
    if (now === last) pause();
  }, 100);
}

function pause() {
  if (timer === null) return;
  clearInterval(timer);
  timer = null;
  byId("play").textContent = "Play";
  byId("event").setAttribute("aria-live", "polite");
}

function pauseAndShow(place) {
  pause();
  showEvent(place());
}

const TARGETS = {
  first: () => 0, back: () => now - 1, next: () => now + 1, last: () => last,
};
const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };

function handleKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const key = event.key;
  if (key === " " && !event.target.closest("button, summary")) {
    event.preventDefault();
    if (timer === null) play(); else pause();
  } else if (KEYS[key] && event.target !== slider) {
    event.preventDefault();
    pauseAndShow(TARGETS[KEYS[key]]);
  }
}

document.title = `${data.title}: five views of one stream`;
byId("title").textContent = data.title;
byId("views").append(...columns.map((column) => column.element));
slider.max = String(last);
slider.addEventListener("input", () => pauseAndShow(() => Number(slider.value)));
for (const [id, place] of Object.entries(TARGETS)) {
  byId(id).addEventListener("click", () => pauseAndShow(place));
}
byId("play").addEventListener("click", () => {
  if (timer === null) play(); else pause();
});
byId("near").addEventListener("toggle", drawNearbyEvents);
document.addEventListener("keydown", handleKey);
showEvent(data.at);
