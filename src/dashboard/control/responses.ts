import type { ControlResponse } from "../../server/control/responses.js";

// The types of the control plane's responses. The page depends on nothing else of it.
export type { ControlResponse as Shown };
