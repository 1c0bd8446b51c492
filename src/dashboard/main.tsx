import { render } from "preact";
import { keepFocus } from "./control/focus.js";
import { followRevision } from "./control/revision.js";
import { takeToken } from "./control/token.js";
import { Shell } from "./views/shell.js";

takeToken();
// The printed link may be pasted into an open page.
addEventListener("hashchange", takeToken);
followRevision();
keepFocus();
render(<Shell />, document.getElementById("page") as HTMLElement);
