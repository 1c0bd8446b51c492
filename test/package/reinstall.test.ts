import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Names each module that Node has read.
const hook = `const fs = require("node:fs");
const read = fs.readFileSync;
fs.readFileSync = (file, ...options) => {
  const text = read(file, ...options);
  fs.writeSync(1, "read " + file + "\\n");
  return text;
};
`;

test("the control plane responds although the package is removed while the server runs", async () => {
  const folder = temporaryFolder();
  for (const part of ["bin", "dist/cjs", "package.json"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  const hookFile = join(folder, "hook.cjs");
  writeFileSync(hookFile, hook);
  const chunks = join(folder, "dist/cjs");
  const textOf = (file: string) => readFileSync(join(chunks, file), "utf8");
  const files = readdirSync(chunks).filter((file) => file.endsWith(".js"));
  const wanted = [/x-powered-by/, /agrovoc/].flatMap((sign) =>
    files.filter((file) => sign.test(textOf(file))),
  );
  expect(wanted.length).toBeGreaterThan(1);
  for (const file of wanted) {
    const imports = [...textOf(file).matchAll(/(?<!=> |\?\?= )\brequire\("\.\/([^"]+)"\)/g)];
    for (const [, next] of imports) if (!wanted.includes(next as string)) wanted.push(next as string);
  }
  const argv = ["--require", hookFile, join(folder, "bin/svc-sandbox.js"), "--port", "0"];
  const child = spawn(process.execPath, [...argv, "--json", "--log", "off"], { cwd: folder });
  onTestFinished(() => void child.kill("SIGKILL"));
  let written = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(written)));
    child.stdout.on("data", (text) => {
      written += text;
      if (wanted.every((file) => written.includes(`/${file}\n`)) && /"base_url"/.test(written)) resolve();
    });
  });
  rmSync(join(folder, "dist"), { recursive: true });
  const { base_url } = JSON.parse(/\{"event":"listening".*\}/.exec(written)?.[0] as string);
  const call = (path: string, method = "GET") =>
    fetch(`${base_url}/__sandbox${path}`, { method, headers: { "content-type": "application/json" } });
  for (const path of ["/health", "/report?format=junit", "/farmers", "/openapi.json"]) {
    expect([path, (await call(path)).status]).toEqual([path, 200]);
  }
  const init = { method: "PUT", headers: { "content-type": "application/yaml" } };
  const yaml = "version: 1\norganizations:\n  one: { type: bank, keys: { only: { environment: test } } }\n";
  expect((await fetch(`${base_url}/__sandbox/scenario`, { ...init, body: yaml })).status).toBe(200);
  expect((await call("/reset", "POST")).status).toBe(200);
});
