"use strict";
const fs = require("node:fs");
const { dirname, isAbsolute, join } = require("node:path");
const vm = require("node:vm");

// A third of a start is the compilation of our code. V8 can write down what it has compiled, and takes that again as long
// as its version and its flags are the same; otherwise it compiles as ever. docs/decisions/0013 says more.

/**
 * Loads the CommonJS files of a folder, with what an earlier run of this kind has compiled of them; `keep` writes down
 * what this run has compiled and no earlier one had. Nothing fails for want of a cache.
 *
 * @param {string} folder
 * @param {string} kind
 */
exports.createLoader = (folder, kind) => {
  const cache = cacheFolder();
  const modules = new Map();
  const compiled = [];
  const load = (id) => {
    if (!id.startsWith("./")) return require(id);
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const filename = join(folder, id);
    const source = fs.readFileSync(filename);
    const name = `${process.version}-${process.arch}-${kind}-${id.slice(2)}.bin`;
    const file = cache && join(cache, name);
    const cachedData = file && read(file, source);
    // The build writes ASCII alone.
    const text = `(function (exports, require, __filename) { ${source.latin1Slice()}\n})`;
    // It cannot import: V8 does not keep where an import of a script is to be resolved.
    const script = new vm.Script(text, { filename, cachedData });
    if (file && script.cachedDataRejected !== false) compiled.push({ file, source, script });
    const module = { exports: {} };
    modules.set(id, module);
    try {
      script.runInThisContext()(module.exports, load, filename);
    } catch (error) {
      modules.delete(id);
      throw error;
    }
    return module.exports;
  };
  const keep = () => {
    if (compiled.length === 0) return;
    removeOld(cache);
    for (const { file, source, script } of compiled.splice(0)) {
      const data = script.createCachedData();
      write(file, Buffer.concat([source, data, data]));
    }
  };
  return { load, keep };
};

/** The cache folder of this user and no other; `undefined` where there is none. */
function cacheFolder() {
  const { HOME, LOCALAPPDATA, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return undefined;
  const inHome = (name) => HOME && join(HOME, name);
  const folders = { win32: LOCALAPPDATA, darwin: inHome("Library/Caches") };
  const { [process.platform]: folder = XDG_CACHE_HOME || inHome(".cache") } = folders;
  return folder && isAbsolute(folder) ? join(folder, "svc-sandbox") : undefined;
}

/**
 * Reads what was kept of a source; `undefined` when there is nothing, it is damaged, or others could have written it.
 *
 * V8 looks neither for damage in what it is given, which would crash it, nor for more of a source than its length. So the file
 * has the source and then the code twice: a checksum would need `node:crypto`, which takes 2 to 4 ms to load.
 */
function read(file, source) {
  try {
    const { uid, mode } = fs.statSync(file);
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    const kept = fs.readFileSync(file);
    const middle = (source.length + kept.length) / 2;
    const data = kept.subarray(source.length, middle);
    const isWhole = kept.subarray(0, source.length).equals(source) && kept.subarray(middle).equals(data);
    return isWhole ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Writes in one step, since other runs may read or write the same. */
function write(file, content) {
  const draft = `${file}.${process.pid}`;
  try {
    fs.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(draft, content, { mode: 0o600 });
    fs.renameSync(draft, file);
  } catch {
    fs.rm(draft, { force: true }, () => {});
  }
}

const keptFor = 30 * 24 * 60 * 60 * 1000;

/** Removes what versions have left that may be gone; one that is still there compiles once more. */
function removeOld(folder) {
  try {
    for (const name of fs.readdirSync(folder)) {
      const file = join(folder, name);
      if (Date.now() - fs.statSync(file).mtimeMs > keptFor) fs.rmSync(file);
    }
  } catch {
    // There is no such folder yet, or another run was faster.
  }
}
