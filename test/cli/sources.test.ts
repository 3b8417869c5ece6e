import { beforeAll, describe, expect, it } from 'vitest'
import { urlForBrowsers } from '../../src/server/reachable.ts'
import { mqttOfTest, serverOfTest } from '../helpers/of-test.ts'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('thingwire sources', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  it('adds one with what a device needs, which then gets in', async () => {
    const { stdout } = await runCommand(['sources', 'add', 'house', '--topic', 'house/#'], { server })
    const { port } = new URL(server.mqttUrl)
    expect(stdout).toMatch(/^ {2}host {6}127\.0\.0\.1$/m)
    expect(stdout).toMatch(new RegExp(`^  port      ${port}$`, 'm'))
    expect(stdout).toMatch(/^ {2}user {6}house$/m)
    expect(stdout).toContain('Only this machine reaches the server')
    const [, password = ''] = /^ {2}password {2}(\S{43})$/m.exec(stdout) ?? []
    const device = await mqttOfTest({ url: server.mqttUrl, username: 'house', password })
    expect(await device.subscribe('house/#')).toBe(1)
    expect((await runCommand(['sources', 'list'], { server })).stdout).not.toContain(password)
  })

  it('adds one without topics with the address that a webhook takes', async () => {
    const { stdout } = await runCommand(['sources', 'add', 'lora', '--format', 'ttn'], { server })
    const [, url = ''] = /^ {2}url {7}(\S+\/v2\/sources\/\S{43})$/m.exec(stdout) ?? []
    const body = { end_device_ids: { device_id: 'dev1' }, uplink_message: { decoded_payload: { t: 1 } } }
    const posted = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    expect(posted.status).toBe(201)
    expect(stdout).not.toContain('broker')
  })

  it('gives one a new password, with what to enter, and shuts out the one before', async () => {
    const { sourceToken } = await jsonOf<{ sourceToken: string }>(
      ['sources', 'add', 'shed', '--topic', 'shed/#'],
      { server },
    )
    const { stdout } = await runCommand(['sources', 'password', 'shed'], { server })
    const [, password = ''] = /^ {2}password {2}(\S{43})$/m.exec(stdout) ?? []
    expect(stdout).toMatch(/^ {2}user {6}shed$/m)
    expect(password).not.toBe(sourceToken)
    const device = await mqttOfTest({ url: server.mqttUrl, username: 'shed', password })
    expect(await device.subscribe('shed/#')).toBe(1)
    const former = { headers: { authorization: sourceToken } }
    expect((await fetch(`${server.url}/v2/principal`, former)).status).toBe(401)
  })

  it.each([
    [['tasmota'], true, ['broker']],
    [['ttn'], false, ['webhook']],
    [['influx'], false, ['InfluxDB']],
    [['owntracks'], true, ['broker', 'webhook']],
    [['influx', 'chirpstack'], true, ['broker', 'webhook', 'InfluxDB']],
  ])('prints the ways in of %j, with topics %j: %j', async (formats, hasTopics, ways) => {
    const name = formats.join('-')
    const topics = hasTopics ? ['--topic', `${name}/#`] : []
    const given = [...formats.flatMap(format => ['--format', format]), ...topics]
    const { stdout } = await runCommand(['sources', 'add', name, ...given], { server })
    expect(stdout.match(/broker|webhook|InfluxDB/g)).toEqual(ways)
  })

  it('shows, changes and removes one by its name or id', async () => {
    const own = { server }
    const given = ['--format', 'levels', '--pattern', 'garden/{device}/{key}', '--topic', 'garden/#']
    const made = await jsonOf<{ sourceId: string }>(['sources', 'add', 'garden', ...given, '--known'], own)
    const { sourceId } = made
    const terms = { formats: ['levels'], pattern: 'garden/{device}/{key}', topics: ['garden/#'] }
    expect(made).toEqual({
      ...{ sourceId: expect.stringMatching(/^[a-z2-7]{16}$/), name: 'garden', host: '127.0.0.1' },
      ...{ port: Number(new URL(server.mqttUrl).port), sourceToken: expect.any(String), reachable: false },
    })
    const shown = { ...terms, sourceId, name: 'garden', things: 'known', thingCount: 0 }
    expect(await jsonOf(['sources', 'show', 'garden'], own)).toMatchObject(shown)
    const text = (await runCommand(['sources', 'show', sourceId], own)).stdout
    expect(text).toMatch(/^pattern {2}garden\/\{device\}\/\{key\}$/m)
    expect(text).toMatch(/^things {3}0, and makes no more$/m)
    expect(await runCommand(['sources', 'set', 'garden'], own)).toMatchObject({ code: 2 })
    expect(await runCommand(['sources', 'set', 'garden', '--known', '--create'], own)).toMatchObject({
      code: 2,
    })
    const changes = ['--name', 'yard', '--create', '--topic', 'yard/#', '--topic', 'garden/a']
    expect(await jsonOf(['sources', 'set', 'garden', ...changes], own)).toEqual({ sourceId })
    expect(await jsonOf(['sources', 'list'], own)).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          ...terms,
          sourceId,
          name: 'yard',
          things: 'create',
          topics: ['yard/#', 'garden/a'],
        }),
      ]),
    })
    const overlapping = ['sources', 'add', 'lawn', '--topic', 'yard/lawn']
    expect(await runCommand(overlapping, own)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`the source yard (${sourceId})`) },
    })
    const lawn = await jsonOf<{ sourceId: string }>([...overlapping, '--overlap'], own)
    expect(await runCommand(['sources', 'remove', 'yard'], own)).toMatchObject({ code: 1 })
    for (const each of [sourceId, lawn.sourceId]) await jsonOf(['sources', 'remove', each], own)
    expect(await runCommand(['sources', 'show', 'yard'], own)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('there is no source yard') },
    })
  })

  it('lists what could not be read', async () => {
    const own = { server }
    const given = ['--format', 'levels', '--pattern', 'cellar/{device}/{key}', '--topic', 'cellar/#']
    const { sourceToken } = await jsonOf<{ sourceToken: string }>(['sources', 'add', 'cellar', ...given], own)
    expect(await runCommand(['sources', 'errors', 'cellar'], own)).toMatchObject({
      stdout: expect.stringMatching(
        /^nothing was refused\. .*\nmosquitto_sub -v -t 'cellar\/#' -u \w{16} -P <password> \| thingwire explain - --format levels --pattern 'cellar\/\{device\}\/\{key\}'\n$/,
      ),
    })
    const device = await mqttOfTest({ url: server.mqttUrl, username: sourceToken })
    expect(await device.subscribe('house/#')).toBe(128)
    await expect
      .poll(async () => (await runCommand(['sources', 'errors', 'cellar'], own)).stdout)
      .toMatch(/^\S+ +subscription_refused +1 +.*house\/#.*`thingwire sources set \w+ --topic …`/m)
  })

  it('lists things with their devices, and says which of these are gone', async () => {
    const own = { server }
    const given = ['--topic', 'tele/#', '--topic', 'tasmota/#', '--overlap']
    const { sourceToken } = await jsonOf<{ sourceToken: string }>(['sources', 'add', 'attic', ...given], own)
    const device = await mqttOfTest({ url: server.mqttUrl, username: sourceToken })
    const config = { dn: 'Plug', t: 'plug', ft: '%prefix%/%topic%/', tp: ['cmnd', 'stat', 'tele'] }
    await device.publish('tasmota/discovery/2462ABC0FFEE/config', JSON.stringify(config))
    await device.publish('tele/plug/SENSOR', '{"ENERGY":{"Power":12}}')
    const listed = async () => (await runCommand(['things', 'list'], own)).stdout
    expect(await listed()).toMatch(/ DEVICE$/m)
    expect(await listed()).toMatch(/\bPlug .* 2462ABC0FFEE$/m)
    await device.publish('tasmota/discovery/2462ABC0FFEE/config', '')
    expect(await listed()).toMatch(/\bPlug .* 2462ABC0FFEE, gone$/m)
  })

  it('names a source by its id if several have its name, and asks for no token in its place', async () => {
    const own = { server }
    for (const topic of ['a', 'b']) await jsonOf(['sources', 'add', 'twin', '--topic', topic], own)
    const refused = await runCommand(['sources', 'show', 'twin'], own)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('2 sources are called twin') })
    expect(await runCommand(['sources', 'show', 'A'.repeat(43)], own)).toMatchObject({ code: 2 })
  })
})

describe('thingwire sources add, of a server for the network', () => {
  it('names an address that other machines reach', async () => {
    const { url, adminKey } = await serverOfTest({ environment: { THINGWIRE_HOST: '0.0.0.0' } })
    const local = url.replace('0.0.0.0', '127.0.0.1')
    const made = await jsonOf<{ host: string; reachable: boolean }>(['sources', 'add', 'house'], {
      server: { url: local, adminKey },
    })
    const { hostname } = new URL(urlForBrowsers('http://0.0.0.0'))
    expect(made).toMatchObject({ host: hostname, reachable: hostname !== '127.0.0.1' })
  })
})
