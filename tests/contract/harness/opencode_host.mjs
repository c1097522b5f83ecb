// Stands in for OpenCode around our plugin: `node opencode_host.mjs PLUGIN FOLDER < steps.json`.
// A step is a compaction (`compacting`: a session), a request (`messages`: what is sent), or a command
// that is run in between (`run`); `sessions` holds what is stored. What each step did is printed.

import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [plugin, directory] = process.argv.slice(2)
const { sessions, steps } = JSON.parse(readFileSync(0, "utf8"))
const logged = []
const client = {
  app: { log: async ({ body }) => logged.push(body) },
  session: {
    get: async ({ path: { id } }) => ({ data: sessions[id]?.info }),
    messages: async ({ path: { id } }) => {
      if (sessions[id]?.hangs) await new Promise(() => setInterval(() => {}, 1000))
      if (sessions[id]?.fails) throw new Error("no such session")
      return { data: sessions[id]?.messages }
    },
  },
}

const exported = Object.values(await import(pathToFileURL(plugin)))
const hooks = await exported[0]({ client, directory })
const told = []
for (const step of steps) {
  if (step.run) {
    const [command, ...words] = step.run
    told.push(spawnSync(command, words, { cwd: directory }).status)
  } else if (step.compacting) {
    const output = { context: [], prompt: undefined }
    await hooks["experimental.session.compacting"]({ sessionID: step.compacting }, output)
    told.push(output)
  } else {
    const messages = structuredClone(step.messages)
    await hooks["experimental.chat.messages.transform"]({}, { messages })
    told.push(messages)
  }
}
console.log(JSON.stringify({ exported: exported.length, told, logged }))
process.exit(0)
