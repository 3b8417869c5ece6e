/** Minimum time between two updates of the progress, milliseconds: on a terminal, and elsewhere. */
const betweenOnTerminal = 200
const betweenElsewhere = 5_000

/** Shows on stderr how far a long command has got: one line that is redrawn on a terminal, else a line every few seconds. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true
  #shownAt = Date.now()
  #isDrawn = false

  /** @param describe returns the text to show; called only when an update is due */
  show(describe: () => string): void {
    const now = Date.now()
    if (now - this.#shownAt < (this.#isTerminal ? betweenOnTerminal : betweenElsewhere)) return
    this.#shownAt = now
    if (this.#isTerminal) process.stderr.write(`\r\x1b[K${describe()}`)
    else process.stderr.write(`${describe()}\n`)
    this.#isDrawn = this.#isTerminal
  }

  /** Prints a separate line immediately. */
  say(line: string): void {
    this.clear()
    process.stderr.write(`${line}\n`)
  }

  /** Erases the progress line. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write('\r\x1b[K')
    this.#isDrawn = false
  }
}

/** A duration as text, such as `50 s`, `3 min 20 s` or `2 h 5 min`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A size as text, such as `123 B` or `1.5 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const size = bytes / 1024 ** power
  return `${power === 0 ? size : size.toFixed(1)} ${units[power]}`
}
