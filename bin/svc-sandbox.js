#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const door = new URL("../dist/esm/cli.js", import.meta.url);

if (!("getBuiltinModule" in process)) {
  process.stderr.write(`svc-sandbox needs Node 20.19 or later; this is Node ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (!existsSync(door)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  process.stderr.write(
    `svc-sandbox is not built: dist/esm/cli.js is missing in ${root}\nRun \`npm ci\` there, which installs what the build needs and builds it.\n`,
  );
  process.exitCode = 2;
} else {
  process.getBuiltinModule("node:module").enableCompileCache?.();
  const { cli, processIo } = await import(door.href);
  process.exitCode = await cli(process.argv.slice(2), processIo(process));
}
