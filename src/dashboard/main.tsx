import { render } from "preact";
import { takeToken } from "./control/call.js";
import { followRevision } from "./control/revision.js";
import { Shell } from "./shell/shell.js";

takeToken();
// The printed link may be pasted into an open page.
addEventListener("hashchange", takeToken);
followRevision();
render(<Shell />, document.getElementById("page") as HTMLElement);
