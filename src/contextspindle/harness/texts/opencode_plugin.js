// contextspindle: this file is written by 'contextspindle setup'
// for OpenCode 1; it is replaced as a whole, and 'contextspindle setup opencode --remove' takes it away.
// version @VERSION@, folders made for it: @FOLDERS@
//
// Before a compaction the session's messages are handed to our command, which saves an extract of
// them. After it, and at the start of a session, the text that our command prints is added to what
// the model is sent, and to nothing that is stored. Whatever goes wrong here, OpenCode goes on as if
// this file were not there: no hook raises, and each waits for a bounded time.

import { spawn } from "node:child_process"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const COMMAND = @COMMAND@
const WAIT = 6000 // milliseconds for one answer; our command ends by itself before that
const ALL = 10000 // milliseconds that OpenCode waits for us at the most
const OUTPUT = 1 << 20 // bytes of an answer at the most
const SESSIONS = 100 // sessions whose text is kept
const TRIES = 3 // times that the text after a compaction is asked for, while there is none

export const ContextSpindle = async ({ client, directory }) => {
  // Session: what it was given, for which compaction, whether it was saved before that, and whether
  // it was before the next one.
  const known = new Map()
  const compacting = new Set() // sessions whose next request is for a summary
  let complained = false

  const complain = async (message) => {
    if (complained) return
    complained = true
    try {
      await client.app.log({ body: { service: "contextspindle", level: "warn", message } })
    } catch {}
  }

  // What our command answers to a payload: its text, an empty one if it has none to give, or null
  // if it failed.
  const ask = (words, payload) =>
    new Promise((resolve) => {
      const child = spawn(COMMAND, [...words, "--harness", "opencode"], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      })
      const pieces = []
      let size = 0
      const end = (text, problem) => {
        clearTimeout(clock)
        child.stdout?.destroy()
        if (problem) complain(`${words.join(" ")}: ${problem}`)
        resolve(text)
      }
      const stop = (problem) => {
        child.kill("SIGKILL")
        end(null, problem)
      }
      const clock = setTimeout(() => stop("no answer in time"), WAIT)
      child.on("error", (error) => end(null, error.message))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (piece) => {
        size += piece.length
        pieces.push(piece)
        if (size > OUTPUT) stop("too long an answer")
      })
      child.on("close", (status) => {
        const said = Buffer.concat(pieces).toString("utf8").trim()
        if (status !== 0) return end(null, `status ${status}`)
        if (!said) return end("")
        try {
          const { text } = JSON.parse(said)
          end(typeof text === "string" ? text : "")
        } catch {
          end(null, "an answer of another form")
        }
      })
      child.stdin.end(JSON.stringify(payload))
    })

  // No longer than that: whoever is late has had their chance.
  const within = (promise) => {
    let clock
    const late = new Promise((_, reject) => {
      clock = setTimeout(() => reject(new Error("it took too long")), ALL)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(clock))
  }

  const session = async (id) => (await client.session.get({ path: { id } })).data ?? {}

  // What of a message is read: a picture is not, wherever it hangs. What anybody wrote is.
  const line = ({ info, parts }) =>
    JSON.stringify({ info, parts }, (_, value) =>
      value?.type === "file" && String(value.url).startsWith("data:")
        ? { ...value, url: "" }
        : value,
    ) + "\n"

  // Save an extract of the session, as it was before the message `until` if that is given.
  const save = async (id, until) => {
    const found = (await client.session.messages({ path: { id } })).data ?? []
    const end = until ? found.findIndex(({ info }) => info.id === until) : -1
    const folder = await mkdtemp(join(tmpdir(), "contextspindle-"))
    try {
      const path = join(folder, "handed.jsonl")
      const file = await open(path, "wx", 0o600)
      try {
        for (const message of end < 0 ? found : found.slice(0, end)) await file.write(line(message))
      } finally {
        await file.close()
      }
      const { directory: cwd = directory } = await session(id)
      const payload = { session_id: id, cwd, transcript_path: path }
      return await ask(["fuse", "save"], { ...payload, hook_event_name: "session.compacting" })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  const restore = async (id, compaction, entry) => {
    const { directory: cwd = directory, parentID } = await session(id)
    if (!compaction && parentID) return "" // a subagent has a task of its own
    if (compaction && !entry.saved) entry.saved = (await save(id, compaction.parent)) !== null
    const text = await ask(["fuse", "restore"], {
      hook_event_name: compaction ? "session.compacted" : "session.start",
      session_id: id,
      cwd,
      source: compaction ? "compact" : "startup",
      summary: compaction?.summary ?? "",
    })
    return text ?? ""
  }

  // The text for a session at this point; the same one until the next compaction. After one there
  // always is a record: while it does not come, it is asked for again, but not for ever.
  const textFor = (id, compaction) => {
    const before = known.get(id)
    const again = before?.text && before.at === compaction?.id
    if (again && !(compaction && before.missing && before.tries < TRIES)) return before.text
    const saved = again ? before.saved : before?.next
    const entry = { at: compaction?.id, saved, tries: again ? before.tries + 1 : 1 }
    entry.text = within(restore(id, compaction, entry))
      .catch(async (error) => {
        await complain(String(error))
        return ""
      })
      .then((text) => {
        entry.missing = !text || !entry.saved
        return text
      })
    remember(id, entry)
    return entry.text
  }

  const remember = (id, what) => {
    known.delete(id)
    known.set(id, what)
    if (known.size > SESSIONS) known.delete(known.keys().next().value)
  }

  return {
    "experimental.session.compacting": async ({ sessionID }, output) => {
      let facts = null
      try {
        compacting.add(sessionID)
        facts = await within(save(sessionID))
        if (facts) output.context.push(facts)
      } catch (error) {
        await complain(String(error))
      }
      remember(sessionID, { ...known.get(sessionID), next: facts !== null })
    },

    "experimental.chat.messages.transform": async (_, { messages }) => {
      try {
        const id = messages[0]?.info.sessionID
        if (!id) return
        const summary = messages.findLast(
          ({ info }) => info.role === "assistant" && info.summary && info.finish && !info.error,
        )
        if (compacting.delete(id) && !summary) return // this one is for the summary itself
        const compaction = summary && {
          id: summary.info.id,
          parent: summary.info.parentID,
          summary: summary.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
        }
        const text = await textFor(id, compaction)
        const asked = messages.findIndex(({ info }) => info.id === compaction?.parent)
        const at = asked < 0 ? messages.findIndex(({ info }) => info.role === "user") : asked
        if (!text || at < 0) return
        const { info, parts } = messages[at]
        const part = { type: "text", id: "prt_contextspindle", sessionID: id, messageID: info.id }
        messages[at] = { info, parts: [...parts, { ...part, text, synthetic: true }] }
      } catch (error) {
        await complain(String(error))
      }
    },
  }
}
