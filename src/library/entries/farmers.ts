import { makeFarmers } from "../../farmers/make-farmers.js";
import { provideFarmers } from "../farmers-of-page.js";

// The entry point `svc-sandbox/farmers`: importing it is enough.
provideFarmers(makeFarmers);
