import { ownFormats, sourceFormats } from '../../../src/formats/registry.ts'
import { Random } from '../../helpers/random.ts'
import { samples } from '../samples.ts'
import { mutatePacket, packetsOf } from './mutate-packet.ts'
import { SlowTurns } from './slow-turns.ts'
import { ownSubject, type Subject, sourceSubject } from './subjects.ts'

export interface FuzzSetup {
  /** Mutated messages of each format. */
  readonly count: number
  /** The same one gives the same messages. */
  readonly seed: number
  readonly onProgress?: (done: number) => void
}

export type FuzzResult = ReturnType<typeof fuzzFormat>

const keptFindings = 20

/** By name, what begins a reader of each format that is registered. A source reads lines with the parser of the own format. */
export const subjects: ReadonlyMap<string, () => Subject> = new Map([
  ...[...sourceFormats].map(([name, format]) => [name, () => sourceSubject(format)] as const),
  ...[...ownFormats].map(([name, format]) => [name, () => ownSubject(format)] as const),
])

/** Reads the samples of a format again and again, each time with one of their messages mutated. */
export function fuzzFormat(name: string, { count, seed, onProgress = () => {} }: FuzzSetup) {
  const streams = (samples.get(name) ?? []).map(packetsOf)
  const packets = streams.flatMap((stream, place) =>
    stream.map((packet, at) => ({ packet, stream: place, at })),
  )
  const [first, ...rest] = packets
  const begin = subjects.get(name)
  if (!begin || !first) return { findings: [`test/formats/samples has no ${name}.json`], slowest: '' }
  const findings: string[] = []
  const turns = new SlowTurns()
  for (let place = 0; place < count && findings.length < keptFindings; place++) {
    const random = new Random(seed, place)
    const { packet, stream, at } = random.pick([first, ...rest])
    const mutated = mutatePacket(packet, random.pick([first, ...rest]).packet, random)
    const problems: string[] = []
    try {
      const subject = begin()
      for (const [index, each] of (streams[stream] ?? []).entries()) {
        const isMutated = index === at
        const read = isMutated ? mutated : each
        const result = isMutated
          ? turns.take(mutated.payload, () => subject.read(mutated))
          : subject.read(each)
        problems.push(...subject.problems(read, result))
        if (isMutated) turns.take(mutated.payload, () => subject.learn(result))
        else subject.learn(result)
      }
    } catch (error) {
      problems.push(`${(error as Error).stack}`)
    }
    const shown = JSON.stringify(mutated.payload.toString('latin1').slice(0, 1_000))
    for (const problem of problems) findings.push(`message ${place}: ${problem}; ${mutated.topic} ${shown}`)
    if (place % 1_000 === 0) onProgress(place)
  }
  const { broken, slowest } = turns.judge(result =>
    Array.isArray(result) ? JSON.stringify({ values: result }) : '',
  )
  return { findings: [...findings, ...broken], slowest }
}
