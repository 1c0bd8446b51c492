import { render } from "preact";
import { keepUpToDate } from "./control/data.js";
import { Shell } from "./views/shell.js";

void keepUpToDate();
render(<Shell />, document.getElementById("page") as HTMLElement);
