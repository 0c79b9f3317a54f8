import { useQuery } from "@tanstack/react-query";
import type { Editor } from "@tiptap/core";
import { memo, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { reviewQuery } from "@/api/queries";
import { BubbleMenu } from "./BubbleMenu";
import { fetchAcceptedPage, printDocumentOnly } from "./export";
import { FindBar } from "./FindBar";
import { LinkDialog } from "./LinkDialog";
import { SlashMenu } from "./SlashMenu";
import { toolState, useTools } from "./state";
import { ToolBar } from "./ToolBar";

interface RichToolsProps {
  editor: Editor;
  path: string;
}

/** The toolbar and menus of a rich editor, above its text. What the page around them shows changes with each key. */
export const RichTools = memo(function RichTools({ editor, path }: RichToolsProps): ReactNode {
  const find = useTools(editor, (state) => state.find);
  const link = useTools(editor, (state) => state.link);
  useLayoutEffect(() => toolState(editor).setState({ path }), [editor, path]);
  const accepted = useAcceptedPage(editor, path);
  useEffect(() => printDocumentOnly(editor, path, accepted), [editor, path, accepted]);
  return (
    <>
      <ToolBar editor={editor} path={path} />
      {find ? <FindBar editor={editor} /> : null}
      <BubbleMenu editor={editor} />
      <SlashMenu editor={editor} />
      {link ? <LinkDialog editor={editor} /> : null}
    </>
  );
});

const PAUSE_MS = 400;

/** Keeps the accepted version of a document ready for printing, while something in it is proposed. */
function useAcceptedPage(editor: Editor, path: string): () => Awaited<ReturnType<typeof fetchAcceptedPage>> {
  const { data } = useQuery(reviewQuery);
  const draft = data?.find((each) => each.path === path && each.pending);
  const page = useRef<Awaited<ReturnType<typeof fetchAcceptedPage>>>(null);
  useEffect(() => {
    page.current = null;
    if (!draft) return;
    let timer = 0;
    let asked = 0;
    let ended = false;
    const fetch = async () => {
      asked += 1;
      const own = asked;
      const found = await fetchAcceptedPage(path);
      if (!ended && own === asked) page.current = found; // otherwise a newer answer is here, or on its way
    };
    const later = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => void fetch(), PAUSE_MS);
    };
    void fetch();
    editor.on("update", later);
    return () => {
      ended = true;
      clearTimeout(timer);
      editor.off("update", later);
    };
  }, [editor, path, draft]);
  return useCallback(() => page.current, []);
}
