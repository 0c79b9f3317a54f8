import { lazy, type ReactNode, Suspense } from "react";
import { Start } from "./Start";
import { TabBar } from "./TabBar";
import { useTabs } from "./useTabs";

const DocumentPane = lazy(() => import("@/editor/DocumentPane").then((found) => ({ default: found.DocumentPane })));

/** The open documents: their tabs, and the one in front, or that one alone. */
export function Documents({ alone = false }: { alone?: boolean }): ReactNode {
  const { tabs, front } = useTabs();
  return (
    <>
      {tabs?.length && !alone ? <TabBar tabs={tabs} front={front?.tab_id} /> : null}
      <main style={{ flex: 1, minHeight: 0, display: "flex", flexDirection: "column" }}>
        {front ? (
          <Suspense fallback={null}>
            <DocumentPane key={front.tab_id} path={front.path} tabId={front.tab_id} />
          </Suspense>
        ) : tabs ? (
          <Start />
        ) : null}
      </main>
    </>
  );
}
