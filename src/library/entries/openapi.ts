import { provideReader } from "../../api/routes.js";
import { readScenario } from "../../openapi/read-api.js";

provideReader(readScenario);
