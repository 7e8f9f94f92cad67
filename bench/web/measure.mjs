// Streams the answer in Chromium and prints what it cost. Asserts nothing: machines are noisy.

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "../../web/node_modules/playwright/index.mjs";

const DIST = fileURLToPath(new URL("./dist", import.meta.url));
const DELTA_CHARACTERS = 24;
const SHORT_CHARACTERS = 30_000;
const LONG_CHARACTERS = 400_000;
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const LONG_TASK_US = 50_000;
const METRICS = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration"];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

const site = await serve();
let browser = await launch([]);
await compareShortAnswer();
await browser.close();
// Frames as fast as they settle: at sixty a second the long answer would take five minutes.
browser = await launch(["--disable-frame-rate-limit", "--disable-gpu-vsync"]);
await followLongAnswer();
await browser.close();
site.server.close();

function launch(flags) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...flags],
  });
}

async function compareShortAnswer() {
  const results = { floor: [], millpond: [], streamdown: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(results)) results[name].push(await shortAnswer(name));
  }
  console.log(`${SHORT_CHARACTERS} characters in deltas of ${DELTA_CHARACTERS}, one per frame; medians of ${ROUNDS} (all rounds)\n`);
  console.log("| | one text node | Millpond | Streamdown | Millpond / Streamdown | above the floor |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  const row = (label, pick, unit) => {
    const values = Object.values(results).map((rounds) => rounds.map(pick));
    const [floor, ours, theirs] = values.map(median);
    const cells = values.map((all) => `${format(median(all))} ${unit} (${all.map(format).join(", ")})`);
    console.log(`| ${label} | ${cells.join(" | ")} | ${quotient(ours, theirs)} | ${quotient(ours - floor, theirs - floor)} |`);
  };
  row("scripting", (seen) => seen.ScriptDuration, "s");
  row("layout", (seen) => seen.LayoutDuration, "s");
  row("style", (seen) => seen.RecalcStyleDuration, "s");
  row("all tasks", (seen) => seen.TaskDuration, "s");
  row("removed nodes", (seen) => seen.removedNodes, "");
  row("tasks over 50 ms by the clock", (seen) => seen.tasks.long, "");
  row("tasks over 50 ms of processor time", (seen) => seen.tasks.dear, "");
  row("dearest task", (seen) => seen.tasks.dearestMs, "ms");
  row("characters shown", (seen) => seen.shownCharacters, "");
}

async function shortAnswer(name) {
  const { page, metrics, tasks } = await open(name);
  const deltas = await page.evaluate(([characters, size]) => window.bench.prepare(characters, size), [SHORT_CHARACTERS, DELTA_CHARACTERS]);
  const before = await metrics();
  await page.evaluate((to) => window.bench.stream(0, to), deltas);
  const seen = await page.evaluate(() => window.bench.end());
  const spent = difference(before, await metrics());
  const all = { ...seen, ...spent, tasks: await tasks() };
  await page.close();
  return all;
}

async function followLongAnswer() {
  const { page, metrics, tasks } = await open("millpond");
  const deltas = await page.evaluate(([characters, size]) => window.bench.prepare(characters, size), [LONG_CHARACTERS, DELTA_CHARACTERS]);
  const tenth = Math.floor(deltas / 10);
  const cost = async (from, to) => {
    const before = await metrics();
    await page.evaluate(([first, last]) => window.bench.stream(first, last), [from, to]);
    const spent = difference(before, await metrics());
    return Object.fromEntries(METRICS.map((name) => [name, (1000 * spent[name]) / (to - from)]));
  };
  const first = await cost(0, tenth);
  await cost(tenth, deltas - tenth);
  const last = await cost(deltas - tenth, deltas);
  const seen = await page.evaluate(() => window.bench.end());
  const { long, dear, dearestMs } = await tasks();
  await page.close();
  console.log(`\nMillpond, ${LONG_CHARACTERS} characters, ${deltas} deltas: milliseconds per delta\n`);
  console.log("| | first tenth | last tenth | ratio |\n| --- | --- | --- | --- |");
  for (const name of METRICS) {
    const ratio = format(last[name] / first[name]);
    console.log(`| ${name} | ${first[name].toFixed(3)} | ${last[name].toFixed(3)} | ${ratio} |`);
  }
  console.log(`\ntasks over 50 ms: ${long} by the clock, ${dear} of processor time; the dearest ${format(dearestMs)} ms; removed nodes: ${seen.removedNodes}`);
}

async function open(name) {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
  await page.goto(`${site.url}${name}.html`);
  await page.waitForFunction(() => "bench" in window);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const metrics = async () => {
    const { metrics: all } = await session.send("Performance.getMetrics");
    return Object.fromEntries(all.map(({ name: metric, value }) => [metric, value]));
  };
  return { page, metrics, tasks: await watchTasks(session) };
}

/** Counts the tasks of the page's main thread. A busy machine makes them long by the clock, but not in processor time. */
async function watchTasks(session) {
  const threads = new Set();
  const seen = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const { name, args, pid, tid, dur, tdur } of value) {
      if (name === "thread_name" && args.name === "CrRendererMain") threads.add(`${pid} ${tid}`);
      if (name === "ThreadControllerImpl::RunTask") seen.push({ thread: `${pid} ${tid}`, dur, tdur });
    }
  });
  const traceConfig = { includedCategories: ["toplevel"], excludedCategories: ["*"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  return async () => {
    const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
    await session.send("Tracing.end");
    const { dataLossOccurred } = await complete;
    if (dataLossOccurred) console.error("some tasks were not counted: the browser kept too few of them");
    const main = seen.filter(({ thread }) => threads.has(thread));
    const dearest = main.reduce((most, { tdur }) => Math.max(most, tdur ?? 0), 0);
    const over = (pick) => main.filter((task) => pick(task) > LONG_TASK_US).length;
    return { long: over(({ dur }) => dur), dear: over(({ tdur }) => tdur), dearestMs: dearest / 1000 };
  };
}

function difference(before, after) {
  return Object.fromEntries(METRICS.map((name) => [name, after[name] - before[name]]));
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function quotient(ours, theirs) {
  return theirs > 0 ? (ours / theirs).toFixed(2) : "";
}

function format(value) {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(2);
}

async function serve() {
  const server = createServer((request, response) => {
    const file = join(DIST, new URL(request.url, "http://localhost").pathname);
    if (!file.startsWith(DIST) || !existsSync(file)) return response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}
