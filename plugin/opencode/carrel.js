// Carrel for OpenCode. "carrel setup opencode" wrote this file; --undo takes it out again.
// It only calls "carrel hook opencode EVENT". Where that is not there, is late or fails, OpenCode
// goes on as if this file were not there.
import { spawn } from "node:child_process"
import { statSync } from "node:fs"

const program = "carrel"
const limit = 6000 // milliseconds that a call may take; carrel itself takes less
const large = 8192 // characters of a result below which nobody is asked

export default {
  id: "carrel",
  server: async (at) => {
    let absent = false
    const greeting = new Map() // what a session is told at its beginning
    const restart = new Map() // what a session is told after its compaction

    // ask returns the answer of carrel about an event, or nothing.
    const ask = (event, input) =>
      new Promise((resolve) => {
        if (absent) return resolve()
        let timer
        const end = (answer) => (clearTimeout(timer), resolve(answer))
        try {
          const child = spawn(program, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
          timer = setTimeout(() => (child.kill(), end()), limit)
          let out = ""
          child.on("error", (e) => ((absent ||= e.code === "ENOENT"), end()))
          child.stdin.on("error", () => {})
          child.stdout.setEncoding("utf8")
          child.stdout.on("data", (text) => (out += text))
          child.on("close", () => {
            try {
              end(JSON.parse(out))
            } catch {
              end()
            }
          })
          child.stdin.end(JSON.stringify(input))
        } catch {
          end()
        }
      })

    // tell tells carrel of an event, and does not wait, not even for the end of OpenCode.
    const tell = (event, input) => {
      if (absent) return
      try {
        const child = spawn(program, ["hook", "opencode", event], { stdio: ["pipe", "ignore", "ignore"], detached: true })
        child.on("error", (e) => (absent ||= e.code === "ENOENT"))
        child.stdin.on("error", () => {})
        child.stdin.end(JSON.stringify(input))
        child.unref()
      } catch {}
    }

    // whole says which file has all of a result that OpenCode has cut.
    const whole = (path) => {
      try {
        return path && { path, size: statSync(path).size }
      } catch {}
    }

    return {
      "tool.execute.before": async ({ tool, sessionID }) => {
        if (tool.startsWith("carrel_")) await ask("tool.execute.before", { sessionID })
      },
      "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
        const parts = Array.isArray(output?.content) ? output.content.filter((p) => p?.type === "text") : []
        const texts = typeof output?.output === "string" ? [output.output] : parts.map((p) => p.text)
        const file = whole(output?.metadata?.outputPath)
        if (!file && !texts.some((t) => t.length > large)) return
        const answer = await ask("tool.execute.after", { sessionID, callID, tool, args, texts, file })
        answer?.texts?.forEach((text, i) => {
          if (!text) return
          if (typeof output.output !== "string") parts[i].text = text
          else {
            output.output = text
            if (typeof output.metadata?.output === "string") output.metadata.output = text
          }
        })
      },
      "experimental.session.compacting": async ({ sessionID }, output) => {
        const answer = await ask("experimental.session.compacting", { sessionID })
        if (answer?.context) output.context.push(answer.context)
      },
      "experimental.chat.system.transform": async ({ sessionID }, output) => {
        if (!greeting.has(sessionID)) greeting.set(sessionID, ask("session.start", { sessionID, directory: at?.directory }))
        for (const said of [await greeting.get(sessionID), await restart.get(sessionID)]) if (said?.context) output.system.push(said.context)
      },
      event: async ({ event }) => {
        const sessionID = event.properties?.sessionID
        if (event.type === "session.compacted") restart.set(sessionID, ask("session.compacted", { sessionID }))
        if (event.type === "session.idle") tell("session.idle", { sessionID })
      },
    }
  },
}
