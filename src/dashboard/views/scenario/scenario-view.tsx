import { LoadedPart } from "../../elements/loaded-part.js";

const loadEditor = async () => (await import("./scenario-page.js")).ScenarioPage;

/** The running scenario in an editor, which is loaded when the view is opened. */
export function ScenarioView() {
  return (
    <>
      <h1>Scenario</h1>
      <LoadedPart name="the editor" load={loadEditor} />
    </>
  );
}
