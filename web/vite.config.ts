import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The app is built into the Python package, which serves it; nothing of it is ever loaded from elsewhere.
export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    outDir: "../src/redraft/server/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the content policy forbids data: addresses
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
});
