import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { key, otherThing, thing } from '../../../src/conformance/writes.ts'
import { checkLevelStore, type StoreCheck } from '../../../src/store/level/check/check.ts'
import { faultsOfTable } from '../../../src/store/level/check/leveldb-files.ts'
import { type Chunk, chunkKey, joined } from '../../../src/store/level/chunks/chunk.ts'
import { packedValue } from '../../../src/store/level/chunks/packed-chunk.ts'
import { decodeChunk } from '../../../src/store/level/chunks/record-chunk.ts'
import type { Entry } from '../../../src/store/level/database/scan.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import {
  documentKey,
  duplicateKeys,
  formatKey,
  headKey,
  keysOf,
  packedKey,
  prefix,
  recordKeys,
  resourceByKeyKey,
  resourceKey,
  stateKey,
} from '../../../src/store/level/keys.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { fill } from '../everything.ts'

type Level = ClassicLevel<Buffer, Buffer>

let template = ''
let removeTemplate = async () => {}

beforeAll(async () => {
  const directory = await temporaryDirectory(remove => {
    removeTemplate = remove
  })
  template = join(directory, 'store')
  const first = await openStore(createLevelStore({ location: template }))
  await fill(first)
  await first.close()
  await change(template, level => level.compactRange(Buffer.from([0]), Buffer.from([255])))
  const second = await openStore(createLevelStore({ location: template }))
  await second.documents.put({ 'things/late': { name: 'in the log' } }, 'keep')
  await second.close()
})

afterAll(() => removeTemplate())

/** A store with something of everything in it, in tables and in a log. */
async function filledStore(): Promise<string> {
  const location = join(await temporaryDirectory(), 'store')
  await cp(template, location, { recursive: true })
  return location
}

