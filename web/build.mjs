// Writes the one script and the one style sheet that the package carries; another folder may be named to compare with.
import { build } from "esbuild";
import { readFile, writeFile, mkdir } from "node:fs/promises";

const target = process.argv[2] ?? "../src/gainful/tasks/report";
await mkdir(target, { recursive: true });
const common = {
  bundle: true,
  minify: true,
  target: ["es2022"],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  write: false,
};
// A copy of the page is a copy of these libraries, so it carries their licenses.
const libraries = { uPlot: "uplot", fflate: "fflate" };
const licenses = await Promise.all(
  Object.entries(libraries).map(async ([name, folder]) => `${name}:\n\n${(await readFile(`node_modules/${folder}/LICENSE`, "utf8")).trim()}`),
);
const notice = `/* Built from web/ of gainful (Apache-2.0) by \`make web\`; contains ${licenses.join("\n\nand ")}\n*/\n`;
for (const [entry, name] of [
  ["src/main.ts", "report.js"],
  ["src/report.css", "report.css"],
]) {
  const { outputFiles } = await build({ ...common, entryPoints: [entry], format: "iife" });
  // The page carries the script inside of an element: nothing in it may look like the end of one.
  const text = outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  await writeFile(`${target}/${name}`, notice + text);
  console.log(`${name}: ${(text.length / 1000).toFixed(1)} kB`);
}
