"use strict";
// Draws the pictures. Whatever came from a stream gets onto the page as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const last = Math.max(data.events.length - 1, 0);

const KIND_WORDS = {
  user: "You", reasoning: "Thinking", tool: "Tool", entry: "Result", action: "Action",
  ask: "Question", request: "Request", checkpoint: "Checkpoint", notice: "Notice",
  error: "Error", withdrawal: "Taken back",
};
const STATE_WORDS = {
  live: "running", done: "done", failed: "failed", denied: "denied", incomplete: "not finished",
  called: "called",
};
const CARDS = new Set(["tool", "entry", "action"]);

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Text of a stream, in the direction it is written in. */
function makeText(tag, name, text) {
  const element = make(tag, name, text);
  element.dir = "auto";
  return element;
}

const byId = (id) => document.getElementById(id);

// Items

function drawItem(item) {
  const node = make("li", `item ${item.kind} ${item.state}`);
  if (item.kind === "steps") {
    node.append(drawSteps(item));
  } else if (CARDS.has(item.kind)) {
    node.append(drawCard(item));
  } else {
    drawWords(item, node);
  }
  for (const image of item.images ?? []) node.append(drawImage(image));
  for (const citation of item.citations ?? []) node.append(drawCitation(citation));
  return node;
}

function drawWords(item, node) {
  const word = KIND_WORDS[item.kind];
  if (word) node.append(make("span", "kind", word));
  // Blank lines that end a piece belong to it, but there is nothing to see in them.
  if (item.text) node.append(makeText("div", "words", item.text.trimEnd()));
  if (item.result) node.append(makeText("div", "words", `Answer: ${item.result}`));
  if (item.state !== "live" && item.state !== "done") {
    node.append(make("span", "state", STATE_WORDS[item.state] ?? item.state));
  }
}

/** A line with name and state; what there is to say about it opens below. */
function drawCard(item) {
  const parts = [item.arguments, item.text, item.result].filter((part) => part?.trim());
  const card = make(parts.length > 0 ? "details" : "div", "card");
  const head = make(parts.length > 0 ? "summary" : "div", "line");
  head.append(make("span", "kind", KIND_WORDS[item.kind]));
  if (item.name) head.append(" ", makeText("span", "name", item.name));
  head.append(" ", make("span", "state", STATE_WORDS[item.state] ?? item.state));
  card.append(head, ...parts.map((part) => makeText("pre", "part", part)));
  return card;
}

function drawSteps(item) {
  const steps = make("details", "folded");
  const list = make("ol", "page");
  list.append(...(item.steps ?? []).map(drawItem));
  steps.append(make("summary", "line", item.label ?? "Steps"), list);
  return steps;
}

function drawImage(image) {
  const source = Object.hasOwn(data.images, image.ref) ? data.images[image.ref] : undefined;
  if (source === undefined) return makeText("div", "note", `Image: ${image.ref}`);
  const picture = make("img");
  picture.alt = `Image from the stream, ${image.mediaType ?? "of unknown type"}`;
  picture.src = source;
  return picture;
}

function drawCitation(citation) {
  const words = [citation.title, citation.url].filter(Boolean);
  return makeText("div", "note", `Source: ${words.join(", ") || citation.quote || "unnamed"}`);
}

// Columns

class Column {
  constructor(view) {
    this.timeline = new Timeline(view.frames);
    this.drawn = new Map();
    this.list = make("ol", "page");
    this.border = make("li", "border", "settled above, live below");
    this.asks = make("div", "asks");
    this.status = make("p", "status");
    this.change = make("span", "change", "changed");
    this.body = make("div", "body");
    this.body.tabIndex = 0;
    this.body.setAttribute("role", "region");
    this.body.setAttribute("aria-label", `What ${view.name} shows`);
    this.body.append(this.list, this.asks);
    this.element = make("section", "view");
    const name = make("h2", "", view.name);
    name.id = `view-${view.name}`;
    this.element.setAttribute("aria-labelledby", name.id);
    const line = make("div", "title");
    line.append(name, this.change);
    const head = make("div", "head");
    head.append(line, make("p", "purpose", view.purpose));
    this.element.append(head, this.body, this.status);
  }

  show(seq) {
    const picture = this.timeline.at(seq);
    const room = this.body.scrollHeight - this.body.clientHeight;
    const isAtEnd = room - this.body.scrollTop < 8;
    this.drawItems(picture);
    this.drawAsks(picture);
    this.drawStatus(picture);
    this.change.hidden = (this.timeline.frames[seq] ?? []).length === 0;
    if (isAtEnd) this.body.scrollTop = this.body.scrollHeight;
  }

