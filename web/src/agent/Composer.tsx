import { ArrowUp, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { errorMessage } from "@/api/client";
import { useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import { AgentOptions } from "./AgentOptions";
import { EMPTY_COMPOSER, sendComposer, updateComposer } from "./actions";
import css from "./agent.module.css";
import { ContextRows } from "./ContextRows";
import { isBusy, type Phase } from "./jobView";
import { ModelPicker } from "./ModelPicker";
import { ModePicker } from "./ModePicker";
import { QuickActions } from "./QuickActions";
import type { Session } from "./queries";

interface ComposerProps {
  session: Session | undefined;
  phase: Phase | "unknown" | "idle";
}

/** Where to write to the agent. The text stays, also after a reload, until it is sent. */
export function Composer({ session, phase }: ComposerProps): ReactNode {
  const id = useStore((store) => store.session);
  const composer = useStore((store) => store.composers[id ?? ""]) ?? EMPTY_COMPOSER;
  const [sending, setSending] = useState(false);
  const [error, setError] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const working = phase === "unknown" || isBusy(phase);
  const archived = session?.status === "archived";
  const text = composer.text.trim();
  const waiting = composer.waiting === true;

  const go = async () => {
    if (!text || archived) return;
    if (working || sending) return updateComposer(id, { waiting: true });
    setSending(true);
    setError("");
    try {
      await sendComposer(composer);
    } catch (failure) {
      setError(errorMessage(failure));
      updateComposer(useStore.getState().session, { waiting: false });
    }
    setSending(false);
  };
  const going = useRef(go);
  going.current = go;

  useEffect(() => {
    if (waiting && !working && !sending) void going.current();
  }, [waiting, working, sending]);

  // It grows with the text, up to the height that the style allows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height depends on the text
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }, [composer.text]);

  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void go();
  };

  return (
    <div className={css.composer}>
      {composer.text === "" && !isBusy(phase) ? <QuickActions /> : null}
      <ContextRows session={session} loose={composer.rows} />
      {error ? (
        <p className={css.failure} role="alert">
          {error}{" "}
          <Button small onClick={() => void go()}>
            Retry
          </Button>
        </p>
      ) : null}
      {waiting && isBusy(phase) ? (
        <p className={css.note} role="status">
          The agent is working. Your message will be sent when it finishes.{" "}
          <Button small look="quiet" onClick={() => updateComposer(id, { waiting: false })}>
            <X size={12} aria-hidden /> Don't send
          </Button>
        </p>
      ) : null}
      <div className={css.writing}>
        <textarea
          ref={field}
          id="agent-composer"
          className={css.text}
          rows={1}
          value={composer.text}
          disabled={archived}
          aria-label="Message the agent"
          placeholder={archived ? "This chat is archived." : "Ask a question or request a change"}
          onChange={(event) => updateComposer(id, { text: event.target.value, waiting: false })}
          onKeyDown={onKey}
        />
        <IconButton
          className={css.send ?? ""}
          label={isBusy(phase) ? "Send when the agent finishes" : "Send"}
          keys="Enter"
          disabled={!text || sending || archived || waiting}
          onClick={() => void go()}
        >
          <ArrowUp size={16} />
        </IconButton>
      </div>
      <div className={css.pickers}>
        <ModePicker />
        <ModelPicker />
        <AgentOptions />
      </div>
    </div>
  );
}
