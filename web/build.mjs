// Writes the script and the style sheet of the report, which the package carries, and the page of the playground;
// other folders may be named to compare with.
import { build } from "esbuild";
import { readFile, writeFile, mkdir } from "node:fs/promises";

const [target = "../src/gainful/tasks/report", pages = "../docs/playground"] = process.argv.slice(2);
await Promise.all([target, pages].map((folder) => mkdir(folder, { recursive: true })));
const common = {
  bundle: true,
  minify: true,
  target: ["es2022"],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  write: false,
};

/** The text of a bundle. A page carries it inside of an element: nothing in it may look like the end of one. */
async function bundle(entry) {
  const { outputFiles } = await build({ ...common, entryPoints: [entry], format: "iife" });
  return outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

async function write(path, text) {
  await writeFile(path, text);
  console.log(`${path}: ${(Buffer.byteLength(text) / 1000).toFixed(1)} kB`);
}

// A copy of the page is a copy of these libraries, so it carries their licenses.
const libraries = { uPlot: "uplot", fflate: "fflate" };
const licenses = await Promise.all(
  Object.entries(libraries).map(async ([name, folder]) => `${name}:\n\n${(await readFile(`node_modules/${folder}/LICENSE`, "utf8")).trim()}`),
);
const built = "Built from web/ of gainful (Apache-2.0) by `make web`";
const notice = `/* ${built}; contains ${licenses.join("\n\nand ")}\n*/\n`;
for (const [entry, name] of [
  ["src/main.ts", "report.js"],
  ["src/report.css", "report.css"],
])
  await write(`${target}/${name}`, notice + (await bundle(entry)));

const template = await readFile("src/playground/page.html", "utf8");
const [script, style] = [await bundle("src/playground/main.ts"), await bundle("src/playground/playground.css")];
// Functions, because a bundle may have the signs that a replacement text gives a meaning.
const page = template
  .replace("<!doctype html>", () => `<!doctype html>\n<!-- ${built}. -->`)
  .replace("/* style */", () => style.trim())
  .replace("/* script */", () => script.trim());
await write(`${pages}/index.html`, page);
