interface Turn {
  readonly payload: Buffer
  /** Does the same each time. */
  readonly run: () => unknown
  readonly took: number
}

/** What a turn may take, of the time of JSON.parse. */
const bound = 2
/** Milliseconds that count for JSON.parse at least: less is noise. */
const floor = 1
const kept = 20
const repetitions = 9

/** Finds the turns that take longest beside JSON.parse of the same bytes. */
export class SlowTurns {
  #turns: Turn[] = []

  /** Runs a turn, and again if it was slow, since it may have been interrupted. @returns its result */
  take(payload: Buffer, run: () => unknown): unknown {
    const { result, took: first } = measure(run)
    const took = first > floor ? Math.min(first, measure(run).took) : first
    if (this.#turns.length < kept || took > (this.#turns.at(-1)?.took ?? 0)) {
      this.#turns.push({ payload, run, took })
      this.#turns.sort((one, other) => other.took - one.took)
      this.#turns.length = Math.min(this.#turns.length, kept)
    }
    return result
  }

  /** @param alike JSON of the readings in a payload that is no JSON itself */
  judge(alike: (result: unknown) => string) {
    const turns = this.#turns.map(turn => {
      let judged = judgeTurn(turn, alike)
      for (let attempt = 0; judged.times > bound && attempt < 3; attempt++) judged = judgeTurn(turn, alike)
      return judged
    })
    const broken = turns
      .filter(({ times }) => times > bound)
      .map(
        ({ figures, payload }) => `${figures}: ${JSON.stringify(payload.toString('latin1').slice(0, 300))}`,
      )
    const slowest = turns.reduce((one, other) => (other.times > one.times ? other : one)).figures
    return { broken, slowest }
  }
}

function judgeTurn({ payload, run }: Turn, alike: (result: unknown) => string) {
  const text = payload.toString()
  const texts = parses(payload) ? [text] : [text, JSON.stringify(text), alike(run())]
  const parse = Math.max(...texts.map(each => fastest(() => parses(Buffer.from(each)))))
  const took = fastest(run)
  const figures = `${took.toFixed(2)} ms for ${payload.length} bytes, JSON.parse ${parse.toFixed(2)} ms`
  return { times: took / Math.max(parse, floor), figures, payload }
}

function measure(run: () => unknown): { readonly result: unknown; readonly took: number } {
  const started = performance.now()
  const result = run()
  return { result, took: performance.now() - started }
}

/** Milliseconds. A run that was not interrupted: on a busy machine the median is mostly that of others. */
function fastest(run: () => unknown): number {
  return Math.min(...Array.from({ length: repetitions }, () => measure(run).took))
}

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    // A text up to its first mistake.
    return false
  }
}
