import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

interface Finding {
  readonly check: string
  readonly isOk: boolean
  readonly isNote?: true
  readonly text: string
  readonly advice?: string
}

interface Diagnosis {
  readonly isOk: boolean
  readonly findings: readonly Finding[]
}

describe('thingwire doctor', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  async function findings(args: readonly string[], token: string | undefined, url = server.url) {
    const environment = token === undefined ? { THINGWIRE_DATA_DIR: '/nowhere' } : { THINGWIRE_TOKEN: token }
    const { code, stdout, stderr } = await runCommand(['doctor', ...args, '--json'], {
      server: { url },
      environment,
    })
    if (token !== undefined) expect(stdout + stderr).not.toContain(token)
    const { isOk, findings } = JSON.parse(stdout) as Diagnosis
    expect(code).toBe(isOk ? 0 : 1)
    for (const { isOk, isNote, advice } of findings) {
      expect(advice === undefined).toBe(isOk && isNote !== true)
    }
    return findings
  }

  async function diagnose(...asked: Parameters<typeof findings>) {
    return (await findings(...asked)).filter(({ isOk }) => !isOk).map(({ check }) => check)
  }

  async function notes(args: readonly string[]) {
    return (await findings(args, server.adminKey)).filter(({ isNote }) => isNote)
  }

  it('finds nothing wrong with a thing that gets through', async () => {
    const { thingId, thingToken } = await createThing(server)
    await write(server, { thingId, thingToken }, { values: [{ key: 'n', value: 1 }] })
    expect(await diagnose([], thingToken)).toEqual([])
    expect(await diagnose([thingId], server.adminKey)).toEqual([])
    expect(await diagnose([], server.adminKey)).toEqual([])
    expect(await notes([])).toContainEqual(expect.objectContaining({ check: 'thing' }))
  })

  it('refuses an address of the MQTT door that is none before it looks at anything', async () => {
    const told = await runCommand(['doctor', '--mqtt-url', 'foo'], { server })
    expect(told).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/--mqtt-url must be/) })
  })

  it('shows the refused writes of a thing, and one that was never heard of', async () => {
    const thing = await createThing(server)
    expect(await diagnose([thing.thingId], server.adminKey)).toEqual(['last seen'])
    await write(server, thing, { values: [{ key: 'not a key', value: 1 }] })
    expect(await diagnose([thing.thingId], server.adminKey)).toEqual(['refused write'])
  })

  it('says equal refused writes once, and notes them alone when a record was stored since', async () => {
    const thing = await createThing(server)
    for (const key of ['a b', 'a b', '$x']) await write(server, thing, { values: [{ key, value: 1 }] })
    const refused = await findings([thing.thingId], server.adminKey)
    const faults = refused.filter(({ isOk }) => !isOk)
    expect(faults.map(({ text }) => text)).toEqual([
      expect.stringContaining('unknown_magic_resource'),
      expect.stringMatching(/^2 times, last .*invalid_key/),
    ])
    await write(server, thing, { values: [{ key: 'n', value: 1 }] })
    expect(await diagnose([thing.thingId], server.adminKey)).toEqual([])
    const noted = (await notes([thing.thingId])).filter(({ check }) => check === 'refused write')
    expect(noted).toHaveLength(2)
  })

  it('notes that a thing has records and its token was never used', async () => {
    const { thingId } = await createThing(server)
    await runCommand(['write', thingId, 'n=1'], { server })
    expect(await diagnose([thingId], server.adminKey)).toEqual([])
    expect(await notes([thingId])).toContainEqual(expect.objectContaining({ check: 'last seen' }))
  })

  it('notes for the operator that credentials were refused at the doors', async () => {
    const { thingId } = await createThing(server)
    expect(await diagnose([], 'y'.repeat(43))).toEqual(['MQTT credential', 'HTTP credential'])
    const text = (await notes([thingId])).find(({ check }) => check === 'credentials')?.text
    expect(text).toMatch(/over HTTP \(invalid_session\)/)
    expect(text).toMatch(/over MQTT \(CONNACK 4\)/)
  })

  it('tries an unknown credential at both doors, and misses one', async () => {
    expect(await diagnose([], 'x'.repeat(43))).toEqual(['MQTT credential', 'HTTP credential'])
    expect(await diagnose([], undefined)).toEqual(['credential'])
  })

  it('tells a closed port, a silent door, a name that is none, and a thing that is not there', async () => {
    const { thingToken } = await createThing(server)
    expect(await diagnose([], thingToken, 'http://127.0.0.1:2')).toContain('HTTP port')
    expect(await diagnose([], thingToken, 'http://thingwire.invalid')).toEqual(['name'])
    const mqttUrl = ['--mqtt-url', server.url.replace('http:', 'mqtt:')]
    expect(await diagnose(mqttUrl, thingToken)).toEqual(['MQTT credential'])
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    expect(await diagnose(['--mqtt-url', `mqtts://127.0.0.1:${port}`], thingToken)).toEqual(['MQTT TLS'])
    expect(await diagnose(['nobody'], server.adminKey)).toEqual(['thing'])
  })
})
