import { makeFarmers } from "../../farmers/farmers.js";
import { provideFarmers } from "../farmers-of-page.js";

provideFarmers(makeFarmers);
