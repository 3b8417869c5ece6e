import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createThing, write } from '../helpers/http-client.ts'
import { mqttOfTest, serverOfTest } from '../helpers/of-test.ts'
import { jsonOf, runCommand } from './command.ts'
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

  it('notes that a session may only read', async () => {
    const { thingId } = await createThing(server)
    const make = async (...access: string[]) =>
      await jsonOf<{ sessionToken: string }>(['sessions', 'create', thingId, ...access], { server })
    const reader = await findings([], (await make()).sessionToken)
    expect(reader.filter(({ isNote }) => isNote).map(({ text }) => text)).toEqual([
      'a session that may only read',
    ])
    const writer = await findings([], (await make('--write')).sessionToken)
    expect(writer.filter(({ isNote }) => isNote)).toEqual([])
    expect(writer.map(({ text }) => text)).toContain(
      'a session, which needs the id of the thing in each path and topic',
    )
  })

  it('says of a session in the topic of a thing what belongs there', async () => {
    const { thingId } = await createThing(server)
    const args = ['sessions', 'create', thingId, '--write']
    const { sessionToken } = await jsonOf<{ sessionToken: string }>(args, { server })
    const client = await mqttOfTest({ url: server.mqttUrl, username: 'app', password: sessionToken })
    await client.publish(`things/${sessionToken}/write`, { values: [{ key: 'n', value: 1 }] })
    const found = await findings([thingId], server.adminKey)
    expect(found.find(({ check }) => check === 'refused write')).toMatchObject({
      text: expect.stringMatching(
        /it is session [0-9a-f]{18}, which .* with a session or the admin key `things\/<thing id>\/write`/,
      ),
      advice: expect.stringMatching(/^publish as the text says/),
    })
    expect(JSON.stringify(found)).not.toContain(sessionToken)
  })

  it('notes a device without a credential that publishes on a topic of its own', async () => {
    const own = await serverOfTest()
    const device = await mqttOfTest({ url: own.mqttUrl })
    await device.publish('boat/temperature', '21.5', { qos: 0 })
    await device.untilClosed()
    const found = await findings([], own.adminKey, own.url)
    expect(found.find(({ check }) => check === 'credentials')).toMatchObject({
      isNote: true,
      text: expect.stringMatching(/1 time over MQTT \(forbidden\)/),
      advice: expect.stringMatching(/^forbidden .* must publish on things\/<token>\/write instead$/),
    })
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

  it('shows a connection of a thing that was turned away', async () => {
    const thing = await createThing(server)
    const will = { topic: 'homeassistant/status', payload: 'x', qos: 1 } as const
    const { connack } = await mqttOfTest({ url: server.mqttUrl, username: thing.thingToken, will })
    expect(connack.returnCode).toBe(5)
    const [found] = (await findings([thing.thingId], server.adminKey)).filter(({ isOk }) => !isOk)
    expect(found).toMatchObject({
      check: 'turned away',
      text: expect.stringContaining('connect_refused'),
      advice: expect.any(String),
    })
  })

  it('asks for the clock of a server to be set that is behind what is stored', async () => {
    const earlier = await serve()
    onTestFinished(earlier.end)
    const { thingId } = await createThing(earlier)
    await earlier.stop()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    const store = await openStore(createLevelStore({ location: storeLocation(earlier.dataDir) }))
    const record = { key: 'n', value: '1', datetime: Number.NaN, explicit: false, place: 0 }
    await store.records.append({ thingId, records: [record], store: true, broadcast: true, answer: {} })
    await store.close()
    vi.useRealTimers()
    const later = await serverOfTest({ dataDir: earlier.dataDir })
    const found = await findings([], later.adminKey, later.url)
    expect(found).toContainEqual(
      expect.objectContaining({ check: 'ready', isOk: false, advice: 'set the clock of the server (NTP)' }),
    )
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

  it.each([
    ['"21.5"', true],
    ['" 1e3 "', true],
    ['"-4"', true],
    ['21.5', false],
    ['"ON"', false],
    ['""', false],
    ['"21.5 C"', false],
    ['true', false],
  ])('notes a number that is sent as text: %s %s', async (value, isNoted) => {
    const thing = await createThing(server)
    await write(server, thing, { values: [{ key: 'temp', value: JSON.parse(value) }] })
    const noted = (await notes([thing.thingId])).filter(({ check }) => check === 'values')
    expect(noted).toHaveLength(isNoted ? 1 : 0)
  })

  it('notes a record that is some hours ahead', async () => {
    const thing = await createThing(server)
    const at = (ahead: number) => new Date(Date.now() + ahead).toISOString()
    const noted = async () => (await notes([thing.thingId])).filter(({ check }) => check === 'values')
    await write(server, thing, { values: [{ key: 'a', value: 1, datetime: at(60_000) }] })
    expect(await noted()).toEqual([])
    await write(server, thing, { values: [{ key: 'b', value: 1, datetime: at(7_200_000) }] })
    expect(await noted()).toMatchObject([{ text: expect.stringMatching(/^b has a record of .* ahead/) }])
  })

  it('notes for the operator that credentials were refused at the doors', async () => {
    const own = await serverOfTest()
    const found = async () =>
      (await findings([], own.adminKey, own.url)).find(({ check }) => check === 'credentials')
    expect(await diagnose([], 'y'.repeat(43), own.url)).toEqual(['MQTT credential', 'HTTP credential'])
    const { text, advice } = (await found()) ?? {}
    expect(text).toMatch(/over HTTP \(invalid_session\)/)
    expect(text).toMatch(/over MQTT \(CONNACK 4\)/)
    expect(text).not.toMatch(/CONNACK 5/)
    expect(advice).toMatch(
      /thingwire tokens add <thing>; .* thingwire sources add <name> .* thingwire sources password <name>/,
    )
    expect(advice).not.toMatch(/CONNACK/)
    const { thingToken } = await createThing(own)
    const will = { topic: 'homeassistant/status', payload: 'x', qos: 1 } as const
    await mqttOfTest({ url: own.mqttUrl, username: thingToken, will })
    expect((await found())?.advice).toMatch(/CONNACK 5 can also mean/)
  })

  it('tries an unknown credential at both doors, and misses one', async () => {
    expect(await diagnose([], 'x'.repeat(43))).toEqual(['MQTT credential', 'HTTP credential'])
    expect(await diagnose([], undefined)).toEqual(['credential'])
  })

  it('says of an unknown credential after too many others that it is unknown, and how long that holds', async () => {
    const own = await serverOfTest({ environment: { THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1' } })
    const token = 'z'.repeat(43)
    await findings([], token, own.url)
    const found = (await findings([], token, own.url)).filter(({ isOk }) => !isOk)
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /^CONNECT is refused: the credential is unknown, as were too many others from this/,
      ),
      expect.stringMatching(/^invalid_session: .* for another \d+ s; a valid one is accepted at once/),
    ])
    for (const { advice } of found)
      expect(advice).toMatch(/it may have expired .* or be left over from another server/)
    const setup = { server: { url: own.url }, environment: { THINGWIRE_TOKEN: token } }
    const { stderr } = await runCommand(['read', 'boat', 'n'], setup)
    expect(stderr).toMatch(
      /too_many_failed_credentials, HTTP 429.*\n {2}thingwire doctor .*\n {2}it may have expired/,
    )
  })

  it('tells a closed port, a silent door, a name that is none, and a thing that is not there', async () => {
    const { thingToken } = await createThing(server)
    expect(await diagnose([], thingToken, 'http://127.0.0.1:2')).toEqual(['HTTP port'])
    expect(await findings([], thingToken, 'http://127.0.0.1:2')).toContainEqual(
      expect.objectContaining({
        check: 'MQTT port',
        isNote: true,
        text: expect.stringMatching(/^not tested/),
      }),
    )
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

  /** The URL of a program that answers HTTP like this. */
  async function program(listener: RequestListener): Promise<string> {
    const listening = createHttpServer(listener).listen(0, '127.0.0.1')
    onTestFinished(() => void listening.close())
    await once(listening, 'listening')
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
  }

  it.each([
    [404, 'text/html', '<h1>Not Found</h1>'],
    [200, 'text/html', '<!doctype html><title>App</title>'],
    [200, 'text/plain', 'ok'],
    [200, 'application/json', '{"status":"ok"}'],
    [200, 'application/json', 'null'],
    [404, 'application/json', '{"status":404,"error":"Not Found"}'],
    [404, 'application/json', '{"message":"Not Found"}'],
    [401, 'application/json', '{"status":"error","message":"log in"}'],
    [503, 'text/html', '<h1>Service Unavailable</h1>'],
    [200, 'application/json', ''],
  ])(
    'says that a program that answers %s %s %s is none of its servers, and nothing else',
    async (status, type, body) => {
      const url = await program((_request, response) => {
        response.writeHead(status, { 'content-type': type }).end(body)
      })
      const found = await findings([], 'x'.repeat(43), url)
      expect(found.filter(({ isOk }) => !isOk).map(({ check }) => check)).toEqual(['server'])
      expect(found.map(({ check }) => check)).not.toContain('clock')
      expect(found.at(-1)?.text).toContain(`no Thingwire server answers at ${url}`)
    },
  )

  it('says that a proxy keeps /readyz back, and looks on', async () => {
    const { thingToken } = await createThing(server)
    await write(server, { thingId: '', thingToken }, { values: [{ key: 'n', value: 1 }] })
    const url = await program((asked, response) => {
      if (asked.url === '/readyz') return void response.writeHead(403).end('forbidden')
      const passed = request(server.url + asked.url, {
        headers: asked.headers,
        method: asked.method ?? 'GET',
      })
      passed.on('response', answer => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      asked.pipe(passed)
    })
    const found = await findings(['--mqtt-url', server.mqttUrl], thingToken, url)
    expect(found.filter(({ isOk }) => !isOk)).toEqual([
      expect.objectContaining({ check: 'ready', advice: expect.stringContaining('proxy') }),
    ])
    expect(found.map(({ check }) => check)).toContain('HTTP credential')
  })

  it('asks for the address of the server where it is called with a path', async () => {
    const found = await findings(['--mqtt-url', server.mqttUrl], server.adminKey, `${server.url}/v2`)
    expect(found.filter(({ isOk }) => !isOk)).toEqual([
      expect.objectContaining({
        check: 'server',
        advice: expect.stringContaining('the address of the server'),
      }),
    ])
  })

  it.each([
    ['breaks off', 0],
    ['says 404', 404],
    ['says 502', 502],
  ])('says that a credential could not be tested where the server %s', async (_, status) => {
    const url = await program((asked, response) => {
      if (asked.url === '/readyz') return void response.end('{"status":"ready"}')
      if (status === 0) return void asked.socket.destroy()
      response.writeHead(status).end('<html></html>')
    })
    const found = await findings(['--mqtt-url', server.mqttUrl], server.adminKey, url)
    const faults = found.filter(({ isOk }) => !isOk)
    expect(faults.map(({ check }) => check)).toEqual(['HTTP credential'])
    expect(faults[0]?.advice).toContain('could not be tested')
  })

  it.each([
    ['{"values":[{"key":"n","value":NaN}]}', /leave out a failed reading: NaN is not JSON/],
    ['{"values":[{"key":"n","value":nan}]}', /leave out a failed reading: nan/],
    ['{"values":[{"key":"n","value":-Infinity}]}', /leave out a failed reading: -Infinity/],
    ['{"values":[{"key":"n","value":-inf}]}', /leave out a failed reading: -inf/],
    ['{"values":[{"key":"n","value":None}]}', /leave out a failed reading: None/],
    ['{"values":[{"key":"n","value":undefined}]}', /leave out a failed reading: undefined/],
    ['{"values":[{"key":"n","value":True}]}', /True is not JSON: write it in lower case/],
    ['{"values":[{"key":"n","value":1', /ends too early/],
    ['{"values":[{"key":"n","val', /ends too early/],
    ['{"values":[{"key":"n","value":1},]}', /check quotes, commas and numbers/],
    ["{'values':[]}", /check quotes, commas and numbers/],
    [`{"values":[{"key":"n","value":"${'ab '.repeat(100)}`, /small buffer .* else check/],
  ])('says of a body %s what is wrong with it', async (body, advice) => {
    const { thingId, thingToken } = await createThing(server)
    await fetch(`${server.url}/v2/things/${thingToken}`, { method: 'POST', body })
    const found = await findings([thingId], server.adminKey)
    expect(found.find(({ check }) => check === 'refused write')?.advice).toMatch(advice)
  })
})
