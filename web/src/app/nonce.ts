/** The nonce that allows our own style elements, and nobody else's. The browser hides it from selectors. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
}
