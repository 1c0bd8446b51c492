import { promises } from "node:fs";

// A disk on which the renames to one name last until somebody lets them go: until the file `let-go` exists.

const { access, rename } = promises;

promises.rename = async (from, to) => {
  const slow =
    process.env.SLOW_FILE && (await promises.readFile(process.env.SLOW_FILE, "utf8").catch(() => ""));
  while (slow && String(to).includes(slow) && (await isHeld())) await new Promise(setImmediate);
  return rename(from, to);
};

const isHeld = () =>
  access(`${process.env.SLOW_FILE}.let-go`).then(
    () => false,
    () => true,
  );
