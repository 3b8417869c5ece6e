import { beforeAll, describe, expect, it } from 'vitest'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('topics beside those of things', () => {
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
    expect((await runCommand(['things', 'list'], own)).stdout).not.toContain('TOPICS')
    expect(await runCommand(['things', 'topics', 'aaaaaaaaaaaaaaaa'], own)).toMatchObject({ code: 1 })
  })

  it('of a session are listed, and no access to things where it has none', async () => {
    await jsonOf(['sessions', 'create', '--read-topic', 'tele/#'], { server })
    const { stdout } = await runCommand(['sessions', 'list'], { server })
    expect(stdout).toMatch(/^\w+ +– +\S+ +– +read tele\/#$/m)
  })
})
