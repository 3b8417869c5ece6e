import { beforeAll, describe, expect, it } from 'vitest'
import { mqttOfTest, serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('topics besides those of things', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve('--topics', 'tele/#,cmnd/#')
    return server.end
  })

  it('of a thing are shown, replaced by others, and taken away', async () => {
    const own = { server }
    const { thingId } = await jsonOf<{ thingId: string }>(['things', 'create', 'plug'], own)
    const topics = [
      { filter: 'cmnd/plug/#', access: 'read' },
      { filter: 'tele/plug/#', access: 'write' },
    ]
    const given = ['--read-topic', 'cmnd/plug/#', '--write-topic', 'tele/plug/#']
    expect(await jsonOf(['things', 'topics', 'plug'], own)).toEqual({ thingId, topics: [] })
    expect(await jsonOf(['things', 'topics', 'plug', ...given], own)).toEqual({ thingId, topics })
    expect(await jsonOf(['things', 'topics', 'plug'], own)).toEqual({ thingId, topics })
    expect(await runCommand(['things', 'topics', 'plug'], own)).toMatchObject({
      stdout: `${thingId}: read cmnd/plug/#, write tele/plug/#\n`,
    })
    const { stdout } = await runCommand(['things', 'list'], own)
    expect(stdout).toMatch(/TOPICS\n.*read cmnd\/plug\/#, write tele\/plug\/#\n/)
    expect(await runCommand(['things', 'topics', 'plug', '--none', ...given], own)).toMatchObject({ code: 2 })
    expect(await jsonOf(['things', 'topics', 'plug', '--none'], own)).toEqual({ thingId, topics: [] })
    expect(await jsonOf(['things', 'topics', thingId], own)).toEqual({ thingId, topics: [] })
    expect((await runCommand(['things', 'list'], own)).stdout).not.toMatch(/TOPICS|DEVICE/)
    expect(await runCommand(['things', 'topics', 'aaaaaaaaaaaaaaaa'], own)).toMatchObject({ code: 1 })
  })

  it('that a thing publishes on make a refused publish before a note', async () => {
    const own = { server }
    const given = ['--write-topic', 'tele/lamp/#']
    const { thingId, thingToken } = await jsonOf<Record<'thingId' | 'thingToken', string>>(
      ['things', 'create', 'lamp', ...given],
      own,
    )
    const lamp = await mqttOfTest({ url: server.mqttUrl, username: thingToken })
    const doctor = async () => (await runCommand(['doctor', thingId], own)).stdout
    await lamp.publish('tele/other', 'x')
    expect(await doctor()).toMatch(/^FAULT +refused write +.*may not publish on `tele\/other`/m)
    await lamp.publish('tele/lamp', 'x')
    expect(await doctor()).toMatch(/^note +refused write +.* seen since: .*`tele\/other`/m)
  })

  it('of a session are listed, and no access to things where it has none', async () => {
    await jsonOf(['sessions', 'create', '--read-topic', 'tele/#'], { server })
    const { stdout } = await runCommand(['sessions', 'list'], { server })
    expect(stdout).toMatch(/^\w+ +– +\S+ +– +read tele\/#$/m)
  })
})

describe('topics that the option topics does not name any more', () => {
  it('are in the log at start, and a note of doctor', async () => {
    const dataDir = await temporaryDirectory()
    const before = await serverOfTest({ dataDir, args: ['--topics', 'tele/#,cmnd/#'] })
    const given = ['--read-topic', 'cmnd/plug/#', '--write-topic', 'tele/plug/#']
    await jsonOf(['things', 'create', 'plug', ...given], { server: before })
    await jsonOf(['sessions', 'create', '--read-topic', 'cmnd/#'], { server: before })
    await before.stop()
    const server = await serverOfTest({ dataDir, args: ['--topics', 'tele/#'] })
    const [line = ''] = await server.logged(/^.*neither the option topics nor a source names.*$/m)
    expect(JSON.parse(line)).toMatchObject({ level: 40, things: 1, sessions: 1 })
    expect(line).toContain('may not use them: cmnd/plug/#, cmnd/#')
    const { stdout } = await runCommand(['doctor', 'plug'], { server })
    expect(stdout).toMatch(
      /^note +topics +neither .* names all topics that the thing was granted: read cmnd\/plug\/#$/m,
    )
  })
})
