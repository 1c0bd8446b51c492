// A small client of endpoints that only the document describes.

const ask = (baseUrl, key, path, init = {}) =>
  fetch(`${baseUrl}/v1/relying-party${path}`, {
    ...init,
    headers: { "x-api-key": key, "Content-Type": "application/json" },
    signal: AbortSignal.timeout(5000),
  });

async function reportOf(response) {
  if (response.status === 204) return { removed: true };
  const body = await response.json();
  if (!response.ok) return { failed: response.status, code: body.error.code };
  const { id, status, pages } = body.data;
  if (typeof id !== "string" || typeof status !== "string" || !Number.isInteger(pages)) {
    throw new Error("The response does not have the documented form.");
  }
  return { id, status, pages };
}

export async function requestReport(baseUrl, key, months) {
  return reportOf(await ask(baseUrl, key, "/reports", { method: "POST", body: JSON.stringify({ months }) }));
}

export async function readReport(baseUrl, key, id) {
  return reportOf(await ask(baseUrl, key, `/reports/${encodeURIComponent(id)}`));
}

export async function changeReport(baseUrl, key, id, change) {
  const init = { method: "PATCH", body: JSON.stringify(change) };
  return reportOf(await ask(baseUrl, key, `/reports/${encodeURIComponent(id)}`, init));
}

export async function removeReport(baseUrl, key, id) {
  return reportOf(await ask(baseUrl, key, `/reports/${encodeURIComponent(id)}`, { method: "DELETE" }));
}

/** The ids of the reports; an empty list if the response failed. */
export async function listReports(baseUrl, key) {
  const response = await ask(baseUrl, key, "/reports");
  return response.ok ? (await response.json()).data.map(({ id }) => id) : [];
}
