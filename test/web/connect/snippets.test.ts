import { describe, expect, it } from 'vitest'
import type { Endpoint, Snippet } from '../../../web/src/thing/connect/snippet.ts'
import { curl } from '../../../web/src/thing/connect/snippets/curl.ts'
import { snippets } from '../../../web/src/thing/connect/snippets/index.ts'
import { micropython } from '../../../web/src/thing/connect/snippets/micropython.ts'
import { mosquitto } from '../../../web/src/thing/connect/snippets/mosquitto.ts'
import { node } from '../../../web/src/thing/connect/snippets/node.ts'
import { python } from '../../../web/src/thing/connect/snippets/python.ts'
import { storedValues, valuesOnceStored } from '../../clients/stored.ts'
import type { Exit } from '../../helpers/child.ts'
import { createThing, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { serverOfTests } from '../../helpers/of-test.ts'
import { debianPython, runsOf, startProgram } from './device-program.ts'

const server = serverOfTests()
const succeeded = { code: 0, signal: null }

describe('snippets', () => {
  it.each([
    ['curl', curl],
    ['mosquitto_pub', mosquitto],
  ])('%s stores a value, and ends', async (_name, snippet) => {
    const thing = await createThing(server())
    expect(await run(snippet, endpointOf(thing))).toMatchObject(succeeded)
    expect(await storedValues(server(), thing, 'temperature')).toEqual([21.5])
  })

  it.each([
    ['MicroPython', micropython],
    ['Python', python],
    ['Node', node],
  ])('%s stores values, one after another', async (_name, snippet) => {
    const thing = await createThing(server())
    const endpoint = endpointOf(thing)
    const text = snippet.text(endpoint).replace(/sleep\(10(_000)?\)/, 'sleep(0)')
    await startProgram(snippet, endpoint, { text })
    const values = await valuesOnceStored(server(), thing, 'temperature', 3)
    expect(values.slice(0, 3)).toEqual([21.5, 21.5, 21.5])
  })

  it('curl says the status, and nothing of its progress', async () => {
    const { output } = await run(curl, endpointOf(await createThing(server())))
    expect(output).toBe('{"status":"created","message":"created"} HTTP 201\n')
  })

  it('Python and Node say at once that the token is wrong', async () => {
    const endpoint = { ...endpointOf(await createThing(server())), token: 'YOUR_THING_TOKEN' }
    const ended = await Promise.all([run(python, endpoint), run(node, endpoint)])
    for (const { code, output } of ended) {
      expect([code, output]).toEqual([1, expect.stringMatching(/^(no connection: .*)\n$/)])
    }
  })

  it('curl and mosquitto_pub end at once with a status that says that the token is wrong', async () => {
    const endpoint = { ...endpointOf(await createThing(server())), token: 'YOUR_THING_TOKEN' }
    const ended = await Promise.all([run(curl, endpoint), run(mosquitto, endpoint)])
    expect(ended).toMatchObject([
      { code: 1, output: expect.stringMatching(/ HTTP 40[14]\n$/) },
      { code: 1, output: expect.stringContaining('bad user name or password') },
    ])
  })

  it('curl sends what is refused once, and says so', async () => {
    const thing = await createThing(server())
    const endpoint = endpointOf(thing)
    const program = await startProgram(curl, endpoint, { text: withBadKey(curl, endpoint) })
    expect(await program.exited).toMatchObject({ code: 1, output: expect.stringMatching(/ HTTP 400\n$/) })
    expect(await refusals(thing)).toHaveLength(1)
  })

  it('MicroPython sends what is refused once, says so, and goes on', async () => {
    const thing = await createThing(server())
    const endpoint = endpointOf(thing)
    const text = micropython.text(endpoint).replace('"value": 21.5', '"value": [None, 21.5][count > 1]')
    const program = await startProgram(micropython, endpoint, {
      text: text.replace('sleep(10)', 'sleep(0)'),
    })
    await program.said(/not stored: 400/)
    await valuesOnceStored(server(), thing, 'temperature', 1)
    expect(await refusals(thing)).toHaveLength(1)
  })

  it.each([
    ['Python', python, '[float("nan"), 21.5][int(time.time() * 1000) % 2]'],
    ['Node', node, '[Number.NaN, 21.5][Date.now() % 2]'],
  ])('%s sends no NaN, and goes on', async (_name, snippet, sensor) => {
    const thing = await createThing(server())
    const endpoint = endpointOf(thing)
    const text = snippet
      .text(endpoint)
      .replace(/sleep\(10(_000)?\)/, 'sleep(0)')
      .replace('temperature = 21.5', `temperature = ${sensor}`)
    await startProgram(snippet, endpoint, { text })
    const values = await valuesOnceStored(server(), thing, 'temperature', 3)
    expect(new Set(values)).toEqual(new Set([21.5]))
    expect(await refusals(thing)).toEqual([])
  })

  it.each([
    ['Python', python],
    ['Node', node],
  ])('%s says that a write is stored, or why it is refused, and goes on', async (_name, snippet) => {
    const thing = await createThing(server())
    const endpoint = endpointOf(thing)
    const stored = await startProgram(snippet, endpoint)
    await stored.said(/^stored\n/)
    const text = withBadKey(snippet, endpoint).replace(/sleep\(10(_000)?\)/, 'sleep(0)')
    const refused = await startProgram(snippet, endpoint, { text })
    const [first, second] = await refused.said(/^refused: (.*)\nrefused: (.*)\n/)
    expect(await refusals(thing)).toContainEqual(expect.objectContaining({ message: first }))
    expect([first, second]).toEqual(Array(2).fill(expect.stringMatching(/^values\[0\]: key must be /)))
  })

  it('Python does not say of a refused write that it is stored, whatever Debian has of paho', async () => {
    const endpoint = endpointOf(await createThing(server()))
    const text = withBadKey(python, endpoint)
    const program = await startProgram(python, endpoint, { text, run: debianPython })
    await program.said(/^(refused: values\[0\]: key|received: if it was refused, the thing's page says why)/)
  })

  it('that cannot run in a test say so', () => {
    const untested = snippets.filter(({ delivery }) => delivery.includes('tests of Thingwire cannot run'))
    expect(untested).toEqual(snippets.filter(snippet => runsOf(snippet).length === 0))
  })

  it.each(snippets.map(snippet => [snippet.name, snippet] as const))(
    '%s names the host, the port and the token',
    (_name, { text, tls }) => {
      const endpoint = {
        host: 'board.example',
        mqttPort: 11883,
        httpUrl: 'https://board.example:8443',
        token: 'T-o_k',
      }
      expect(text(endpoint)).toContain(endpoint.token)
      if (tls === undefined) return expect(text(endpoint)).toContain(`${endpoint.httpUrl}/v2/things/`)
      expect(text(endpoint)).toContain(endpoint.host)
      expect(text(endpoint)).toContain(String(endpoint.mqttPort))
    },
  )

  it('boards may send the token as user name with an empty password, as umqtt and PubSubClient do', async () => {
    const { thingToken } = await createThing(server())
    const { connack } = await connectMqtt({ url: server().mqttUrl, username: thingToken, password: '' })
    expect(connack?.returnCode).toBe(0)
  })
})

function endpointOf({ thingToken }: Thing): Endpoint {
  const { hostname, port } = new URL(server().mqttUrl)
  return { host: hostname, mqttPort: Number(port), httpUrl: server().url, token: thingToken }
}

function withBadKey(snippet: Snippet, endpoint: Endpoint): string {
  return snippet.text(endpoint).replace(/(['"])temperature\1/, '$1no key$1')
}

async function run(snippet: Snippet, endpoint: Endpoint): Promise<Exit> {
  return await (await startProgram(snippet, endpoint)).exited
}

async function refusals({ thingToken }: Thing): Promise<readonly unknown[]> {
  const response = await fetch(`${server().url}/v2/things/${thingToken}/errors`)
  return (await response.json()) as unknown[]
}
