/** What a writer does in the rich editor besides typing: toolbar, menus, shortcuts. */

export { richTools } from "./extensions";
export { imageAddress } from "./imagePaths";
export { RichTools } from "./RichTools";
