import { useQuery } from "@tanstack/react-query";
import { ArrowUp, Sparkles } from "lucide-react";
import { Popover } from "radix-ui";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { errorMessage } from "@/api/client";
import { providersQuery } from "@/api/queries";
import { isTyping } from "@/review/useArrivals";
import { type CursorPrompt, show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import css from "./AskAtCursor.module.css";
import { cancelJob, sendRequest } from "./actions";
import { listQuickRequests, writeRequest } from "./cursorRequests";
import { describeProgress, headline } from "./JobProgress";
import { isBusy, type JobView } from "./jobView";
import { useJobs } from "./useJobs";

/** The agent at the cursor: say what to do there; the answer is a change in place. */
export function AskAtCursor(): ReactNode {
  const prompt = useStore((store) => store.prompt);
  return prompt ? <PromptBox key={`${prompt.path} ${prompt.startLine} ${prompt.refine}`} prompt={prompt} /> : null;
}

function PromptBox({ prompt }: { prompt: CursorPrompt }): ReactNode {
  const [typed, setTyped] = useState("");
  const [sending, setSending] = useState(false);
  const [error, setError] = useState("");
  const [jobId, setJobId] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [job] = useJobs(jobId === null ? [] : [jobId]);
  const view = job?.log.view;
  useSelectionMark(prompt);
  const anchor = useMemo(() => ({ current: { getBoundingClientRect: prompt.place } }), [prompt]);
  const close = () => {
    show({ prompt: null });
    prompt.back();
  };
  const ask = async (what: string) => {
    if (!what.trim() || sending) return;
    setSending(true);
    setError("");
    try {
      setJobId(await askHere(prompt, what.trim()));
    } catch (failure) {
      setError(errorMessage(failure));
    }
    setSending(false);
  };
  // Its change is in the text now, and is decided there.
  const done = view !== undefined && view.turn !== null && !isBusy(view.phase);
  const turn = view?.turn ?? null;
  useEffect(() => {
    if (!done || turn === null) return;
    // Whoever waited for it goes on there with the keyboard; whoever types elsewhere by now is left alone.
    show({ prompt: null, ...(!isTyping() && { arrived: { path: prompt.path, turn, focus: true } }) });
  }, [done, turn, prompt]);
  const label = prompt.refine === undefined ? "Ask the agent here" : "Refine this change";
  return (
    <Popover.Root open onOpenChange={(opened) => opened || close()}>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          className={css.box}
          aria-label={label}
          side="bottom"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          updatePositionStrategy="always"
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            field.current?.focus();
          }}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {jobId === null ? (
            <>
              <div className={css.writing}>
                <Sparkles size={15} aria-hidden className={css.icon} />
                <textarea
                  ref={field}
                  className={css.field}
                  rows={1}
                  value={typed}
                  aria-label={label}
                  placeholder={placeholderOf(prompt)}
                  onChange={(event) => setTyped(event.target.value)}
                  onKeyDown={(event) => {
                    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
                    event.preventDefault();
                    void ask(typed);
                  }}
                />
                <IconButton
                  label="Send"
                  keys="Enter"
                  disabled={!typed.trim() || sending}
                  onClick={() => void ask(typed)}
                >
                  <ArrowUp size={15} />
                </IconButton>
              </div>
              {error ? (
                <p className={css.error} role="alert">
                  {error}
                </p>
              ) : null}
              <QuickRequests prompt={prompt} onAsk={(what) => void ask(what)} />
            </>
          ) : (
            <Outcome view={view} onCancel={() => void cancelJob(jobId)} onAgain={() => setJobId(null)} />
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Send the request: with the document and the selection, which are in front. */
function askHere(prompt: CursorPrompt, what: string): Promise<string> {
  const { path, startLine, endLine, text } = prompt;
  const { agentMode } = useStore.getState();
  // "This document" and the selection go along by themselves, as what the person has in front of them.
  show({ selection: text ? { path, startLine, endLine, text } : null });
  const mode = agentMode === "read" ? "propose" : agentMode;
  return sendRequest(writeRequest(prompt, what), [], undefined, mode);
}

function placeholderOf({ text, empty, refine }: CursorPrompt): string {
  if (refine !== undefined) return "What should be different?";
  if (text) return "What to do with the selection";
  return empty ? "What to write here" : "What to do here";
}

function QuickRequests({ prompt, onAsk }: { prompt: CursorPrompt; onAsk: (what: string) => void }): ReactNode {
  const model = useStore((store) => store.agentModel);
  const { data } = useQuery(providersQuery);
  const offline = model === "offline" || (model === "" && data?.default.provider === "offline");
  const requests = listQuickRequests(prompt);
  if (offline) {
    return (
      <p className={css.hint}>
        No model is set up, so the offline assistant answers. It can rename, replace, append and count; it cannot write.
      </p>
    );
  }
  if (requests.length === 0) return null;
  return (
    <ul className={css.chips} aria-label="Quick requests">
      {requests.map(({ label, ask }) => (
        <li key={label}>
          <Button small onClick={() => onAsk(ask)}>
            {label}
          </Button>
        </li>
      ))}
    </ul>
  );
}

interface OutcomeProps {
  view: JobView | undefined;
  onCancel: () => void;
  onAgain: () => void;
}

/** What the agent does with the request; and its words, if it changed nothing. */
function Outcome({ view, onCancel, onAgain }: OutcomeProps): ReactNode {
  if (!view || (isBusy(view.phase) && view.phase !== "waiting")) {
    return (
      <div className={css.working} role="status">
        <span className={css.grow}>{view ? `${headline(view)} · ${describeProgress(view)}` : "Starting…"}</span>
        <Button small onClick={onCancel}>
          Cancel
        </Button>
      </div>
    );
  }
  const words = view.parts.findLast((part) => part.kind === "words");
  const text =
    view.phase === "waiting"
      ? "The agent has a question."
      : (view.failure?.reason ?? (words?.kind === "words" ? words.text : "The agent changed nothing."));
  return (
    <div className={css.outcome} role="status">
      <p className={css.answer}>{text}</p>
      <div className={css.working}>
        <span className={css.grow} />
        <Button small look="quiet" onClick={() => show({ prompt: null, agentOpen: true })}>
          Open the chat
        </Button>
        {view.phase === "waiting" ? null : (
          <Button small onClick={onAgain}>
            Ask again
          </Button>
        )}
      </div>
    </div>
  );
}

/** Keeps the selected words marked while the box has the focus: a browser shows one selection only. */
function useSelectionMark({ text }: CursorPrompt): void {
  useEffect(() => {
    const selection = getSelection();
    if (!text || !selection?.rangeCount || !("highlights" in CSS)) return;
    CSS.highlights.set("asked", new Highlight(selection.getRangeAt(0).cloneRange()));
    return () => void CSS.highlights.delete("asked");
  }, [text]);
}
