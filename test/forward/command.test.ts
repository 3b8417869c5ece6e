import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Aedes } from 'aedes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readAll, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { runCli, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { eventually } from '../helpers/waiting.ts'
import type { TwoServers } from './two-servers.ts'
import { twoServersOfTest } from './two-servers-of-test.ts'

describe('thingwire forward', () => {
  async function forward(servers: TwoServers, to: string, ...args: string[]) {
    return await runCli({
      args: ['forward', '--to', to, '--things', servers.mapFile, '--data-dir', servers.edgeDir, ...args],
    })
  }

  it('does not start where a token is refused, and names its thing', async () => {
    const servers = await twoServersOfTest()
    const other = await serverOfTest()
    const { code, stdout, stderr } = await forward(servers, other.mqttUrl)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /^thingwire: mqtt:\S+ does not accept thing [a-z2-7]{16}: it refuses the token: the thing map needs one that the central server issued [^\n]*\n$/,
    )
  })

  it('does not start where the target is a broker and not a Thingwire server', async () => {
    const servers = await twoServersOfTest()
    const broker = await Aedes.createBroker()
    const listener = createServer(broker.handle).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    onTestFinished(() => {
      broker.close()
      listener.close()
    })
    const { port } = listener.address() as AddressInfo
    const { code, stdout, stderr } = await forward(servers, `mqtt://127.0.0.1:${port}`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/it is not a Thingwire server: it did not send its date\n$/)
  })

  it('does not start where something else than MQTT answers', async () => {
    const servers = await twoServersOfTest()
    const httpPort = new URL(servers.central.url).port
    const mqttPort = new URL(servers.central.mqttUrl).port
    const noMqtt = 'it does not answer as an MQTT server: is it the MQTT port?'
    const tries = [
      [`mqtt://127.0.0.1:${httpPort}`, noMqtt],
      [`mqtts://127.0.0.1:${httpPort}`, noMqtt],
      [`mqtts://127.0.0.1:${mqttPort}`, 'it answers without TLS: is it the port for mqtts?'],
    ] as const
    for (const [url, why] of tries) {
      const stderr = `thingwire: ${url} is not a Thingwire server: ${why}\n`
      expect(await forward(servers, url)).toMatchObject({ code: 1, stdout: '', stderr })
    }
    await servers.writeMap({ '*': 'A'.repeat(34) })
    const { stderr } = await forward(servers, `mqtt://127.0.0.1:${httpPort}`)
    expect(stderr).toContain(noMqtt)
  })

  it.each([
    [['--to', 'http://central'], /^thingwire: --to must be `mqtt:\/\/`/, 1],
    [['--to', 'mqtt://user:secret@central'], /^thingwire: --to must be `mqtt:\/\/`/, 1],
    [['--forward', 'http://central'], /^thingwire: --forward must be `mqtt:\/\/`/, 1],
    [['--to', 'mqtt://central', '--things', '/none'], /^thingwire: cannot read the thing map \/none: /, 1],
    [['--to', 'mqtt://central'], /^thingwire: forward is set but not forwardThings: /, 1],
    [['--things', '/none'], /^thingwire: forward needs --to <url>/, 2],
    [['--to', 'mqtt://central', '--nope', '1'], /^thingwire: Unknown option '--nope' on the command line/, 2],
  ])('says in one line what is wrong with %j', async (args, told, status) => {
    const dataDir = join(await temporaryDirectory(), 'none')
    const { code, stdout, stderr } = await runCli({ args: ['forward', ...args, '--data-dir', dataDir] })
    expect({ code, stdout }).toEqual({ code: status, stdout: '' })
    expect(stderr).toMatch(told)
    expect(stderr.trim().split('\n').length).toBe(1)
    expect(stderr).not.toContain('secret@')
    expect(existsSync(dataDir)).toBe(false)
  })

  it.each([
    ['forward', '--to', '--things'],
    ['serve', '--forward', '--forward-things'],
  ])('does not %s to the own address', async (subcommand, to, things) => {
    const servers = await twoServersOfTest()
    const args = [subcommand, to, 'mqtt://localhost', things, servers.mapFile, '--data-dir', servers.edgeDir]
    const { code, stdout, stderr } = await runCli({ args })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^thingwire: mqtt:\/\/localhost is the address of this server itself: [^\n]+\n$/)
  })

  it('starts where the target cannot be reached, and forwards when it can', async () => {
    const servers = await twoServersOfTest()
    const [thing] = servers.things
    if (!thing) throw new Error('there is a thing')
    servers.path.refuse()
    const edge = await startServer({
      dataDir: servers.edgeDir,
      args: ['--forward', servers.target, '--forward-things', servers.mapFile],
      subcommand: 'forward',
    })
    onTestFinished(async () => void (await edge.kill()))
    await write(edge, thing.here, { values: [{ key: 'n', value: 1 }] })
    await edge.logged(/cannot reach the central server/)
    const shown = () => runCli({ args: ['forwarding', '--url', edge.url, '--data-dir', servers.edgeDir] })
    expect((await shown()).stdout).toMatch(
      /^Waiting {10}1 record, \d+ B, the oldest for \d+ s, since 2\S+Z$/m,
    )
    const doctor = () => runCli({ args: ['doctor', '--url', edge.url, '--data-dir', servers.edgeDir] })
    expect((await doctor()).stdout).toMatch(
      /^FAULT {2}forwarding +the central server mqtt:\S+ cannot be reached/m,
    )
    servers.path.restore()
    await edge.logged(/the central server can be reached again/)
    expect(await eventually(async () => /^Waiting {10}0 records/m.test((await shown()).stdout))).toBe(true)
    expect((await doctor()).stdout).toMatch(/^ok {5}forwarding +to mqtt:\S+: 0 records wait$/m)
    expect((await readAll(servers.central, thing.there, 'n')).map(record => record.value)).toEqual([1])
    const metrics = await (await fetch(`${edge.url}/metrics`)).text()
    expect(metrics).toMatch(/^thingwire_forward_records_total 1$/m)
    expect(metrics).toMatch(/^thingwire_forward_waiting_records 0$/m)
    expect(metrics).toMatch(/^thingwire_forward_lag_seconds 0$/m)
  })
})
