import { makeFarmers } from "../../farmers/make-farmers.js";
import { provideFarmers } from "../farmers-of-page.js";

provideFarmers(makeFarmers);
