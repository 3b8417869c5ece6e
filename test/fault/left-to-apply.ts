import { ClassicLevel } from 'classic-level'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { writeNamesIn } from './planned-write.ts'

/** A write that is acknowledged, or about to be, and of which magic records are not applied. */
export interface LeftWrite {
  readonly thingId: string
  readonly writeNumber: number
  /** Undefined, if nothing in it names it. */
  readonly name: string | undefined
}

interface Mark {
  readonly writeNumber: number
  readonly records?: number
}

/** What a retained-state handler that died has left to the next one, in a data directory that no server holds. */
export async function leftToApply(dataDir: string): Promise<LeftWrite[]> {
  const level = new ClassicLevel<Buffer, Buffer>(storeLocation(dataDir), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
  const marks = new Map<string, Mark>()
  const prefix = 'omagic/applied'
  for await (const [key, value] of level.iterator({
    gte: Buffer.from(prefix),
    lt: Buffer.from(`${prefix}0`),
  })) {
    marks.set(key.toString().slice(prefix.length + 1), JSON.parse(value.toString()) as Mark)
  }
  const left: LeftWrite[] = []
  for await (const [key, value] of level.iterator({ gte: Buffer.from('l'), lt: Buffer.from('m') })) {
    const [thingId = '', text = ''] = value.toString().split('\0')
    const { records } = JSON.parse(text) as { records: { key: string }[] }
    const writeNumber = key.readUIntBE(1, 6)
    const mark = [marks.get(''), marks.get(thingId)].find(each => each && each.writeNumber >= writeNumber)
    const isWhole = mark && (mark.writeNumber > writeNumber || mark.records === undefined)
    if (isWhole || !records.some(record => record.key.startsWith('$'))) continue
    const [name] = writeNamesIn(text)
    left.push({ thingId, writeNumber, name })
  }
  await level.close()
  return left
}
