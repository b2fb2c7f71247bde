// Lamina's side in DeepSeek Harness: it tells the `hook` command of a Lamina store what happens, and gives
// the model what that command answers. Whatever goes wrong here, the turn goes on without memory.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const name = 'lamina'

export const inject = ['agents', 'sessions']

const LIMIT_MS = 4000
const REST_MS = 60_000 // after an answer that did not come in time, none is waited for
const MOST_CHARS = 1_000_000
const MOST_PROMPT = 100_000
const TOOLS = 'mcp__lamina__memory_'
const FILE = /^session(?:\.v([1-9]\d{0,3}))?\.jsonl(?:\.zstd)?$/
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/

// A Standard Schema of its own: `hook`, the path of a store's hook command, and `recall`, whether memory is
// asked before every tool call.
export const Config = {
  '~standard': {
    version: 1,
    vendor: 'lamina',
    validate(value) {
      const { hook, recall } = value ?? {}
      if (hook !== undefined && typeof hook !== 'string') {
        return { issues: [{ message: 'hook is not a path', path: ['hook'] }] }
      }
      return { value: { hook, recall: recall === true } }
    },
  },
}

export function apply(ctx, config) {
  const hook = hookOf(config)
  const running = new Set()
  const known = new Map()
  let restUntil = 0

  // Runs `hook dsh EVENT`; resolves with its answer, {} when there is none in time. Never rejects.
  const tell = (event, session, more, { signal, until = Date.now() + LIMIT_MS, answers = false } = {}) => {
    if (answers && Date.now() < restUntil) return Promise.resolve({})
    const late = () => {
      restUntil = Date.now() + REST_MS
    }
    const asked = ask(hook, event, payloadOf(session, more), { signal, until, answers, late })
    running.add(asked)
    return asked.finally(() => running.delete(asked))
  }
  const stateOf = (session) => {
    if (!known.has(session)) known.set(session, { started: false, forgotten: false })
    return known.get(session)
  }

  const contextsFor = async ({ agent, messages, step, signal }) => {
    const session = agent.session
    const state = stateOf(session)
    const limits = { signal, until: Date.now() + LIMIT_MS, answers: true }
    const found = []
    if (!state.started || state.forgotten) {
      Object.assign(state, { started: true, forgotten: false })
      const event = depthOf(session) > 0 ? 'subagent' : 'start'
      found.push((await tell(event, session, {}, limits)).additionalContext)
    }
    const typed = messages.filter((message) => message.source?.kind === 'user')
    if (step === 1 && typed.length > 0 && depthOf(session) === 0) {
      const prompt = typed.map((message) => textOf(message.content)).join('\n')
      const said = { prompt: prompt.slice(0, MOST_PROMPT), prompt_id: typed[0].id }
      found.push((await tell('prompt', session, said, limits)).additionalContext)
    }
    return found.filter((text) => typeof text === 'string' && text !== '')
  }

  ctx.on('agent/pre-step', async (payload, next) => {
    const decision = await next()
    try {
      if (decision.kind === 'reject' || payload.signal.aborted) return decision
      if (payload.step === 1 && decision.messages.length === 0) return decision
      const texts = await contextsFor(payload)
      if (texts.length === 0) return decision
      return { ...decision, messages: [...decision.messages, ...texts.map(messageOf)] }
    } catch (problem) {
      warn(ctx, problem)
      return decision
    }
  })

  ctx.on('tools/pre-execute', async (exec, next) => {
    try {
      const session = exec.agent?.session
      if (session !== undefined && (config?.recall || exec.name.startsWith(TOOLS))) {
        const call = { tool_name: exec.name, tool_input: exec.arguments }
        const answer = await tell('tool', session, call, { signal: exec.signal, answers: true })
        if (answer.permissionDecision === 'deny') {
          return { kind: 'deny', reason: String(answer.permissionDecisionReason ?? 'refused') }
        }
        if (answer.additionalContext) exec.agent.inject(messageOf(answer.additionalContext))
      }
    } catch (problem) {
      warn(ctx, problem)
    }
    return next()
  })

  ctx.on('session/event', (session, event) => {
    try {
      if (depthOf(session) > 0) return
      if (event.type === 'turn/end') tell('turn', session)
      if (event.type === 'compaction/start') tell('compact', session)
      if (event.type === 'compaction/end' && !event.data?.error) stateOf(session).forgotten = true
    } catch (problem) {
      warn(ctx, problem)
    }
  })

  const end = (session) => {
    try {
      const begun = known.get(session)?.started
      known.delete(session)
      if (begun && depthOf(session) === 0) tell('end', session)
    } catch (problem) {
      warn(ctx, problem)
    }
  }
  ctx.on('session/disposed', end)

  // The host takes its plugins down before its sessions when it ends.
  ctx.effect(() => async () => {
    for (const session of [...known.keys()]) end(session)
    await Promise.allSettled([...running])
  })
}

