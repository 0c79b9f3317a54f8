import { QueryClientProvider } from "@tanstack/react-query";
import { Tooltip } from "radix-ui";
import { type ReactNode, useEffect } from "react";
import { listenForChanges } from "@/api/changes";
import { client, treeQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import { useStore } from "@/state/store";
import { Toasts } from "@/ui/Toasts";
import { Dialogs } from "./Dialogs";
import { Layout } from "./Layout";
import { Palette } from "./Palette";
import { useKeys } from "./useKeys";

export function App(): ReactNode {
  useTheme();
  useKeys();
  useEffect(listenForChanges, []);
  useEffect(openNamedDocument, []);
  // The palette should know every document when it opens.
  useEffect(() => void client.prefetchQuery(treeQuery), []);
  return (
    <QueryClientProvider client={client}>
      <Tooltip.Provider delayDuration={400}>
        <Layout />
        <Palette />
        <Dialogs />
        <Toasts />
      </Tooltip.Provider>
    </QueryClientProvider>
  );
}

/** Open the document that the address names: `redraft open FILE` and links end with `#open=PATH`. */
function openNamedDocument(): void {
  const named = /^#open=(.+)$/.exec(location.hash)?.[1];
  if (!named) return;
  history.replaceState(null, "", location.pathname);
  void openDocument(decodeURIComponent(named));
}

/** Light or dark: as chosen, or as the system prefers. */
function useTheme(): void {
  const theme = useStore((store) => store.theme);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      const dark = theme === "dark" || (theme === "system" && system.matches);
      document.documentElement.dataset.theme = dark ? "dark" : "light";
      document.documentElement.style.colorScheme = dark ? "dark" : "light";
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [theme]);
}
