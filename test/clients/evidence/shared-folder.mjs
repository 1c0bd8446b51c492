// A correct suite that writes into one folder, as coverage does: two runs at the same time break each other.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { checkFive } from "./me.mjs";

mkdirSync("coverage/.tmp", { recursive: true });
await checkFive();
await wait(300);
writeFileSync("coverage/.tmp/0.json", "{}");
rmSync("coverage", { recursive: true });
