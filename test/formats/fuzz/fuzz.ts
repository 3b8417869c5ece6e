import { influx } from '../../../src/formats/influx.ts'
import { levels } from '../../../src/formats/levels.ts'
import { ownFormats, sourceFormats } from '../../../src/formats/registry.ts'
import { Random } from '../../helpers/random.ts'
import { type Sample, samples } from '../samples.ts'
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

interface FuzzedFormat {
  readonly samples: readonly Sample[]
  /** Begins a reader for the messages of a sample. */
  begin(sample: Sample): Subject
}

/** The formats that are registered, by name. */
export const subjects: ReadonlyMap<string, FuzzedFormat> = new Map([
  ...[...sourceFormats].map(([name, format]) => [name, fuzzed(name, () => sourceSubject(format))] as const),
  ['levels', fuzzed('levels', ({ pattern = '' }) => sourceSubject(levels(pattern)))],
  ...[...ownFormats].map(([name, format]) => [name, fuzzed(name, () => ownSubject(format))] as const),
  [
    'influx of a source',
    {
      samples: samplesOf('influx').map(sample => ({
        ...sample,
        messages: sample.messages.map(({ payload }) => ({ payload, post: {} })),
      })),
      begin: () => sourceSubject(influx, payload => payload.toString()),
    },
  ],
])

function fuzzed(name: string, begin: FuzzedFormat['begin']): FuzzedFormat {
  return { samples: samplesOf(name), begin }
}

/** @throws Error if there are none */
function samplesOf(name: string): readonly Sample[] {
  const found = samples.get(name)
  if (!found) throw new Error(`test/formats/samples has no ${name}.json`)
  return found
}

/** Reads the samples of a format again and again, each time with one of their messages mutated. */
export function fuzzFormat(name: string, { count, seed, onProgress = () => {} }: FuzzSetup) {
  const format = subjects.get(name)
  if (!format) throw new Error(`the formats are ${[...subjects.keys()].join(', ')}, but not ${name}`)
  const streams = format.samples.map(sample => ({ sample, messages: packetsOf(sample) }))
  const packets = streams.flatMap(stream => stream.messages.map((packet, at) => ({ packet, stream, at })))
  const [first, ...rest] = packets
  if (!first) throw new Error(`the samples of ${name} have no message`)
  const findings: string[] = []
  const turns = new SlowTurns()
  for (let place = 0; place < count && findings.length < keptFindings; place++) {
    const random = new Random(seed, place)
    const { packet, stream, at } = random.pick([first, ...rest])
    const mutated = mutatePacket(packet, random.pick([first, ...rest]).packet, random)
    const problems: string[] = []
    try {
      const subject = format.begin(stream.sample)
      for (const [index, each] of stream.messages.entries()) {
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
