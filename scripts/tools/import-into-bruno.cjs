// Imports c.json and e.json, a collection and an environment for Postman, into the folder c, as Bruno does.
const { mkdirSync, readFileSync } = require("node:fs");
const { postmanToBruno, postmanToBrunoEnvironment } = require("@usebruno/converters");
const { createCollectionFromBrunoObject } = require("@usebruno/cli/src/utils/collection");

const read = (file) => JSON.parse(readFileSync(file, "utf8"));

(async () => {
  const { collection } = await postmanToBruno(read("c.json"));
  const environment = { ...(await postmanToBrunoEnvironment(read("e.json"))), name: "sandbox" };
  mkdirSync("c");
  await createCollectionFromBrunoObject({ ...collection, environments: [environment] }, "c", {
    format: "bru",
  });
})();
