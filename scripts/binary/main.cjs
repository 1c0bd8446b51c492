"use strict";
const { isBuiltin, Module } = require("node:module");
const { dirname, join } = require("node:path");
const { getRawAsset } = require("node:sea");

// The main script of the binary. The files of the package are its assets. The chunks of `dist/cjs` load each other from
// there when they are first needed.

const folder = join(dirname(process.execPath), "svc-sandbox");
const loaded = new Map();
const asset = (path) => Buffer.from(getRawAsset(path));

function load(path) {
  if (loaded.has(path)) return loaded.get(path).exports;
  const module = new Module(join(folder, path));
  module.require = (name) => (isBuiltin(name) ? require(name) : load(`dist/cjs/${name.slice("./".length)}`));
  loaded.set(path, module);
  // Chunks are in ASCII.
  module._compile(asset(path).latin1Slice(), module.id);
  return module.exports;
}

const { cli, processIo, setPackageReader } = load("dist/cjs/cli.js");
setPackageReader(asset);
cli(process.argv.slice(2), processIo(process)).then((code) => {
  process.exitCode = code;
});
