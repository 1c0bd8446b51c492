import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Frees all memory that nobody holds. */
export const collect = runInNewContext("gc") as () => void;
