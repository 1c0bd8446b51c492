import { render } from "preact";
import { takeToken } from "./control/call.js";
import { followEvents } from "./control/events.js";
import { Shell } from "./shell/shell.js";

await takeToken();
// The printed link may be pasted into an open page.
addEventListener("hashchange", takeToken);
followEvents();
render(<Shell />, document.getElementById("page") as HTMLElement);
