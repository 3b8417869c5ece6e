import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Endpoint, Snippet } from '../../../web/src/thing/connect/snippet.ts'
import { curl } from '../../../web/src/thing/connect/snippets/curl.ts'
import { snippets } from '../../../web/src/thing/connect/snippets/index.ts'
import { micropython } from '../../../web/src/thing/connect/snippets/micropython.ts'
import { mosquitto } from '../../../web/src/thing/connect/snippets/mosquitto.ts'
import { node } from '../../../web/src/thing/connect/snippets/node.ts'
import { python } from '../../../web/src/thing/connect/snippets/python.ts'
import { type Ending, Program } from '../../clients/program.ts'
import { serve } from '../../clients/serve.ts'
import { storedValues } from '../../clients/stored.ts'
import { createThing, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const server = serve()
const python3 = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }
const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const succeeded = { code: 0, signal: null }

describe('snippets', () => {
  it.each([
    ['curl', curl, 'curl'],
    ['mosquitto_pub', mosquitto, 'mosquitto-clients'],
  ])('%s stores a value', async (_name, snippet, debianPackage) => {
    const thing = await createThing(server())
    const shell = { command: 'sh', debianPackage }
    expect(await new Program(shell, ['-c', snippet.text(endpointOf(thing))]).ended).toMatchObject(succeeded)
    expect(await storedValues(server(), thing, 'temperature')).toEqual([21.5])
  })

  it('curl says the status, and nothing of its progress', async () => {
    const shell = { command: 'sh', debianPackage: 'curl' }
    const { output } = await new Program(shell, ['-c', curl.text(endpointOf(await createThing(server())))])
      .ended
    expect(output).toBe('{"status":"created","message":"created"} HTTP 201\n')
  })

  it('Python stores a value', async () => {
    const thing = await createThing(server())
    expect(await runPython(endpointOf(thing))).toMatchObject(succeeded)
    expect(await storedValues(server(), thing, 'temperature')).toEqual([21.5])
  })

  it('Node stores a value', async () => {
    const thing = await createThing(server())
    expect(await runNode(endpointOf(thing))).toMatchObject(succeeded)
    expect(await storedValues(server(), thing, 'temperature')).toEqual([21.5])
  })

  it('Python and Node say at once that the token is wrong', async () => {
    const endpoint = { ...endpointOf(await createThing(server())), token: 'YOUR_THING_TOKEN' }
    const ended = await Promise.all([runPython(endpoint), runNode(endpoint)])
    for (const { code, output } of ended) {
      expect([code, output]).toEqual([1, expect.stringMatching(/^(no connection: .*)\n$/)])
    }
  })

  it('Python sends no NaN, and nothing promises that a write was not refused', async () => {
    const endpoint = endpointOf(await createThing(server()))
    const broken = { ...python, text: (at: Endpoint) => python.text(at).replace('21.5', 'float("nan")') }
    const { code, output } = await runPython(endpoint, broken)
    expect([code, output]).toEqual([1, expect.stringContaining('ValueError')])
    for (const { text, tls } of snippets) if (tls) expect(text(endpoint)).not.toMatch(/['"]stored['"]/)
  })

  it('MicroPython compiles', async () => {
    const { file } = await save(micropython, 'main.py', endpointOf(await createThing(server())))
    expect(await new Program(python3, ['-m', 'py_compile', file]).ended).toMatchObject(succeeded)
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

async function runPython(endpoint: Endpoint, snippet = python): Promise<Ending> {
  const { file } = await save(snippet, 'write.py', endpoint)
  return await new Program(python3, [file]).ended
}

async function runNode(endpoint: Endpoint): Promise<Ending> {
  const { file, directory } = await save(node, 'write.mjs', endpoint)
  await symlink(nodeModules, join(directory, 'node_modules'))
  return await new Program({ command: process.execPath, debianPackage: 'nodejs' }, [file]).ended
}

async function save({ text }: Snippet, name: string, endpoint: Endpoint) {
  const directory = await temporaryDirectory(onTestFinished)
  const file = join(directory, name)
  await writeFile(file, text(endpoint))
  return { file, directory }
}
