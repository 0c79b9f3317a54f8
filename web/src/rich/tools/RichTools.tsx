import type { Editor } from "@tiptap/core";
import { type ReactNode, useEffect, useLayoutEffect } from "react";
import { BubbleMenu } from "./BubbleMenu";
import { printsOnlyTheDocument } from "./exporting";
import { FindBar } from "./FindBar";
import { LinkDialog } from "./LinkDialog";
import { SlashMenu } from "./SlashMenu";
import { toolState, useTools } from "./state";
import { ToolBar } from "./ToolBar";

interface RichToolsProps {
  editor: Editor;
  path: string;
}

/** The toolbar and menus of a rich editor; stands above its text. */
export function RichTools({ editor, path }: RichToolsProps): ReactNode {
  const find = useTools(editor, (state) => state.find);
  const link = useTools(editor, (state) => state.link);
  useLayoutEffect(() => toolState(editor).setState({ path }), [editor, path]);
  useEffect(() => printsOnlyTheDocument(editor, path), [editor, path]);
  return (
    <>
      <ToolBar editor={editor} path={path} />
      {find ? <FindBar editor={editor} /> : null}
      <BubbleMenu editor={editor} />
      <SlashMenu editor={editor} />
      {link ? <LinkDialog editor={editor} /> : null}
    </>
  );
}