// The configured hook, the one of the store that this package lies in, or that of the default store.
function hookOf(config) {
  if (config?.hook) return config.hook
  const beside = fileURLToPath(new URL('../../../bin/hook', import.meta.url))
  const root = process.env.LAMINA_ROOT || join(homedir(), '.lamina')
  return existsSync(beside) ? beside : join(root, 'state', 'bin', 'hook')
}

function depthOf(session) {
  const { delegationDepth, origin, parentSession, isSeeded } = session.header
  if (delegationDepth > 0) return delegationDepth
  return origin === 'subagent' || (parentSession !== undefined && !isSeeded) ? 1 : 0
}

function payloadOf(session, more) {
  const { id, cwd } = session.header
  return { session_id: id, cwd, transcript_path: transcriptOf(id), depth: depthOf(session), ...more }
}

// Where the session is kept, '' if that is not where it is by default.
function transcriptOf(id) {
  const root = join(process.env.DSH_HOME || join(homedir(), '.dsh'), 'sessions')
  if (!SEGMENT.test(id)) return ''
  try {
    for (const project of readdirSync(root)) {
      const folder = join(root, project, id)
      if (!existsSync(folder)) continue
      const age = (file) => Number(FILE.exec(file)[1] ?? 0)
      const files = readdirSync(folder).filter((file) => FILE.test(file))
      const newest = files.sort((one, other) => age(other) - age(one))[0]
      if (newest !== undefined) return join(folder, newest)
    }
  } catch {
    return ''
  }
  return ''
}

function textOf(content) {
  if (typeof content === 'string') return content
  const blocks = Array.isArray(content) ? content : []
  return blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n')
}

function messageOf(text) {
  const source = { kind: 'lamina', form: 'recall' }
  return { role: 'user', content: [{ type: 'text', text }], source, id: randomUUID() }
}

function ask(hook, event, payload, { signal, until, answers, late }) {
  return new Promise((resolve) => {
    let child
    let text = ''
    const done = (answer) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve(answer)
    }
    const stop = () => {
      child?.kill('SIGKILL')
      child?.stdin?.destroy() // what the hook started may hold on to its ends: nothing waits for it
      child?.stdout?.destroy()
      child?.unref()
      done({})
    }
    const timer = setTimeout(() => {
      late()
      stop()
    }, Math.max(0, until - Date.now()))
    try {
      signal?.addEventListener('abort', stop, { once: true })
      const stdio = ['pipe', answers ? 'pipe' : 'ignore', 'ignore']
      // What only takes note is not interrupted together with the host.
      child = spawn(hook, ['dsh', event], { stdio, detached: !answers, windowsHide: true })
      child.on('error', () => done({}))
      child.on('close', () => done(parsed(text)))
      child.stdin.on('error', () => {})
      child.stdout?.setEncoding('utf8').on('data', (piece) => {
        if (text.length <= MOST_CHARS) text += piece
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done({})
    }
  })
}

function parsed(text) {
  try {
    const answer = text.length > MOST_CHARS ? {} : JSON.parse(text || '{}')
    return typeof answer === 'object' && answer !== null ? answer : {}
  } catch {
    return {}
  }
}

function warn(ctx, problem) {
  ctx.logger?.warn?.(`lamina: ${problem?.message ?? problem}`)
}
