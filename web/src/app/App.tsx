import { QueryClientProvider } from "@tanstack/react-query";
import { Tooltip } from "radix-ui";
import { type ReactNode, useEffect } from "react";
import { listen } from "@/api/changes";
import { client, treeQuery } from "@/api/queries";
import { Toasts } from "@/ui/Toasts";
import { Dialogs } from "./Dialogs";
import { Layout } from "./Layout";
import { Palette } from "./Palette";
import { useKeys } from "./useKeys";
import { useTheme } from "./useTheme";

export function App(): ReactNode {
  useTheme();
  useKeys();
  useEffect(listen, []);
  // The palette shall know every document when it opens.
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
