// Texts that would do harm in a page that took them for anything but text. What runs sets `globalThis.stolen`; what
// asks another host asks evil.example.

const run = "globalThis.stolen=1";
const script = `<script>${run}</script>`;
const evil = "https://evil.example";
const esc = "\u001b";

const markup = [
  script,
  `">${script}`,
  `</title></textarea></style></script>${script}`,
  `<img src=x onerror=${run}>`,
  `<img src="${evil}/x.png">`,
  `<iframe srcdoc="<script>parent.stolen=1</script>">`,
  `<a href="javascript:${run}">press</a>`,
  `<form action="javascript:${run}"><button>press</button></form>`,
  `<meta http-equiv="refresh" content="0;url=${evil}">`,
  `<base href="${evil}/">`,
  `<style>@import "${evil}/x.css"; * { display: none }</style>`,
  `<dialog open style="position:fixed;inset:0">Your token, please</dialog>`,
  `&lt;script&gt;${run}&lt;/script&gt;`,
  `" onmouseover="${run}" x="`,
];

const addresses = [
  `javascript:${run}`,
  `java\tscript:${run}`,
  `data:text/html,${script}`,
  `${evil}/?take=`,
  "//evil.example/x",
  "../../../../etc/passwd%00%2e%2e%2f",
  "#/overview?token=a&%ff%",
];

const templates = [
  `{{constructor.constructor('${run}')()}}`,
  `\${${run}}`,
  `\`;${run};\``,
  `url(${evil}/x.png)`,
];

const names = ["__proto__", "constructor", "toString", "[object Object]"];

const writing = [
  `${esc}[31mred${esc}[0m${esc}]8;;${evil}\u0007link${esc}]8;;\u0007`,
  `${esc}[2J${esc}[H${esc}]0;title\u0007`,
  "invoice\u202egnp.exe",
  "\u2066\u202e\u2067not closed",
  "بنك الحصاد التعاوني (١)",
  "בנק הקציר: 401 > 200",
  "a\u200b\u200c\u200d\u2060\ufeffb",
  "nul\u0000bell\u0007del\u007fend",
  `z${"\u0351\u0328\u0321".repeat(30)}`,
  "line\r\nbreak\ttab\u2028separator\u0085next",
  "👩‍🌾".repeat(20),
  "\u3000\u00a0\ufdfd\ufdfd\ufdfd",
];

/** As long as a text can be that reaches the page; one word, so that no line ends by itself. */
const endless = "W".repeat(100_000);

/** Hostile texts, each different. */
export const hostileTexts: readonly string[] = [
  ...markup,
  ...addresses,
  ...templates,
  ...names,
  ...writing,
  endless,
];
