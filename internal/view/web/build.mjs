// Bundles src into dist, which is checked in: who installs csisim needs no Node.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

await build({
  entryPoints: [{ in: "src/main.tsx", out: "viewer" }, { in: "src/style.css", out: "viewer" }],
  outdir: process.argv[2] ?? "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox115", "safari16.4"],
  charset: "ascii",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
});

// The archives of a release hold it.
copyFileSync("node_modules/preact/LICENSE", (process.argv[2] ?? "dist") + "/preact.LICENSE");

// A test compares the sources with this, without Node.
const hash = createHash("sha256");
for (const name of [...readdirSync("src").sort().map((n) => "src/" + n), "build.mjs", "package-lock.json", "tsconfig.json"]) {
  hash.update(name + "\n").update(readFileSync(name));
}
writeFileSync((process.argv[2] ?? "dist") + "/sources.sha256", hash.digest("hex") + "\n");