async function change<T>(location: string, task: (level: Level) => Promise<T>): Promise<T> {
  const level: Level = new ClassicLevel(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await level.open()
  try {
    return await task(level)
  } finally {
    await level.close()
  }
}

async function fileOf(location: string, ending: string): Promise<string> {
  const names = (await readdir(location)).filter(name => name.endsWith(ending)).sort()
  return join(location, names.at(-1) ?? expect.unreachable(`there is no ${ending} file`))
}

async function flip(file: string, where: (length: number) => number): Promise<void> {
  const bytes = await readFile(file)
  const at = where(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  await writeFile(file, bytes)
}

function faultsIn({ faults }: StoreCheck, start: string): string[] {
  return faults.filter(({ where }) => where.startsWith(start)).map(({ fault }) => fault)
}

describe('checkLevelStore()', () => {
  it('finds nothing wrong with a whole store, counts what is in it and changes no file', async () => {
    const location = await filledStore()
    const contents = async () =>
      Promise.all(
        (await readdir(location))
          .filter(name => !name.startsWith('LOG'))
          .map(async name => [name, (await readFile(join(location, name))).toString('base64')]),
      )
    const before = await contents()
    const progress: string[] = []
    const check = await checkLevelStore(location, ({ step }) => progress.push(step))
    expect(check.faults).toEqual([])
    expect(check).toMatchObject({ things: 2, faultCount: 0, records: 6_318, resources: 6, states: 2 })
    const bytes = before.reduce((sum, [, text = '']) => sum + Buffer.byteLength(text, 'base64'), 0)
    expect(check.bytes).toBeGreaterThanOrEqual(bytes)
    expect(new Set(progress)).toEqual(new Set(['files', 'entries']))
    expect(await contents()).toEqual(before)
    expect(await readdir(join(location, '..'))).toEqual(['store'])
  })

  it('refuses a store of another format', async () => {
    const location = await filledStore()
    await change(location, level => level.put(formatKey, Buffer.from('2')))
    await expect(checkLevelStore(location)).rejects.toThrow(/it has format 2/)
  })

  it('refuses a store that is held, and where there is none', async () => {
    const location = join(await temporaryDirectory(), 'store')
    await expect(checkLevelStore(location)).rejects.toThrow(/there is no store/)
    const store = await openStore(createLevelStore({ location }))
    onTestFinished(() => store.close())
    await expect(checkLevelStore(location)).rejects.toThrow(/another process uses it/)
    expect(store.isReady()).toBe(true)
  })

  it.each([
    ['a block', (length: number) => Math.floor(length / 3)],
    ['the end', (length: number) => length - 3],
    ['the index', (length: number) => length - 80],
  ])('finds a byte that is another in %s of a table', async (_, where) => {
    const location = await filledStore()
    const table = await fileOf(location, '.ldb')
    await flip(table, where)
    const check = await checkLevelStore(location)
    expect(faultsIn(check, table.slice(location.length + 1))).toHaveLength(1)
  })

  it('finds every byte of a small table that is another', async () => {
    const location = join(await temporaryDirectory(), 'store')
    await openStore(createLevelStore({ location })).then(store => store.close())
    await change(location, level => level.compactRange(Buffer.from([0]), Buffer.from([255])))
    const table = await fileOf(location, '.ldb')
    const whole = await readFile(table)
    expect(faultsOfTable(whole)).toEqual([])
    for (let at = 0; at < whole.length - 48; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x01
      expect(faultsOfTable(damaged), `byte ${at}`).not.toEqual([])
    }
    for (let length = 0; length < whole.length; length++) {
      expect(faultsOfTable(whole.subarray(0, length)), `${length} bytes`).not.toEqual([])
    }
  })

  it('finds a table that is missing', async () => {
    const location = await filledStore()
    await rm(await fileOf(location, '.ldb'))
    const check = await checkLevelStore(location)
    expect(faultsIn(check, 'store')).toEqual([expect.stringMatching(/missing files/)])
    expect(check.records).toBe(0)
  })

  it('finds a table that was cut off', async () => {
    const location = await filledStore()
    const table = await fileOf(location, '.ldb')
    await truncate(table, 5_000)
    expect(faultsIn(await checkLevelStore(location), table.slice(location.length + 1))).toHaveLength(1)
  })

  it('finds a byte that is another in the log of writes, and in the list of tables', async () => {
    const location = await filledStore()
    const log = await fileOf(location, '.log')
    await flip(log, length => length - 2)
    expect(faultsIn(await checkLevelStore(location), log.slice(location.length + 1))).toHaveLength(1)
    const [manifest = ''] = (await readdir(location)).filter(name => name.startsWith('MANIFEST'))
    await flip(join(location, manifest), length => Math.floor(length / 2))
    expect(faultsIn(await checkLevelStore(location), manifest)).toHaveLength(1)
  })

  it('takes a log that ends within a record for whole: that one was not acknowledged', async () => {
    const location = await filledStore()
    const log = await fileOf(location, '.log')
    await truncate(log, (await readFile(log)).length - 3)
    expect((await checkLevelStore(location)).faults).toEqual([])
  })

  it('names what a killed process has left beside the store, and takes it for no fault', async () => {
    const location = await filledStore()
    const table = await readFile(await fileOf(location, '.ldb'))
    const list = (await readFile(join(location, 'CURRENT'), 'latin1')).trim()
    const remnants = {
      // Cut off while it was written, and whole but not in the list.
      '990001.ldb': table.subarray(0, table.length - 100),
      '990002.ldb': table,
      '000001.log': Buffer.from('a log that has become a table'),
      '990003.dbtmp': Buffer.from('MANIFEST-990003'),
      'MANIFEST-990003': Buffer.alloc(20, 'x'),
    }
    for (const [name, bytes] of Object.entries(remnants)) await writeFile(join(location, name), bytes)
    const { faults, records, remnants: found } = await checkLevelStore(location)
    expect(faults).toEqual([])
    expect(records).toBe(6_318)
    expect(found).toEqual(Object.keys(remnants).sort())
    await flip(join(location, list), length => Math.floor(length / 2))
    expect((await checkLevelStore(location)).faultCount).toBeGreaterThan(0)
  })

  const numberOf = async (level: Level, thingId: string, name: string) =>
    (await level.get(resourceKey(thingId, name)))?.readUInt32BE(0) ?? 0
  const firstKey = async (level: Level, range: { gte: Buffer; lt: Buffer }) =>
    (await level.keys({ ...range, limit: 1 }).all())[0] ?? expect.unreachable('nothing is there')
  /** Gives the first entry of the resource another value, which may need the place of the record that it is of. */
  const firstEntryAs = (textOf: (place: number) => string) => async (level: Level) => {
    const name = await firstKey(level, recordKeys(await numberOf(level, thing, key)))
    await level.put(name, Buffer.from(textOf(name.readUInt16BE(17))))
  }

  it.each<[string, (level: Level) => Promise<unknown>, RegExp, string]>([
    [
      'a resource without its k key',
      level => level.del(resourceKey(thing, key)),
      /a record without a resource/,
      'r',
    ],
    ['a resource without its b key', level => level.del(resourceByKeyKey(key, thing)), /has no b key/, 'k'],
    [
      'a b key of another resource',
      async level => level.put(resourceByKeyKey(key, thing), await bytesOf(level, resourceKey(thing, 'odd'))),
      /belongs to another resource/,
      'b',
    ],
    [
      'a resource without records',
      async level => level.clear(recordKeys(await numberOf(level, thing, key))),
      /without a record/,
      'k',
    ],
    ['a record that is no JSON', firstEntryAs(() => '\0"cut'), /not JSON/, 'r'],
    [
      'a chunk whose second record has no place',
      firstEntryAs(place => `\x04,${place}\x021\x011,70000\x022`),
      /not a valid chunk of records/,
      'r',
    ],
    [
      'a chunk of which two records stand in the wrong order',
      firstEntryAs(place => `\x045,${place}\x021\x010,0\x022`),
      /not a valid chunk of records/,
      'r',
    ],
    [
      'records that overlap',
      firstEntryAs(place => `\x04,${place}\x021\x01999999999999,0\x022`),
      /do not sort after those of the previous entry/,
      'r',
    ],
    [
      'a packed chunk with a byte that is another',
      async level => {
        const [first, ...others] = await level
          .iterator(recordKeys(await numberOf(level, thing, 'crowd')))
          .all()
        const [name, bytes] = packed([first ?? expect.unreachable('nothing is there'), ...others.slice(0, 9)])
        bytes[bytes.length - 9] = (bytes.at(-9) ?? 0) ^ 1
        await level.put(name, bytes)
      },
      /not a valid chunk of records/,
      'r',
    ],
    [
      'a packed chunk with a record of a write that was never',
      async level => {
        const [first, ...others] = await level
          .iterator(recordKeys(await numberOf(level, thing, 'crowd')))
          .all()
        const chunk = packedRun([first ?? expect.unreachable('nothing is there'), ...others.slice(0, 9)])
        const writeNumbers = chunk.writeNumbers.map((each, index) => (index === 9 ? 1e6 : each))
        await level.put(chunkKey(chunk), packedValue({ ...chunk, writeNumbers }))
      },
      /above that of the head/,
      'r',
    ],
    [
      'a watermark of no resource',
      async level => level.put(packedKey(77), Buffer.alloc(14)),
      /resource does not exist/,
      'p',
    ],
    [
      'a watermark that is cut off',
      async level => level.put(packedKey(await numberOf(level, thing, key)), Buffer.alloc(13)),
      /not a valid watermark/,
      'p',
    ],
    ['a record without a value', firstEntryAs(() => ''), /not a valid record/, 'r'],
    [
      'an entry of the duplicate index without its record',
      async level => {
        const crowd = await numberOf(level, thing, 'crowd')
        const number = (await bytesOf(level, await firstKey(level, duplicateKeys(crowd)))).readUIntBE(0, 6)
        const names = await level.keys(recordKeys(crowd)).all()
        await level.batch(
          names.filter(name => name.readUIntBE(11, 6) === number).map(name => ({ type: 'del', key: name })),
        )
      },
      /record does not exist/,
      'd',
    ],
    [
      'a state without its b key',
      level => level.del(resourceByKeyKey('$geo', otherThing)),
      /has no b key/,
      's',
    ],
    ['a b key without its state', level => level.del(stateKey(otherThing, '$geo')), /no state/, 'b'],
    [
      'a head that is behind',
      async level => {
        const head = await bytesOf(level, headKey)
        head.writeUIntBE(3, 0, 6)
        await level.put(headKey, head)
      },
      /above that of the head/,
      'r',
    ],
    [
      'a head that would give numbers of resources out again',
      async level => {
        const head = await bytesOf(level, headKey)
        head.writeUInt32BE(2, 12)
        await level.put(headKey, head)
      },
      /above what the head knows/,
      'k',
    ],
    ['no head', level => level.del(headKey), /missing/, 'm'],
    [
      'an entry of the log that is cut off',
      async level => {
        const name = await firstKey(level, keysOf(prefix.log))
        await level.put(name, (await bytesOf(level, name)).subarray(0, 30))
      },
      /not a valid commit/,
      'l',
    ],
    [
      'a write id without its place in the order',
      async level => level.del(await firstKey(level, keysOf(prefix.writeIdOrder, thing))),
      /missing from the order/,
      'i',
    ],
    [
      'a document that is no JSON',
      level => level.put(documentKey('activation-codes/SECRET-CODE'), Buffer.from('{')),
      /not a JSON object/,
      'oactivation-codes/… ',
    ],
    [
      'a key of no kind',
      level => level.put(Buffer.from('zebra'), Buffer.alloc(0)),
      /the key is unknown/,
      'zebra',
    ],
  ])('finds %s', async (_, damage, fault, where) => {
    const location = await filledStore()
    await change(location, damage)
    const check = await checkLevelStore(location)
    expect(faultsIn(check, where)).toContainEqual(expect.stringMatching(fault))
    expect(JSON.stringify(check)).not.toContain('SECRET')
  })
})

function packedRun([first, ...others]: readonly [Entry, ...Entry[]]): Chunk {
  return joined([decodeChunk('', first), ...others.map(entry => decodeChunk('', entry))])
}

function packed(entries: readonly [Entry, ...Entry[]]): [name: Buffer, bytes: Buffer] {
  const chunk = packedRun(entries)
  return [chunkKey(chunk), packedValue(chunk)]
}

async function bytesOf(level: Level, name: Buffer): Promise<Buffer> {
  return Buffer.from((await level.get(name)) ?? expect.unreachable('it is not there'))
}
