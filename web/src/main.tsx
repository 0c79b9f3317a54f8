import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@/styles/tokens.css";
import "@/styles/base.css";
import { App } from "@/app/App";
import { nonce } from "@/app/nonce";

// Radix locks scrolling behind a dialog with a style element, which needs the page's nonce.
Object.assign(globalThis, { __webpack_nonce__: nonce() });

const root = document.getElementById("app");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
