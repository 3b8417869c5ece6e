import { decodeSignedIntegers, encodeSignedIntegers } from 'ol/format/Polyline.js'

/** TopoJSON: each arc is a list of steps `[x, y]` from one point to the next. */
export interface Topology {
  readonly arcs: readonly (readonly (readonly number[])[])[]
}

/** The same topology with its arcs as one text. Lossless, and a fifth smaller after compression. */
export interface PackedTopology {
  /** Arcs, separated by spaces. An arc has first all x, then all y, as signed integers of the polyline algorithm. */
  readonly arcs: string
}

export function packLand<Land extends Topology>({
  arcs,
  ...rest
}: Land): Omit<Land, 'arcs'> & PackedTopology {
  const texts = arcs.map(steps => {
    return encodeSignedIntegers([...steps.map(([x = 0]) => x), ...steps.map(([, y = 0]) => y)])
  })
  return { ...rest, arcs: texts.join(' ') }
}

/** @param land packed, as in a build, or not packed, as from the development server */
export function unpackLand<Land extends Topology | PackedTopology>({ arcs, ...rest }: Land): object {
  return { ...rest, arcs: typeof arcs === 'string' ? arcs.split(' ').map(stepsOf) : arcs }
}

function stepsOf(text: string): number[][] {
  const numbers = decodeSignedIntegers(text)
  const count = numbers.length / 2
  return Array.from({ length: count }, (_, step) => [numbers[step] ?? 0, numbers[count + step] ?? 0])
}
