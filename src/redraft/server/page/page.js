// Shows where the folder stands and lets the person decide. Texts are put in as text, never as markup: a document may
// say anything. The page asks this server alone, and asks again every few seconds for what changed.

const at = (id) => document.getElementById(id);
let seen = "";
let pause = 2000;

function node(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const told = await response.json();
  if (!response.ok) throw new Error(`${told.message} ${told.suggestion ?? ""}`);
  return told;
}

function say(text) {
  at("message").textContent = text;
  at("message").hidden = !text;
}

function button(label, act, kind = "") {
  const made = node("button", { type: "button", textContent: label, className: kind });
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      say((await act()) ?? "");
    } catch (error) {
      say(error.message);
    }
    made.disabled = false;
    await refresh(true);
  });
  return made;
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function lines(text, tag) {
  const parts = text.split("\n");
  if (parts.at(-1) === "") parts.pop();
  return parts.map((line) => node(tag, { textContent: line || " " }));
}

const AUTHORS = { agent: "the agent's", user: "your own", mixed: "the agent's and yours", none: "unchanged" };
const KINDS = { created: "to be created", deleted: "to be deleted", moved: "to be moved", modified: "" };

function decide(act, draft, hunks) {
  return async () => {
    const base = draft.base_file_hash ? { [draft.path]: draft.base_file_hash } : {};
    await ask(`/api/review/${act}`, { hunks: { [draft.path]: hunks }, base_file_hashes: base });
  };
}

function hunkShown(draft, hunk) {
  const about = node("span", { className: "meta" }, `line ${hunk.start_line}, ${AUTHORS[hunk.author] ?? hunk.author}`);
  if (hunk.turn) about.append(`, turn ${hunk.turn}`);
  const badges = hunk.conflict ? [node("span", { className: "badge clash", textContent: "conflict" })] : [];
  const whole = hunk.kind !== "modified";
  const acts = node("span", {},
    button(whole ? `Accept (${hunk.kind})` : "Accept", decide("accept", draft, [hunk.hunk_id])), " ",
    button("Reject", decide("reject", draft, [hunk.hunk_id]), "quiet"));
  const gone = hunk.kind === "deleted" ? lines(hunk.base, "del") : lines(hunk.base, "del").concat(lines(hunk.working, "ins"));
  const text = hunk.kind === "moved" ? [`${draft.base_path} → ${draft.path}`] : gone;
  return node("div", { className: "hunk" }, node("div", { className: "bar" }, node("span", {}, about, " ", ...badges), acts),
    node("div", { className: "diff" }, ...text));
}

function draftShown(draft) {
  const title = node("h3", {}, draft.path, " ");
  if (KINDS[draft.kind]) title.append(node("span", { className: "badge", textContent: KINDS[draft.kind] }));
  if (draft.unsaved && draft.kind === "modified") title.append(" ", node("span", { className: "badge", textContent: "not saved" }));
  const acts = node("span", {});
  if (draft.hunks.length > 1) {
    acts.append(button("Accept all", decide("accept", draft, null)), " ", button("Reject all", decide("reject", draft, null), "quiet"));
  }
  return node("article", {}, node("header", {}, title, acts), ...draft.hunks.map((hunk) => hunkShown(draft, hunk)));
}

async function undo(turn) {
  const done = await ask("/api/turns/undo", { turn });
  if (done.conflicts.length) {
    const places = done.conflicts.map((clash) => `${clash.path}: ${clash.reason}`).join("; ");
    return `Turn ${turn} cannot be taken back: ${places}.`;
  }
  return `Turn ${turn} was taken back; undo turn ${done.turn.turn} to bring it again.`;
}

function turnShown(turn) {
  const when = new Date(turn.created * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
  const what = node("span", { className: "what" }, turn.title, node("br"),
    node("small", { textContent: `${turn.turn} · ${turn.author.name} · ${when} · ${turn.state}` }));
  const stands = turn.state === "applied" && turn.kind !== "propose" && !turn.pruned;
  return node("li", {}, what, ...(stands ? [button("Undo", () => undo(turn.turn), "quiet")] : []));
}

async function read(path) {
  const found = await ask(`/api/documents?path=${encodeURIComponent(path)}`);
  at("reader-title").textContent = path;
  at("reader-text").textContent = found.content + (found.next_offset === null ? "" : "\n…");
  at("reader").showModal();
}

function entryShown(entry) {
  const open = button(entry.path, () => read(entry.path), "link what");
  return node("li", {}, open, node("small", { textContent: size(entry.size) }));
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function fill(id, nodes, empty) {
  const filled = nodes.length ? nodes : [node(at(id).tagName === "DIV" ? "p" : "li", { className: "empty", textContent: empty })];
  at(id).replaceChildren(...filled);
}

async function refresh(now = false) {
  const state = await ask("/api/workspace");
  const mark = JSON.stringify(state);
  if (mark === seen && !now) return;
  const [review, turns, tree] = await Promise.all([ask("/api/review"), ask("/api/turns?limit=15"), ask("/api/tree")]);
  seen = mark;
  document.title = `${state.name} · Redraft`;
  at("name").textContent = state.name;
  const waiting = state.pending.length ? `${counted(state.pending.length, "document")} waiting for you` : "nothing waits for you";
  const who = state.caller.name === "you" ? "" : ` · ${state.caller.name}, ${state.caller.role}`;
  at("standing").textContent = `${waiting} · mode ${state.mode}${who}`;
  at("notices").replaceChildren(...state.notices.map((notice) => node("li", { textContent: notice })));
  fill("drafts", review.documents.map(draftShown), "Nothing is pending. What an agent proposes will stand here, hunk by hunk.");
  fill("turns", turns.turns.map(turnShown), "Nothing was done yet.");
  fill("documents", tree.entries.filter((entry) => entry.kind === "file").map(entryShown), "There are no documents yet.");
}

async function look() {
  try {
    await refresh();
    pause = 2000;
  } catch (error) {
    say(`The server does not answer: ${error.message}`);
    pause = Math.min(pause * 2, 30000);
  }
  setTimeout(look, pause);
}

look();
