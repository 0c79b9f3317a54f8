// Bundles the extension into dist/: with its libraries, for the editor's Node.
import { build } from "esbuild";

const common = {
  bundle: true,
  minify: true,
  legalComments: "none",
  logLevel: "warning",
  alias: { "@": "../../web/src" },
};
await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode", "bufferutil", "utf-8-validate"],
});
await build({
  ...common,
  entryPoints: ["src/chatPage.ts"],
  outfile: "dist/chatPage.js",
  platform: "browser",
  format: "iife",
  target: "es2022",
});
