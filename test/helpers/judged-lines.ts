/** What a program says of promises and bounds, line by line. */
export class JudgedLines {
  #broken = 0

  /** Of promises and bounds. */
  get broken(): number {
    return this.#broken
  }

  line(ok: boolean, text: string): void {
    if (!ok) this.#broken++
    console.log(`${ok ? 'ok    ' : 'BROKEN'}  ${text}`)
  }
}
