// Stands for the host's runtime: mounts the plugin, lets a session happen, and prints what came of it.
import { pathToFileURL } from 'node:url'

const [file, config, header] = process.argv.slice(2)
const plugin = await import(pathToFileURL(file).href)
const listeners = {}
const closers = []
const warnings = []
const ctx = {
  on: (name, listener) => (listeners[name] = listener),
  effect: (setup) => closers.push(setup()),
  logger: { warn: (text) => warnings.push(text) },
}
const checked = plugin.Config['~standard'].validate(JSON.parse(config))
plugin.apply(ctx, checked.value)

const said = (kind, text, id) => ({ role: 'user', content: [{ type: 'text', text }], source: { kind }, id })
const session = { header: JSON.parse(header) }
const injected = []
const agent = { session, inject: (message) => injected.push(message) }
const signal = new AbortController().signal
const step = async (number, ...messages) => {
  const decision = { kind: 'enter', messages, startsRequestSeries: true }
  const payload = { agent, messages, turn: 1, step: number, signal }
  return listeners['agent/pre-step'](payload, async () => decision)
}
const call = (name) => {
  const exec = { callId: 'c', name, arguments: { text: 'x', command: 'ls' }, agent, signal }
  return listeners['tools/pre-execute'](exec, async () => ({ kind: 'allow' }))
}
const happen = (type, data = {}) => listeners['session/event'](session, { type, seq: 1, time: 1, data })

const begun = Date.now()
const first = await step(1, said('user', 'Fix it.', 'm1'), said('runtime-context', 'snapshot', 'm2'))
const waited = Date.now() - begun
const second = await step(2)
const write = await call('mcp__lamina__memory_remember')
const other = await call('bash')
happen('turn/end')
happen('compaction/start')
happen('compaction/end', { error: 'no' })
const failed = await step(1, said('user', 'Go on.', 'm3'))
happen('compaction/end')
const after = await step(2)
const empty = await step(1)
if (!session.header.left) listeners['session/disposed'](session)
listeners['session/event']({}, { type: 'turn/end' })
const strange = await listeners['agent/pre-step']({}, async () => ({ kind: 'enter' }))
await Promise.all(closers.map((close) => close()))

const told = ({ messages }) => messages.map((message) => message.content[0].text)
const steps = { first: told(first), second: told(second), failed: told(failed), after: told(after), empty: told(empty) }
const kept = [first, second].every((decision) => decision.startsRequestSeries)
const message = first.messages.at(-1)
console.log(JSON.stringify({ steps, write, other, injected, waited, kept, message, warnings, strange }))
