import { render } from "preact";
import { takeToken } from "./control/call.js";
import { keepUpToDate } from "./control/data.js";
import { keepFocus } from "./control/focus.js";
import { Shell } from "./views/shell.js";

takeToken();
// The printed link may be pasted into an open page.
addEventListener("hashchange", takeToken);
void keepUpToDate();
keepFocus();
render(<Shell />, document.getElementById("page") as HTMLElement);
