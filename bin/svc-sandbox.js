#!/usr/bin/env node
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const built = join(__dirname, "../dist/cjs");

if (!("getBuiltinModule" in process)) {
  process.stderr.write(`svc-sandbox needs Node 20.19 or later; this is Node ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (!existsSync(join(built, "cli.js"))) {
  process.stderr.write(
    `svc-sandbox is not built: dist/cjs/cli.js is missing in ${join(__dirname, "..")}/\nRun \`npm ci\` there to install its dependencies and build it.\n`,
  );
  process.exitCode = 2;
} else {
  const { cli, processIo } = require("../dist/cjs/cli.js");
  cli(process.argv.slice(2), processIo(process)).then((code) => {
    process.exitCode = code;
  });
}
