import type { WriteFormats } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'
import { ownFormats } from './registry.ts'

/** A larger body gets no advice, bytes: reading it in every format would take too long. */
const mostExamined = 16 * 1024
/** `21.5`, `open`. */
const bareWord = /^[\w.+:-]{1,64}$/
/** The keys that `json` reads in a plain write with a mistake, such as a record without `values`. */
const ofPlainWrite = /^(?:values|key)(?:\.|$)/

/** The formats of a thing's own address, for ingest. */
export const writeFormats: WriteFormats = {
  read(address, body) {
    const [name = '', ...levels] = address.split('/')
    const format = ownFormats.get(name)
    if (format) return format.read(levels, body)
    // The name is not repeated: it may be a token in the wrong place.
    const names = [...ownFormats.keys()].join(', ')
    throw new ThingwireError('unknown_format', `the format in the address of a write must be one of ${names}`)
  },
  fitting(body) {
    if (body.byteLength > mostExamined) return undefined
    if (bareWord.test(Buffer.from(body).toString().trim())) return 'write/value/<key>'
    const name = ['json', 'influx'].find(name => reads(name, body))
    return name && `write/${name}`
  },
}

function reads(name: string, body: Uint8Array): boolean {
  try {
    const records = ownFormats.get(name)?.read([], body) ?? []
    return records.length > 0 && !records.some(({ key }) => ofPlainWrite.test(key))
  } catch {
    return false
  }
}
