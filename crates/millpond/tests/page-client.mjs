// Checks that the script in each HTML page computes the same pages as Rust, at every event and in
// any order.
// Run by the test `the_pages_own_client_gives_the_fold_at_every_event`; PAGES names a folder with
// NAME.html and NAME.json, which has for each view its page after each event.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import vm from "node:vm";

const folder = process.env.PAGES;

function between(page, start, end) {
  const from = page.indexOf(start) + start.length;
  return page.slice(from, page.indexOf(end, from));
}

/** A page as Rust serialises it: without empty fields. */
function serialised(page) {
  const items = {};
  page.items.forEach((item, key) => {
    items[key] = withoutEmpty(item, ["text", "steps", "images", "citations"]);
  });
  return withoutEmpty({ ...page, items }, ["label", "asks", "overlay", "ended"]);
}

function withoutEmpty(object, optional) {
  const copy = JSON.parse(JSON.stringify(object));
  for (const name of optional) {
    const value = copy[name];
    if (value === null || value?.length === 0) delete copy[name];
  }
  return copy;
}

/** Every event forwards, backwards, and in jumps. */
function* visitOrders(count) {
  for (let seq = 0; seq < count; seq += 1) yield seq;
  for (let seq = count - 1; seq >= 0; seq -= 1) yield seq;
  for (let leap = 0; leap < count; leap += 1) yield (leap * 7919) % count;
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".html"))) {
  test(file, () => {
    const page = readFileSync(join(folder, file), "utf8");
    const expected = JSON.parse(readFileSync(join(folder, file.replace(/html$/, "json")), "utf8"));
    const data = JSON.parse(between(page, 'id="data">', "</script>"));
    const client = between(page, '<script id="client">', "</script>");
    const { Timeline } = vm.runInNewContext(`${client}; ({ Timeline })`, {
      TextEncoder, TextDecoder,
    });
    for (const view of data.views) {
      const pages = expected[view.name];
      assert.equal(view.frames.length, pages.length);
      for (const keepEvery of [500, 3, 1]) {
        const timeline = new Timeline(view.frames, keepEvery);
        for (const seq of visitOrders(pages.length)) {
          assert.deepEqual(serialised(timeline.at(seq)), pages[seq], `${view.name}, event ${seq}`);
        }
      }
    }
  });
}
