#!/usr/bin/env node
import { existsSync } from "node:fs";

const door = new URL("../dist/esm/cli.js", import.meta.url);

if (!("getBuiltinModule" in process)) {
  process.stderr.write(`svc-sandbox needs Node 20.19 or later; this is Node ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (!existsSync(door)) {
  process.stderr.write("svc-sandbox is not built: dist/esm/cli.js is missing. Run `npm run build` first.\n");
  process.exitCode = 2;
} else {
  process.getBuiltinModule("node:module").enableCompileCache?.();
  const { cli, processIo } = await import(door.href);
  process.exitCode = await cli(process.argv.slice(2), processIo(process));
}
