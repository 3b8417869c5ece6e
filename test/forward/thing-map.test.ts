import { chmod, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import { type ActivatedThing, ThingMap } from '../../src/forward/thing-map.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const [one, two, three] = [createThingId(), createThingId(), createThingId()]
const token = createToken()
const code = token.slice(0, 34)

async function files(content: unknown, mode = 0o600) {
  const directory = await temporaryDirectory()
  const file = join(directory, 'things.json')
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  await writeFile(file, text, { mode })
  return { file, tokens: join(directory, 'forward-tokens.json') }
}

describe('ThingMap', () => {
  it('knows tokens, codes, things that stay, and all others', async () => {
    const { file, tokens } = await files({ [one]: token, [two]: null, '*': code })
    const map = new ThingMap(file, tokens)
    expect(map.passageOf(one)).toEqual({ token })
    expect(map.passageOf(two)).toBeUndefined()
    expect(map.passageOf(three)).toEqual({ code })
    expect([one, two, three].map(thingId => map.has(thingId))).toEqual([true, false, true])
    expect(map.named).toEqual([one])
  })

  it('reads a file that an editor has begun with a byte order mark', async () => {
    const { file, tokens } = await files(`\ufeff${JSON.stringify({ [one]: token })}\r\n`)
    expect(new ThingMap(file, tokens).passageOf(one)).toEqual({ token })
  })

  it('keeps a token that a code gave, for its owner alone', async () => {
    const { file, tokens } = await files({ [one]: code, [two]: code })
    const map = new ThingMap(file, tokens)
    const given = [one, two].map(() => ({ token: createToken(), thingId: createThingId() }))
    const kept = [one, two].map((thingId, at) => map.keep(thingId, given[at] as ActivatedThing))
    await Promise.all(kept)
    const later = new ThingMap(file, tokens)
    const passages = [one, two].map(thingId => later.passageOf(thingId))
    expect(passages).toEqual(given.map(({ token }) => ({ token })))
    expect([...later.activated]).toEqual([one, two].map((thingId, at) => [thingId, given[at]?.thingId]))
    expect((await stat(tokens)).mode & 0o077).toBe(0)
  })

  it('reads tokens that an earlier version kept, without the ids of the central server', async () => {
    const { file, tokens } = await files({ [one]: code })
    await writeFile(tokens, JSON.stringify({ [one]: token }), { mode: 0o600 })
    const map = new ThingMap(file, tokens)
    expect(map.passageOf(one)).toEqual({ token })
    expect(map.activated.size).toBe(0)
  })

  it('takes over a changed file, and goes on with the old one where the new one is no map', async () => {
    const { file, tokens } = await files({ [one]: token })
    const map = new ThingMap(file, tokens)
    const told: (Error | undefined)[] = []
    let tell = () => {}
    const stop = map.watch(fault => {
      told.push(fault)
      tell()
    })
    onTestFinished(stop)
    const changedBy = async (changing: Promise<void>) => {
      const changed = new Promise<void>(resolve => {
        tell = resolve
      })
      await changing
      await changed
    }
    const change = (text: string) => changedBy(writeFile(file, text))
    await change(JSON.stringify({ [two]: token }))
    expect([one, two].map(thingId => map.has(thingId))).toEqual([false, true])
    await change('{')
    expect(map.has(two)).toBe(true)
    const why = 'is not valid JSON (line 1, column 2): it ends too early'
    expect(told.splice(0).map(fault => fault?.message)).toEqual([undefined, `the thing map ${file} ${why}`])
    await change(JSON.stringify({ [one]: token }))
    await changedBy(chmod(file, 0o644))
    expect(told.splice(0).at(-1)?.message).toMatch(/is open to other users: run chmod 600 /)
    await changedBy(chmod(file, 0o600))
    expect(told.splice(0)).toEqual([undefined])
    // As Kubernetes and editors change a file: a link leads to another one, which is older.
    const [older, link] = [`${file}.older`, `${file}.link`]
    await writeFile(older, JSON.stringify({ [three]: token }), { mode: 0o600 })
    await symlink(older, link)
    await changedBy(rename(link, file))
    expect([one, three].map(thingId => map.has(thingId))).toEqual([false, true])
    expect(told.splice(0)).toEqual([undefined])
    // A loop cannot be looked at: the process goes on, and the operator is notified.
    await symlink(file, link)
    await changedBy(rename(link, file))
    expect(told.splice(0).map(fault => fault?.message)).toEqual([expect.stringMatching(/ELOOP/)])
    expect(map.has(three)).toBe(true)
  })

  it.each([
    ['{', /is not valid JSON \(line 1, column 2\)/],
    ['[]', /must contain a JSON object$/],
    [{}, /forwards no thing/],
    [{ [one]: null }, /forwards no thing/],
    [{ boat: token }, /must have thing ids .*, not "boat"$/],
    [{ [token]: one }, /must have thing ids .*, not a name of 43 characters$/],
    [{ [one]: token.slice(1) }, /must give [a-z2-7]{16} a thing token/],
    [
      { [one]: two },
      /must give [a-z2-7]{16} a thing token .* of the central server.*, not the id of a thing$/,
    ],
    [{ [one]: token, [two]: token }, new RegExp(`gives ${one} and ${two} the same token: each needs`)],
    [{ '*': token }, /must give "\*" an activation code/],
  ])('refuses %j in one line, without a token', async (content, told) => {
    const { file, tokens } = await files(content)
    const make = () => new ThingMap(file, tokens)
    expect(make).toThrow(told)
    expect(make).not.toThrow(token.slice(1))
  })

  it('refuses a file that others can read', async () => {
    const { file, tokens } = await files({ [one]: token })
    await chmod(file, 0o644)
    expect(() => new ThingMap(file, tokens)).toThrow(/is open to other users: run chmod 600/)
    expect(await readFile(file, 'utf8')).toContain(token)
  })
})
