import { withLevel } from '../rig/commit-order.ts'
import { writeNamesIn } from '../rig/writes.ts'

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
export function leftToApply(dataDir: string): Promise<LeftWrite[]> {
  return withLevel(dataDir, async level => {
    const marks = new Map<string, Mark>()
    const name = 'omagic/applied'
    for await (const [key, value] of level.iterator({
      gte: Buffer.from(name),
      lt: Buffer.from(`${name}0`),
    })) {
      marks.set(key.toString().slice(name.length + 1), JSON.parse(value.toString()) as Mark)
    }
    const left: LeftWrite[] = []
    for await (const [key, value] of level.iterator({ gte: Buffer.from('l'), lt: Buffer.from('m') })) {
      const [thingId = '', text = ''] = value.toString().split('\0')
      const { records } = JSON.parse(text) as { records: { key: string }[] }
      const writeNumber = key.readUIntBE(1, 6)
      const mark = [marks.get(''), marks.get(thingId)].find(each => each && each.writeNumber >= writeNumber)
      const isWhole = mark && (mark.writeNumber > writeNumber || mark.records === undefined)
      if (isWhole || !records.some(record => record.key.startsWith('$'))) continue
      left.push({ thingId, writeNumber, name: [...writeNamesIn(text)][0] })
    }
    return left
  })
}
