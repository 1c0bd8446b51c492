import { render } from "preact";
import { keepUpToDate } from "./control/data.js";
import { keepFocus } from "./control/focus.js";
import { Shell } from "./views/shell.js";

void keepUpToDate();
keepFocus();
render(<Shell />, document.getElementById("page") as HTMLElement);
