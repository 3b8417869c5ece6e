import { aligned, figureText } from '../compare/table.ts'
import { median } from '../statistics.ts'
import { lateRecord, type Turn } from './looks.ts'
import type { ProductSide } from './product.ts'
import { shapes } from './product.ts'
import type { Side } from './side.ts'

const peers = ['SQLite', 'PostgreSQL'] as const
/** In the heads of columns. */
const short: Readonly<Record<string, string>> = {
  'product, batches': 'batch',
  'product, single writes': 'single',
  SQLite: 'SQLite',
  PostgreSQL: 'PG',
}

/** What each side took, medians in milliseconds, and the product's as a multiple of each peer's. */
export function looksTable(turns: readonly Turn[]): string {
  const products = shapes.map(({ name }) => name)
  const ratios = products.flatMap(product => peers.map(peer => ({ product, peer })))
  const header = [
    'ms',
    'look',
    ...[...products, ...peers].map(side => short[side] ?? side),
    'SQLite itself',
    ...ratios.map(({ product, peer }) => `${short[product]}/${short[peer]}`),
  ]
  const names = [...new Set(turns.map(({ view }) => view))]
  const rows = names.flatMap(view => {
    const ofView = turns.filter(turn => turn.view === view)
    const isLate = view === lateRecord
    return (['first', 'later'] as const).map(when => {
      const figureOf = (side: string) =>
        median(ofView.filter(turn => turn.side === side).flatMap(turn => turn[when]))
      const itself = when === 'later' ? median(ofView.flatMap(({ inDatabase }) => inDatabase)) : Number.NaN
      return [
        when === 'first' ? view : '',
        isLate ? { first: 'next', later: 'before' }[when] : when,
        ...[...products, ...peers].map(side => figureText(figureOf(side))),
        figureText(itself),
        ...ratios.map(({ product, peer }) => figureText(figureOf(product) / figureOf(peer))),
      ]
    })
  })
  return aligned([header, ...rows])
}

/** What each side keeps, and what the compactor needed for the product's. */
export function storesTable(sides: readonly (Side | ProductSide)[]): string {
  const header = [
    'store',
    'filled in s',
    'bytes a record',
    'before compaction',
    'packed in s',
    'with its usual rests',
  ]
  const rows = sides.map(side => {
    const compaction =
      'compaction' in side
        ? [side.bytesPerRecordBefore, side.compaction.withoutRests, side.compaction.withRests]
        : Array<number>(3).fill(Number.NaN)
    return [
      side.name,
      ...[side.secondsToFill, side.bytesPerRecord, ...compaction].map(each => figureText(each)),
    ]
  })
  return aligned([header, ...rows])
}
