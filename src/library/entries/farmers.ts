import { makeFarmers } from "../../farmers/make-farmers.js";
import { farmersKey } from "../farmers-of-page.js";

// The entry point `svc-sandbox/farmers`: importing it is enough. All sandboxes of the page get them.
Reflect.set(globalThis, farmersKey, makeFarmers);
