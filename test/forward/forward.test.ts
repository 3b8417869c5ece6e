import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCertificate } from '../helpers/certificate.ts'
import { ask, createThing, type ReadRecord, readAll, type Thing, write } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { freePort } from '../helpers/redis-server.ts'
import { runCli, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { eventually } from '../helpers/waiting.ts'
import { twoServersOfTest } from './two-servers-of-test.ts'

const value = (key: string, given: number | string) => ({ values: [{ key, value: given }] })

describe('a server that forwards', () => {
  it('hands on every kind of record as it is, with its datetime, in its order', async () => {
    const servers = await twoServersOfTest()
    const edge = await servers.startEdge()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    const { here, there } = thing
    const bodies = [
      { values: [{ key: 'n', value: 1 }] },
      { values: [{ key: 'n', value: 2, datetime: '20240102030405' }] },
      {
        values: [
          { key: 'n', value: 3, datetime: '2024-01-02T03:04:05.678Z', geo: { lat: 1.5, long: '2.25' } },
        ],
      },
      { values: [{ key: 'n', value: 2, datetime: '20240102030405' }] },
      {
        values: [
          { key: 'text', value: 'ä"\\\n' },
          { key: 'whole', value: { a: [1, null, { b: true }] } },
        ],
      },
      { values: [{ key: 'bare', value: null, geo: { lat: 3, long: 4 } }] },
      { values: [{ key: '$geo', value: [5.5, 6.5, 7] }] },
      { values: [{ key: '$settings', value: { name: 'old', limits: { low: 1 } } }] },
      {
        values: [
          { key: '$settings.name', value: 'new' },
          { key: '$settings.limits.low', value: null },
        ],
      },
      { values: [{ key: '$meta', value: { n: { name: 'Count', unit: '1', discovered: ['unit'] } } }] },
      { values: [{ key: '$meta', value: { n: { name: 'Number', decimals: 0 } } }] },
      { values: [{ key: 'quiet', value: 1 }], broadcast: false },
      { values: Array.from({ length: 3_000 }, (_, n) => ({ key: 'many', value: n })) },
      { values: [{ key: 'n', value: 4 }] },
    ]
    for (const body of bodies) expect((await write(edge, here, body)).status).toBe(201)
    await write(edge, here, { values: [{ key: 'live', value: 1 }], store: false })
    await servers.untilForwarded()

    const { edge: sent, central: received } = await servers.records(thing)
    expect(sent.length).toBeGreaterThan(3_010)
    expect(received).toEqual(sent)
    for (const key of ['$geo', '$settings', '$meta']) {
      // Of settings and descriptions the datetime is that of their last change.
      const state = async (server: ServerProcess, { thingId }: Thing) =>
        (await ask<ReadRecord[]>(server, 'GET', `/v2/things/${thingId}/resources/${key}`))[0]?.value
      await expect.poll(() => state(servers.central, there)).toEqual(await state(edge, here))
    }
  })

  it('goes on where it was after kill -9 of either side and a cut link, with each record once', async () => {
    const servers = await twoServersOfTest(2)
    await servers.startEdge()
    let count = 0
    const writeSome = async () => {
      for (let n = 0; n < 50; n++) {
        const body = value('n', ++count)
        for (const { here } of servers.things)
          expect((await write(servers.edge, here, body)).status).toBe(201)
      }
    }
    await writeSome()
    await servers.edge.kill()
    await servers.startEdge()
    await writeSome()
    await servers.central.kill()
    await writeSome()
    await servers.edge.kill()
    await servers.startEdge()
    await servers.startCentral()
    await writeSome()
    servers.path.refuse()
    await writeSome()
    servers.path.restore()
    await servers.untilForwarded()
    for (const thing of servers.things) {
      const { edge, central } = await servers.records(thing)
      expect(edge.map(record => record.value)).toEqual(Array.from({ length: 250 }, (_, n) => n + 1))
      expect(central).toEqual(edge)
    }
  })

  it('refuses a record over the packet limit of the central server, and sends what is behind it', async () => {
    const servers = await twoServersOfTest()
    await servers.central.stop()
    await servers.startCentral({ THINGWIRE_MAX_PACKET_SIZE: '4096' })
    await servers.startEdge()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    const long = 'x'.repeat(5_000)
    for (const each of [1, long, `${long}y`, 'ü'.repeat(1_900), 2, `${long}z`, 3])
      expect((await write(servers.edge, thing.here, value('n', each))).status).toBe(201)
    await servers.untilForwarded()
    const { central } = await servers.records(thing)
    expect(central.map(record => record.value)).toEqual([1, 'ü'.repeat(1_900), 2, 3])
    const { held, refused, refusedRecords, problem } = await servers.forwarding()
    expect({ held, problem, refusedRecords }).toEqual({ held: [], problem: undefined, refusedRecords: 3 })
    expect(refused[0]).toMatchObject({
      key: 'n',
      reason: 'body_too_large',
      message: expect.stringMatching(
        /^a write of this record takes 5\d+ bytes, but maxPacketSize .* for only 4\d+$/,
      ),
    })
  })

  it('sends in one write what has waited, and as live messages of the central server', async () => {
    const servers = await twoServersOfTest()
    const [{ here, there } = { here: undefined, there: undefined }] = servers.things
    if (!here || !there) throw new Error('there is a thing')
    await servers.startEdge()
    servers.path.refuse()
    for (let n = 1; n <= 200; n++) await write(servers.edge, here, value('n', n))
    const subscriber = await mqttOfTest({ url: servers.central.mqttUrl, username: there.thingToken })
    await subscriber.subscribe(`v2/things/${there.thingToken}`)
    servers.path.restore()
    const seen: unknown[] = []
    let messages = 0
    while (seen.length < 200) {
      const message = await subscriber.next(({ cmd }) => cmd === 'publish')
      const records = JSON.parse(String('payload' in message && message.payload)) as { value: unknown }[]
      seen.push(...records.map(record => record.value))
      messages++
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    expect(messages).toBeLessThan(20)
  })

  it.each(['ws', 'mqtts', 'wss'] as const)('hands on over %s', async protocol => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    const directory = await temporaryDirectory()
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
    const { cert, key } = createCertificate()
    await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
    await servers.central.stop()
    const [httpsPort, mqttsPort] = [await freePort(), await freePort()]
    const { webSocketUrl } = await servers.startCentral({
      ...{ THINGWIRE_TLS_CERT: certFile, THINGWIRE_TLS_KEY: keyFile },
      ...{ THINGWIRE_HTTPS_PORT: String(httpsPort), THINGWIRE_MQTTS_PORT: String(mqttsPort) },
    })
    const targets = {
      ws: webSocketUrl,
      mqtts: `mqtts://127.0.0.1:${mqttsPort}`,
      // The path is that of a Thingwire.
      wss: `wss://127.0.0.1:${httpsPort}`,
    }
    servers.target = targets[protocol]
    if (protocol !== 'ws') {
      // Without its authority the central server is not trusted, and gets nothing.
      const edge = await servers.startEdge()
      await write(edge, thing.here, value('n', 1))
      await edge.logged(/cannot reach the central server: self-signed certificate/)
      await edge.stop()
      servers.args = ['--forward-ca', certFile]
    }
    await servers.startEdge()
    await write(servers.edge, thing.here, value('n', 2))
    await servers.untilForwarded()
    const { edge, central } = await servers.records(thing)
    expect(central).toEqual(edge)
  })

  it('names a record that is refused for good, keeps it in a list, and goes on with the rest', async () => {
    const servers = await twoServersOfTest(2)
    const [first, second] = servers.things
    if (!first || !second) throw new Error('there are two things')
    // Of the central server: a thing has at most 3 resources.
    await servers.central.stop()
    await servers.startCentral({ THINGWIRE_RESOURCES_PER_THING: '3' })
    const edge = await servers.startEdge()
    servers.path.refuse()
    for (const key of ['a', 'b', 'c', 'd', 'a', 'e', 'b']) await write(edge, first.here, value(key, 1))
    await write(edge, second.here, value('a', 1))
    servers.path.restore()
    await servers.untilForwarded()
    const { refused, refusedRecords } = await servers.forwarding()
    expect(refusedRecords).toBe(2)
    expect(refused.map(({ thingId, key, reason }) => ({ thingId, key, reason }))).toEqual(
      ['e', 'd'].map(key => ({ thingId: first.here.thingId, key, reason: 'too_many_resources' })),
    )
    expect((await readAll(servers.central, first.there, 'b')).length).toBe(2)
    expect((await readAll(servers.central, second.there, 'a')).length).toBe(1)
    await edge.logged(/refused a record for good/)
    const { stdout } = await runCli({
      args: ['forwarding', '--url', edge.url, '--data-dir', servers.edgeDir],
    })
    expect(stdout).toMatch(
      /^[a-z2-7]{16} +e +\S+Z +too_many_resources .+\n.+\n\nRefused records stay in the store here/m,
    )

    await servers.edge.kill()
    await servers.startEdge()
    await servers.untilForwarded()
    expect((await servers.forwarding()).refused.map(({ key }) => key)).toEqual(['e', 'd'])
  })

  it('holds back a thing whose token is refused, and no other one, until the map has a valid one', async () => {
    const servers = await twoServersOfTest(2)
    const [first, second] = servers.things
    if (!first || !second) throw new Error('there are two things')
    await servers.writeMap({ ...servers.map, [first.here.thingId]: first.here.thingToken })
    const edge = await servers.startEdge()
    await write(edge, first.here, value('n', 1))
    await edge.logged(/does not accept the thing/)
    for (let n = 2; n <= 40; n++) {
      await write(edge, first.here, value('n', n))
      await write(edge, second.here, value('n', n))
    }
    const others = async () => (await readAll(servers.central, second.there, 'n').catch(() => [])).length
    expect(await eventually(async () => (await others()) === 39)).toBe(true)
    expect((await servers.forwarding()).held).toMatchObject([
      {
        thingId: first.here.thingId,
        why: expect.stringMatching(
          /^it refuses the token, which this server itself issued: the thing map needs one /,
        ),
      },
    ])
    await servers.writeMap({ ...servers.map, [first.here.thingId]: 'A'.repeat(43) })
    await edge.logged(/it refuses the token: the thing map needs one/)

    await edge.kill()
    await servers.startEdge()
    await servers.edge.logged(/does not accept the thing/).catch(() => {})
    await write(servers.edge, first.here, value('n', 41))
    await servers.writeMap(servers.map)
    await servers.untilForwarded()
    const { central } = await servers.records(first)
    expect(central.map(record => record.value)).toEqual(Array.from({ length: 41 }, (_, n) => n + 1))
    expect((await servers.forwarding()).held).toEqual([])
  })

  it('names what the map takes for a thing and is none, until it is one', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    const { here, there } = thing
    // The id of the central server is easily taken for that of this one.
    await servers.writeMap({ [there.thingId]: there.thingToken })
    const edge = await servers.startEdge()
    await edge.logged(/the thing map contains ids of no thing on this server/)
    expect((await servers.forwarding()).unknownThings).toEqual([there.thingId])
    const run = async (command: string) =>
      (await runCli({ args: [command, '--url', edge.url, '--data-dir', servers.edgeDir] })).stdout
    const told = `he thing map names ${there.thingId}, but this server has no such thing`
    expect(await run('forwarding')).toContain(`\n\nT${told}: see thingwire things list`)
    expect(await run('doctor')).toMatch(new RegExp(`^FAULT {2}forwarding +t${told}$`, 'm'))

    const omitted = servers.things.map(each => each.here.thingId).sort()
    expect((await servers.forwarding()).omittedThings).toEqual(omitted)
    expect(await run('forwarding')).toContain(
      `\n\nNot forwarded, since the thing map does not have them: ${omitted.join(', ')}\n`,
    )
    expect(await run('doctor')).toMatch(
      new RegExp(
        `^note {3}forwarding +the thing map does not have ${omitted[0]}.*: what they write stays here$`,
        'm',
      ),
    )

    const later = await createThing(edge)
    await servers.writeMap({ [here.thingId]: there.thingToken, [later.thingId]: null })
    await edge.logged(/the thing map has changed/)
    expect(await servers.forwarding()).toMatchObject({ unknownThings: [], omittedThings: [] })
    await write(edge, here, value('n', 1))
    await servers.untilForwarded()
    expect((await readAll(servers.central, there, 'n')).length).toBe(1)
  })

  it('says what is wrong with a changed map, and goes on with the one from before', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    const edge = await servers.startEdge()
    const run = async (command: string) =>
      (await runCli({ args: [command, '--url', edge.url, '--data-dir', servers.edgeDir] })).stdout
    await writeFile(servers.mapFile, '{')
    await edge.logged(/is not valid JSON .*; forwarding continues with the previous thing map/)
    const why = 'is not valid JSON (line 1, column 2): it ends too early'
    const told = `the thing map ${servers.mapFile} ${why}; forwarding continues with the previous thing map`
    expect(await run('doctor')).toContain(`FAULT  forwarding       ${told}\n`)
    expect(await run('forwarding')).toContain(`\n\n${told}\n`)
    await write(edge, thing.here, value('n', 1))
    await servers.untilForwarded()

    await servers.writeMap(servers.map)
    await edge.logged(/the thing map has changed/)
    expect(await run('doctor')).not.toContain('thing map')
    expect((await readAll(servers.central, thing.there, 'n')).length).toBe(1)
  })

  it('keeps to forwardBytesPerSecond', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    servers.args = ['--forward-bytes-per-second', '5000']
    const edge = await servers.startEdge()
    servers.path.refuse()
    for (let n = 0; n < 40; n++)
      await write(edge, thing.here, { values: [{ key: 'n', value: 'x'.repeat(500) }] })
    servers.path.restore()
    const began = performance.now()
    await servers.untilForwarded()
    const { bytes } = (await servers.forwarding()).forwarded
    const seconds = (performance.now() - began) / 1_000
    expect(bytes).toBeGreaterThan(20_000)
    // The first second's worth is sent at once.
    expect(bytes - 5_000).toBeLessThanOrEqual(5_000 * seconds)
  })

  it('gives up the oldest beyond forwardLogLimit, and says so', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    servers.args = ['--forward-log-limit', '1048576']
    await servers.startEdge()
    servers.path.refuse()
    const text = 'x'.repeat(1_000)
    for (let n = 0; n < 30; n++) {
      const values = Array.from({ length: 100 }, (_, place) => ({ key: `k${place}`, value: `${n} ${text}` }))
      await write(servers.edge, thing.here, { values })
    }
    await servers.edge.logged(/more waits for the central server than forwardLogLimit/)
    servers.path.restore()
    await servers.untilForwarded()
    const { droppedRecords } = await servers.forwarding()
    const { edge, central } = await servers.records(thing)
    expect(droppedRecords).toBeGreaterThan(0)
    expect(edge.length).toBe(3_000)
    expect(central.length).toBeGreaterThanOrEqual(3_000 - droppedRecords)
    expect(central.length).toBeLessThan(3_000)
    expect(central.filter(({ key }) => key === 'k0')).toEqual(
      edge.filter(({ key }) => key === 'k0').slice(-central.filter(({ key }) => key === 'k0').length),
    )
  })

  it('that is run without forwarding keeps what waits, and says later what was not kept', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    await servers.startEdge()
    servers.path.refuse()
    await write(servers.edge, thing.here, value('n', 1))
    await servers.edge.stop()
    const plain = await startServer({ dataDir: servers.edgeDir })
    await plain.logged(/forward is not set/)
    await write(plain, thing.here, value('n', 2))
    await plain.stop()
    servers.path.restore()
    const edge = await servers.startEdge()
    await edge.logged(/has run without forward/)
    await write(edge, thing.here, value('n', 3))
    await servers.untilForwarded()
    const { central } = await servers.records(thing)
    expect(central.map(record => record.value)).toEqual([1, 3])
  })
})
