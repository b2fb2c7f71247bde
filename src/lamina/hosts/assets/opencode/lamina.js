// Lamina's plugin for OpenCode: tells the hook command what happens and gives the model what it prints.
// Written by `lamina install opencode`, taken away by `lamina uninstall opencode`.
// Whatever goes wrong here, the turn goes on as if there were no plugin.

import { spawn, spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const HOOK = "@HOOK@"
const RECALL = "@RECALL@" === "true"
const HOST = "opencode"
const START_MS = 5000
const QUICK_MS = 2500
const WRITES = /(^|_)lamina_memory_(@WRITING@)$/
const ACTS = new Set(["bash", "edit", "write", "patch", "multiedit", "apply_patch"])
const CARD = "## Lamina memory"
const MOST = 200

const data = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode", "opencode.db")

function answer(text) {
  try {
    return JSON.parse(text).hookSpecificOutput ?? {}
  } catch {
    return {}
  }
}

// Ask the hook and wait for its answer, for a limited time.
function ask(event, payload, limit) {
  return new Promise((resolve) => {
    let text = ""
    let timer
    const done = () => {
      clearTimeout(timer)
      resolve(answer(text))
    }
    try {
      const child = spawn(HOOK, [HOST, event], { stdio: ["pipe", "pipe", "ignore"] })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        done()
      }, limit)
      child.on("error", done)
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => (text += part))
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done()
    }
  })
}

// Tell the hook what nothing has to be shown for; the process may end right after a turn.
function tell(event, payload) {
  try {
    spawnSync(HOOK, [HOST, event], {
      input: JSON.stringify(payload),
      stdio: ["pipe", "ignore", "ignore"],
      timeout: QUICK_MS,
    })
  } catch {
    // memory is no reason to stop
  }
}

// A prompt of several words comes quoted from the command line.
function typed(parts) {
  const text = parts
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")
  try {
    const plain = JSON.parse(text)
    return typeof plain === "string" ? plain : text
  } catch {
    return text
  }
}

export const Lamina = async ({ client, directory }) => {
  const sessions = new Map() // id → { parent, card, told }

  async function parentOf(id) {
    try {
      const found = await client.session.get({ path: { id } })
      return found?.data?.parentID ?? ""
    } catch {
      return ""
    }
  }

  function session(id) {
    if (!sessions.has(id)) {
      if (sessions.size >= MOST) sessions.delete(sessions.keys().next().value)
      sessions.set(id, { parent: undefined, card: undefined, told: new Map() })
    }
    return sessions.get(id)
  }

  async function payload(id, more) {
    const known = session(id)
    known.parent ??= await parentOf(id)
    const base = { session_id: id, cwd: directory, transcript_path: join(data, id) }
    return { ...base, ...(known.parent ? { parent_id: known.parent } : {}), ...more }
  }

  // Ask for the card once a session, and again after a compaction.
  function card(id) {
    const known = session(id)
    known.card ??= payload(id, { source: "startup" })
      .then((said) => ask("start", said, START_MS))
      .then((said) => said.additionalContext ?? "")
      .catch(() => "")
    return known.card
  }

  return {
    event: async ({ event }) => {
      try {
        const { sessionID: id, info } = event.properties ?? {}
        if (event.type === "session.created" && info?.id) session(info.id).parent = info.parentID ?? ""
        if (event.type === "session.compacted" && id) session(id).card = undefined
        if (event.type === "session.deleted" && info?.id) sessions.delete(info.id)
        if (event.type === "session.idle" && id) tell("turn", await payload(id, {}))
      } catch {
        // memory is no reason to stop
      }
    },

    "chat.message": async (input, output) => {
      try {
        const id = input.sessionID
        await card(id)
        const said = await ask("prompt", await payload(id, { prompt: typed(output.parts) }), QUICK_MS)
        const text = said.additionalContext
        if (!text) return
        if (text.includes(CARD)) {
          session(id).card = Promise.resolve(text)
          return
        }
        const part = `prt_${Date.now().toString(16)}${Math.random().toString(16).slice(2, 12)}`
        output.parts.push({ id: part, sessionID: id, messageID: output.message.id, type: "text", text, synthetic: true })
      } catch {
        // memory is no reason to stop
      }
    },

    "experimental.chat.system.transform": async (input, output) => {
      try {
        const text = input.sessionID ? await card(input.sessionID) : ""
        if (text) output.system.push(text)
      } catch {
        // memory is no reason to stop
      }
    },

    "experimental.session.compacting": async (input) => {
      try {
        tell("compact", await payload(input.sessionID, {}))
      } catch {
        // memory is no reason to stop
      }
    },

    "tool.execute.before": async (input, output) => {
      let refused = ""
      try {
        const id = input.sessionID
        const writes = WRITES.test(input.tool)
        if (!writes && !(RECALL && ACTS.has(input.tool))) return
        const said = await payload(id, { tool_name: input.tool, tool_input: output.args ?? {} })
        if (writes && !said.parent_id) return
        const found = await ask("tool", said, QUICK_MS)
        if (found.permissionDecision === "deny") refused = found.permissionDecisionReason
        else if (found.additionalContext) session(id).told.set(input.callID, found.additionalContext)
      } catch {
        // memory is no reason to stop
      }
      if (refused) throw new Error(refused)
    },

    "tool.execute.after": async (input, output) => {
      try {
        const told = session(input.sessionID).told
        const text = told.get(input.callID)
        told.delete(input.callID)
        if (text && typeof output.output === "string") output.output += `\n\n${text}`
      } catch {
        // memory is no reason to stop
      }
    },
  }
}
