import type { FilledStore } from '../peers/filled-store.ts'
import type { Peer } from '../peers/peer.ts'

/** What one run of the bench has at hand. */
export interface Session {
  /** Where every store is, the peers' too; on the disk that is to be measured. */
  readonly directory: string
  readonly filled: FilledStore
  /** Of the product, on top of its own. */
  readonly environment?: NodeJS.ProcessEnv
  /** The built command of the product. Default: that of this tree. */
  readonly command?: string
  /** Of a measured stretch. */
  readonly seconds: number
  /** Before it. */
  readonly warmUp: number
  /** Of the publishers to one thing. */
  readonly connections: number
  /** Publishes of a connection that wait for their acks, in a closed loop. */
  readonly window: number
}

/** What was measured of one side in one round. */
export interface Turn {
  readonly figure: number
  /** Processor time over the measured stretch by process, as a share of one core; `generator` is the load's own. */
  readonly cores: Readonly<Record<string, number>>
  /** What a reader has to know about this turn, such as a generator that was late. */
  readonly note?: string
}

/** One side while it runs. */
export interface Contestant {
  /** Its main thread is put on another core each round. Absent: it has several processes, or each turn starts its own. */
  readonly peer?: Peer
  turn(): Promise<Turn>
  stop(): Promise<void>
}

/** By name of the side. */
export type Figures = Readonly<Record<string, number>>

/** What a comparison is held to. */
export interface Bar {
  readonly measure: string
  readonly judged: (figures: Figures) => number
  readonly bound: 'at least' | 'at most'
  readonly floor: number
  readonly aim: number
  /** Of `floor` and `aim`; absent: a ratio. */
  readonly unit?: string
}

/** Sides that are measured in turn, in the same minutes, under the same load. */
export interface Comparison {
  readonly name: string
  /** Of the figures. */
  readonly unit: string
  /** The figure lies near its floor: it is measured in five times as many rounds. */
  readonly isClose?: true
  readonly sides: Readonly<Record<string, (session: Session) => Promise<Contestant>>>
  readonly bars: readonly Bar[]
}

/** The bar that `side` makes at least so many times the figure of `over`. */
export function ratio(side: string, over: string, [floor, aim]: readonly [number, number]): Bar {
  return {
    measure: `${side} / ${over}`,
    judged: figures => (figures[side] ?? Number.NaN) / (figures[over] ?? Number.NaN),
    bound: 'at least',
    floor,
    aim,
  }
}

/** The bar that the figure of `side` is at most so much. */
export function most(side: string, unit: string, [floor, aim]: readonly [number, number]): Bar {
  return {
    measure: side,
    judged: figures => figures[side] ?? Number.NaN,
    bound: 'at most',
    floor,
    aim,
    unit,
  }
}