  /** Only what is not drawn yet is drawn: an item that did not change is the same object. */
  drawItems(picture) {
    for (const [key, { node }] of this.drawn) {
      const item = picture.items[key];
      if (item === undefined || item.state === "withdrawn") {
        node.remove();
        this.drawn.delete(key);
      }
    }
    this.border.remove();
    let place = this.list.firstChild;
    picture.items.forEach((item, key) => {
      if (item.state === "withdrawn") return;
      const old = this.drawn.get(key);
      let node = old?.node;
      if (old?.item !== item) {
        node = drawItem(item);
        keepOpen(old?.node, node);
        if (old && old.node === place) place = place.nextSibling;
        old?.node.remove();
        this.drawn.set(key, { item, node });
      }
      if (node === place) place = place.nextSibling;
      else this.list.insertBefore(node, place);
    });
    this.drawBorder(picture);
  }

  drawBorder({ items, settled }) {
    const isLive = (_, key) => settled.count <= key && this.drawn.has(key);
    const firstLive = this.drawn.get(items.findIndex(isLive))?.node;
    if (0 < settled.count && firstLive?.previousSibling) firstLive.before(this.border);
  }

  drawAsks(picture) {
    const isOnPage = (ask) =>
      picture.items.some((item) => item?.kind === "ask" && item.id === ask.id);
    const asks = picture.asks.filter((ask) => !isOnPage(ask)).map((ask) => {
      const node = make("div", "item ask");
      const options = ask.options.map((option) => option.label).join(" / ");
      node.append(make("span", "kind", "Question"), makeText("div", "words", ask.text));
      if (options) node.append(makeText("div", "note", options));
      return node;
    });
    this.asks.replaceChildren(...asks);
  }

  drawStatus(picture) {
    const isEmpty = this.list.childElementCount === 0;
    const overlay = picture.status.text === undefined ? picture.overlay?.label : "";
    const words = overlay || picture.label || (picture.ended ? "Done" : "");
    this.status.textContent = words || (isEmpty ? "Nothing yet" : "");
    this.status.classList.toggle("ended", picture.ended !== null);
  }
}

/** What a person opened stays open when it is drawn anew. */
function keepOpen(old, node) {
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

function show(seq) {
  now = Math.min(Math.max(seq, 0), last);
  for (const column of columns) column.show(now);
  const event = data.events[now] ?? { type: "nothing", text: "" };
  slider.value = String(now);
  slider.setAttribute("aria-valuetext", `Event ${now} of ${last}: ${event.type}`);
  byId("place").textContent = `${now} of ${last}${timeWords(event)}`;
  byId("type").textContent = event.type;
  byId("gist").textContent = event.text;
  for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", String(now === 0));
  for (const id of ["next", "last"]) byId(id).setAttribute("aria-disabled", String(now === last));
  if (byId("near").open) drawNear();
}

function timeWords(event) {
  const first = data.events.find((other) => other.at !== null);
  if (!first || event.at === null) return "";
  return `, +${((event.at - first.at) / 1000).toFixed(1)} s`;
}

/** A window on the events; all of them would be too many for a page. */
function drawNear() {
  const from = Math.max(0, Math.min(now - 4, last - 8));
  const rows = data.events.slice(from, from + 9).map((event, at) => {
    const seq = from + at;
    const row = make("li");
    const button = make("button", "", `${seq} ${event.type}`);
    button.type = "button";
    if (seq === now) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => {
      pause();
      show(seq);
      byId("events").querySelector("[aria-current]")?.focus();
    });
    row.append(button, " ", make("span", "gist", event.text));
    return row;
  });
  byId("events").replaceChildren(...rows);
}

/** A long stream is played in larger steps, so that it takes half a minute at most. */
function play() {
  if (now === last) show(0);
  const step = Math.max(1, Math.ceil(last / 300));
  // Nobody can listen that fast.
  byId("event").setAttribute("aria-live", "off");
  byId("play").textContent = "Pause";
  timer = setInterval(() => {
    show(now + step);
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

function goTo(place) {
  pause();
  show(place());
}

const PLACES = {
  first: () => 0, back: () => now - 1, next: () => now + 1, last: () => last,
};
const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const key = event.key;
  if (key === " " && !event.target.closest("button, summary")) {
    event.preventDefault();
    if (timer === null) play(); else pause();
  } else if (KEYS[key] && event.target !== slider) {
    event.preventDefault();
    goTo(PLACES[KEYS[key]]);
  }
}

document.title = `${data.title}: five views of one stream`;
byId("title").textContent = data.title;
byId("views").append(...columns.map((column) => column.element));
slider.max = String(last);
slider.addEventListener("input", () => goTo(() => Number(slider.value)));
for (const [id, place] of Object.entries(PLACES)) {
  byId(id).addEventListener("click", () => goTo(place));
}
byId("play").addEventListener("click", () => {
  if (timer === null) play(); else pause();
});
byId("near").addEventListener("toggle", drawNear);
document.addEventListener("keydown", onKey);
show(data.at);
