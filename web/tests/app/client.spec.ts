// The client package: packed, installed in another folder, and used as in its README.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "./test.ts";

const WEB = join(import.meta.dirname, "../..");
const CLIENT = join(WEB, "packages/client");
const README_GATEWAY = "http://127.0.0.1:8181";

function readmeExample(base: string): string {
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(CLIENT, "README.md"), "utf8")) ?? [];
  expect(code, "the README has an example with this gateway address").toContain(README_GATEWAY);
  return code.replace(README_GATEWAY, base);
}

test("the packed client has its types, and its README's example follows a run", async ({ gateway }) => {
  const folder = mkdtempSync(join(tmpdir(), "millpond-client-"));
  const run = (program: string, args: string[], cwd: string) => execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--loglevel=error", "--pack-destination", folder], CLIENT)) as { filename: string; files: { path: string }[] }[];
  const names = packed?.files.map(({ path }) => path) ?? [];
  expect(names).toEqual(expect.arrayContaining(["README.md", "package.json", "dist/index.js", "dist/index.d.ts"]));
  expect(names.filter((name) => !/^(dist|src)\//.test(name)).sort(), "and nothing else").toEqual(["README.md", "package.json"]);

  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  run("npm", ["install", "--offline", "--loglevel=error", join(folder, packed?.filename ?? "")], folder);
  writeFileSync(join(folder, "example.ts"), readmeExample(`http://127.0.0.1:${gateway.port}`));
  const options = { strict: true, target: "es2022", module: "nodenext", types: ["node"], typeRoots: [join(WEB, "node_modules/@types")] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["example.ts"] }));
  run(join(WEB, "node_modules/.bin/tsc"), ["-p", folder], folder);

  const child = spawn(process.execPath, ["example.js"], { cwd: folder, env: { ...process.env, MILLPOND_TOKEN: gateway.token } });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  await expect.poll(() => output).toMatch(/What is a millpond\?\n[^]+\nidle\n$/);
  child.kill();
  rmSync(folder, { recursive: true, force: true });
});
