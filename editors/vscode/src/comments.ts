/** Comments on passages, as the editor's own comment threads. */

import * as vscode from "vscode";
import type { Folder } from "./folder";
import type { Folders } from "./folders";
import type { LiveDocument } from "./liveDocument";
import { attempt } from "./reviewCommands";
import type { Comment } from "./shapes";
import { SCHEME } from "./uris";

interface Shown {
  thread: vscode.CommentThread;
  folder: Folder;
  id: string;
}

class Comments {
  readonly #controller = vscode.comments.createCommentController("redraft", "Redraft");
  readonly #shown = new Map<string, Shown>();

  constructor(readonly folders: Folders) {
    this.#controller.options = { prompt: "Comment", placeHolder: "Comment on this passage; @agent asks the agent" };
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: (document) =>
        document.uri.scheme === SCHEME ? [new vscode.Range(0, 0, document.lineCount - 1, 0)] : [],
    };
  }

  dispose(): void {
    this.#controller.dispose();
  }

  /** The threads of what is shown, from the server. */
  async refresh(): Promise<void> {
    const documents = this.folders.all.flatMap((folder) => folder.documents.map((live) => ({ folder, live })));
    const current = new Set<string>();
    for (const { folder, live } of documents) {
      if (!live.isAttached) continue;
      const { comments } = await folder.server.get<{ comments: Comment[] }>("/api/comments", { path: live.path });
      for (const comment of comments) {
        if (comment.start === null || comment.end === null) continue;
        const key = `${folder.root}\0${comment.id}`;
        current.add(key);
        this.#show(key, folder, live, comment);
      }
    }
    for (const [key, { thread }] of this.#shown) {
      if (current.has(key)) continue;
      thread.dispose();
      this.#shown.delete(key);
    }
  }

  #show(key: string, folder: Folder, live: LiveDocument, comment: Comment): void {
    const range = live.rangeOfCodePoints(comment.start ?? 0, comment.end ?? 0);
    const messages = comment.messages.map(
      ({ by, says, at }): vscode.Comment => ({
        author: { name: by },
        body: plain(says),
        mode: vscode.CommentMode.Preview,
        timestamp: new Date(at),
      }),
    );
    const known = this.#shown.get(key);
    const thread = known?.thread ?? this.#controller.createCommentThread(live.uri, range, messages);
    if (!known) {
      thread.collapsibleState = comment.resolved
        ? vscode.CommentThreadCollapsibleState.Collapsed
        : vscode.CommentThreadCollapsibleState.Expanded;
      this.#shown.set(key, { thread, folder, id: comment.id });
    } else {
      if (!thread.range.isEqual(range)) thread.range = range;
      thread.comments = messages;
    }
    thread.contextValue = comment.resolved ? "resolved" : "open";
    thread.state = comment.resolved ? vscode.CommentThreadState.Resolved : vscode.CommentThreadState.Unresolved;
    thread.label = comment.resolved ? "Resolved" : "Comment";
  }

  /** A new thread, or a reply. */
  async say({ thread, text }: vscode.CommentReply): Promise<void> {
    const known = this.#find(thread);
    if (known) {
      await known.folder.server.post(`/api/comments/${known.id}/replies`, { says: text });
    } else {
      const found = this.folders.known(thread.uri);
      const live = this.folders.live(thread.uri);
      if (!found || !live) return;
      await live.waitForDelivery();
      // Of a line on which nothing is selected, all of it.
      const range = thread.range.isEmpty ? live.lineRange(thread.range.start.line) : thread.range;
      const [start, end] = [live.codePoints(range.start), live.codePoints(range.end)];
      await found.folder.server.post("/api/comments", { path: found.path, start, end, says: text });
      thread.dispose(); // the server's takes its place
    }
    await this.refresh();
  }

  async resolve(thread: vscode.CommentThread, resolved: boolean): Promise<void> {
    const known = this.#find(thread);
    if (!known) return;
    await known.folder.server.put(`/api/comments/${known.id}/state`, { resolved });
    await this.refresh();
  }

  #find(thread: vscode.CommentThread): Shown | undefined {
    return [...this.#shown.values()].find((each) => each.thread === thread);
  }
}

/** Somebody's words as they are: no link in them and no picture is the editor's to follow. */
function plain(text: string): vscode.MarkdownString {
  return new vscode.MarkdownString().appendText(text);
}

export function registerComments(folders: Folders): vscode.Disposable {
  const comments = new Comments(folders);
  let asking: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    asking ??= setTimeout(() => {
      asking = undefined;
      void comments.refresh().catch(() => {}); // the next change asks again
    }, 100);
  };
  const listening: vscode.Disposable[] = [];
  return vscode.Disposable.from(
    comments,
    folders.onDidReview(refresh),
    folders.onDidJoin((folder) => listening.push(folder.onDidChange(refresh))),
    vscode.window.onDidChangeVisibleTextEditors(refresh),
    vscode.commands.registerCommand("redraft.addComment", (reply: vscode.CommentReply) =>
      attempt(() => comments.say(reply)),
    ),
    vscode.commands.registerCommand("redraft.resolveComment", (thread: vscode.CommentThread) =>
      attempt(() => comments.resolve(thread, true)),
    ),
    vscode.commands.registerCommand("redraft.reopenComment", (thread: vscode.CommentThread) =>
      attempt(() => comments.resolve(thread, false)),
    ),
    new vscode.Disposable(() => {
      for (const each of listening) each.dispose();
      clearTimeout(asking);
    }),
  );
}
