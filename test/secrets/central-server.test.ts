import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { Aedes, type Client } from 'aedes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSecret, createToken } from '../../src/core/token.ts'
import { createCertificate } from '../helpers/certificate.ts'
import { ask, createThing, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { runCli, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { eventually } from '../helpers/waiting.ts'
import { addDataFiles, addStore } from './data-files.ts'
import { Evidence } from './evidence.ts'
import { jsonEscaped, percentEncoded } from './forms.ts'

const adminKey = 'correct.horse/battery.staple!lamp'

/** How a text of the central server spells a secret. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  whole: secret => `no thing has the token ${secret}`,
  'cut off': secret => `no thing has the token ${secret.slice(0, 24)}…`,
  'percent-encoded': secret => `GET /v2/things/${percentEncoded(secret)}`,
  'in JSON escapes': secret => `{"token":"${jsonEscaped(secret)}"}`,
  'in base64': secret => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`,
  'over two lines': secret => `token ${secret.slice(0, 20)}\n  ${secret.slice(20)}`,
  'in a text of a megabyte': secret => `${secret} `.repeat(20_000),
}

/** Where a refusal of the central server may hold a text. */
const places: Readonly<Record<string, (text: string) => object>> = {
  'as the message of a record': text => ({
    reason: 'invalid_value',
    message: 'refused',
    errors: [{ index: 0, field: 'value', reason: 'invalid_value', message: text }],
  }),
  'as the reason of a record': text => ({
    reason: 'invalid_value',
    message: 'refused',
    errors: [{ index: 0, field: 'value', reason: text, message: 'refused' }],
  }),
  'as the message of a write': text => ({ reason: 'invalid_value', message: text }),
  'as the reason of a write': text => ({ reason: text, message: 'refused' }),
  'in other members': text => ({
    reason: 'x',
    message: 'x',
    errors: [{ index: 0, [text]: text }],
    [text]: text,
  }),
  'as members of other types': text => ({ reason: { toString: text }, message: [text], errors: { text } }),
}

describe('a server that forwards', () => {
  it('tells nobody, and keeps nowhere, what a central server says of its token', async () => {
    const refusals = Object.values(places).flatMap(place =>
      Object.values(spellings).map(
        spelling => (secret: string) => place(`${spelling(secret)} ${spelling(adminKey)}`),
      ),
    )
    const central = await echoingServer(refusals)
    const { evidence, edge, thing, dataDir } = await edgeTo(central)
    evidence.addSecret('admin key', adminKey)
    const refused = async () =>
      (await ask<{ refusedRecords: number }>(edge, 'GET', '/v2/admin/forward')).refusedRecords
    for (let count = 1; count <= refusals.length; count++) {
      expect(await eventually(async () => (await refused()) === count)).toBe(true)
      await write(edge, thing, { values: [{ key: `n${count}`, value: 1 }] })
    }

    const answer = await ask(edge, 'GET', '/v2/admin/forward?limit=1000')
    expect(JSON.stringify(answer).length).toBeLessThan(refusals.length * 2_000)
    await takeDown(evidence, edge)
    await takeDownFiles(evidence, edge, dataDir)
    for (const where of ['the answer', 'thingwire forwarding', 'thingwire doctor', 'stderr'])
      expect([where, evidence.holds('told', where, '[redacted]')]).toEqual([where, true])
    expect(evidence.holds('files', 'the store', '[redacted]')).toBe(true)
    expect(evidence.leaks()).toEqual([])
  })

  it('does not say it either of a certificate that has it as a name', async () => {
    const secret = createToken()
    const { cert, key } = createCertificate({ host: `x${secret}.example` })
    const listener = createTlsServer({ cert, key })
    const central = await listening(listener)
    const ca = join(await temporaryDirectory(), 'ca.pem')
    await writeFile(ca, cert)
    const target = { url: `mqtts://localhost:${central}`, token: secret, args: ['--forward-ca', ca] }
    const { evidence, edge } = await edgeTo(target)
    await edge.logged(/cannot reach the central server: [^\n]*altnames/)
    await takeDown(evidence, edge)
    expect(evidence.holds('told', 'the answer', 'altnames: DNS:[redacted].example')).toBe(true)
    evidence.add('told', 'stderr', (await edge.kill()).stderr)
    expect(evidence.leaks()).toEqual([])
  })

  it('takes nothing else for a token that an activation code has given', async () => {
    const central = await echoingServer([], createSecret(25))
    const { edge, dataDir, evidence, map } = await edgeTo(central)
    const { held } = await untilHeld(edge)
    expect(held).toMatchObject([{ why: 'its answer to the activation contains no token' }])
    await takeDownFiles(evidence, edge, dataDir)
    expect(evidence.leaks()).toEqual([])
    const { code, stderr } = await runCli({
      args: ['forward', '--to', central.url, '--things', map, '--data-dir', dataDir, '--http-port', 'none'],
    })
    expect({ code, isTold: stderr.includes(central.token) }).toEqual({ code: 1, isTold: false })
  })
})

interface CentralServer {
  readonly url: string
  /** What the map of the edge gives its thing: a token, or an activation code. */
  readonly token: string
  readonly args?: readonly string[]
}

/** A broker that refuses each write of a Thingwire in the next way, and takes every credential. */
async function echoingServer(
  refusals: readonly ((secret: string) => object)[],
  token = createToken(),
): Promise<CentralServer> {
  const broker = await Aedes.createBroker()
  const publish = (client: Client, topic: string, document: object) =>
    new Promise<void>((resolve, reject) => {
      const payload = Buffer.from(JSON.stringify(document))
      const packet = { cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false } as const
      client.publish(packet, error => (error ? reject(error) : resolve()))
    })
  broker.on('subscribe', (subscriptions, client) => {
    for (const { topic } of subscriptions) {
      if (topic.endsWith('/date')) void publish(client, topic, [])
      if (topic.startsWith('v2/activations/')) void publish(client, topic, { thingToken: `${token}\n#` })
    }
  })
  let count = 0
  broker.authorizePublish = (client, { topic, payload }, done) => {
    if (!client) return done(null)
    const { id } = JSON.parse(payload.toString()) as { id: string }
    const refusal = refusals[count++ % refusals.length]?.(token)
    void publish(client, topic.replace(/write$/, 'errors'), { ...refusal, id }).then(() => done(null))
  }
  const port = await listening(createServer(broker.handle))
  onTestFinished(() => broker.close())
  return { url: `mqtt://127.0.0.1:${port}`, token }
}

async function listening(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => void listener.close())
  return (listener.address() as AddressInfo).port
}

async function edgeTo({ url, token, args = [] }: CentralServer) {
  const evidence = new Evidence()
  evidence.addSecret('token at the central server', token)
  const dataDir = await temporaryDirectory()
  const environment = { THINGWIRE_ADMIN_KEY: adminKey }
  const before = await startServer({ dataDir, environment })
  const thing = await createThing(before)
  await before.stop()
  const map = join(await temporaryDirectory(), 'things.json')
  await writeFile(map, JSON.stringify({ [thing.thingId]: token }), { mode: 0o600 })
  const forward = ['--forward', url, '--forward-things', map, '--log-level', 'trace', ...args]
  const edge = await serverOfTest({ dataDir, args: forward, environment })
  await write(edge, thing, { values: [{ key: 'first', value: 1 }] })
  return { evidence, edge, thing, dataDir, map }
}

interface Held {
  readonly held: readonly { readonly why: string }[]
}

async function untilHeld(edge: ServerProcess): Promise<Held> {
  const forwarding = () => ask<Held>(edge, 'GET', '/v2/admin/forward')
  expect(await eventually(async () => (await forwarding()).held.length > 0)).toBe(true)
  return await forwarding()
}

/** What people and programs are told of the central server. */
async function takeDown(evidence: Evidence, edge: ServerProcess): Promise<void> {
  for (const path of ['/v2/admin/forward?limit=1000', '/metrics', '/readyz']) {
    const answer = await fetch(`${edge.url}${path}`, { headers: { authorization: edge.adminKey } })
    evidence.add('told', `the answer to ${path}`, await answer.text())
  }
  const environment = { THINGWIRE_URL: edge.url, THINGWIRE_ADMIN_KEY: adminKey }
  for (const command of [['forwarding'], ['forwarding', '--json'], ['doctor']]) {
    const { stdout, stderr } = await runCli({ args: command, environment })
    evidence.add('told', `thingwire ${command.join(' ')}`, stdout + stderr)
  }
}

async function takeDownFiles(evidence: Evidence, edge: ServerProcess, dataDir: string): Promise<void> {
  const { stdout, stderr } = await edge.stop()
  evidence.add('told', 'stdout', stdout)
  evidence.add('told', 'stderr', stderr)
  await writeFile(join(dataDir, 'admin-key'), '')
  await addDataFiles(evidence, dataDir)
  await addStore(evidence, dataDir)
}
