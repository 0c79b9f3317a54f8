// Fails where the types of the API are not those of docs/openapi.json.
import { readFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const root = new URL("../", import.meta.url);
const description = new URL("../docs/openapi.json", root);
const kept = await readFile(new URL("src/api/schema.d.ts", root), "utf8");
const fresh = astToString(await openapi(description));
if (!kept.endsWith(fresh)) {
  console.error("web/src/api/schema.d.ts is stale: run `npm run types` in web/.");
  process.exit(1);
}
