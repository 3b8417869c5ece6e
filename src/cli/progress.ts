/** Milliseconds between two lines of progress, on a terminal and elsewhere. */
const betweenOnTerminal = 200
const betweenElsewhere = 5_000

/** One line on stderr that says how far a long command is: drawn over on a terminal, every few seconds elsewhere. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true
  #shownAt = Date.now()
  #isDrawn = false

  /** @param describe asked only when a line is due */
  show(describe: () => string): void {
    const now = Date.now()
    if (now - this.#shownAt < (this.#isTerminal ? betweenOnTerminal : betweenElsewhere)) return
    this.#shownAt = now
    if (this.#isTerminal) process.stderr.write(`\r\x1b[K${describe()}`)
    else process.stderr.write(`${describe()}\n`)
    this.#isDrawn = this.#isTerminal
  }

  /** A line of its own, at once. */
  say(line: string): void {
    this.clear()
    process.stderr.write(`${line}\n`)
  }

  /** Takes the drawn line away. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write('\r\x1b[K')
    this.#isDrawn = false
  }
}

/** `50 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `123 B`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const size = bytes / 1024 ** power
  return `${power === 0 ? size : size.toFixed(1)} ${units[power]}`
}
