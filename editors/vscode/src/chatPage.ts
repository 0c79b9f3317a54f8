/** The page of the agent's view. All words in it are put there as text. */

export interface Entry {
  kind: "asked" | "words" | "note" | "thought" | "call" | "failed" | "change" | "foot";
  text: string;
}

export interface ChatState {
  entries: Entry[];
  busy: boolean;
  question: { id: string; yesOrNo: boolean; text: string; details: string[] } | null;
  document: string;
}

export type FromPage =
  | { kind: "ready" }
  | { kind: "ask"; text: string }
  | { kind: "stop" }
  | { kind: "confirm"; id: string; allow: boolean }
  | { kind: "clarify"; id: string; text: string };

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

function begin(): void {
  const editor = acquireVsCodeApi();
  const [log, asking, form, field, send, about] = ["log", "question", "composer", "text", "send", "about"].map((id) =>
    document.getElementById(id),
  );
  if (!log || !asking || !form || !(field instanceof HTMLTextAreaElement) || !send || !about) return;
  let state: ChatState = { entries: [], busy: false, question: null, document: "" };

  const submit = () => {
    const text = field.value.trim();
    if (state.question && !state.question.yesOrNo && text)
      editor.postMessage({ kind: "clarify", id: state.question.id, text });
    else if (state.busy) editor.postMessage({ kind: "stop" });
    else if (text) editor.postMessage({ kind: "ask", text });
    if (!state.busy || state.question) field.value = "";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!state.busy || state.question) submit();
  });

  const button = (label: string, act: () => void) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  };
  const paragraph = (text: string, name: string) => {
    const made = document.createElement("p");
    made.className = name;
    made.textContent = text;
    return made;
  };

  const draw = () => {
    const down = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.replaceChildren(...state.entries.map(({ kind, text }) => paragraph(text, kind)));
    if (state.entries.length === 0) log.append(paragraph("Ask for a change: it waits for your review.", "empty"));
    if (down) log.scrollTop = log.scrollHeight;
    const { question } = state;
    asking.hidden = question === null;
    asking.replaceChildren();
    if (question) {
      asking.append(paragraph(question.text, "asks"), ...question.details.map((each) => paragraph(each, "detail")));
      const say = (allow: boolean) => editor.postMessage({ kind: "confirm", id: question.id, allow });
      if (question.yesOrNo)
        asking.append(
          button("Allow", () => say(true)),
          button("Do not allow", () => say(false)),
        );
    }
    field.placeholder = question && !question.yesOrNo ? "Your answer" : "Ask the agent";
    send.textContent = question && !question.yesOrNo ? "Answer" : state.busy ? "Stop" : "Send";
    about.textContent = state.document;
  };

  addEventListener("message", ({ data }: MessageEvent<ChatState>) => {
    state = data;
    draw();
  });
  draw();
  editor.postMessage({ kind: "ready" });
}

begin();
