/** Tells those who wait that something has changed. */
export class Changes {
  #waiting: (() => void)[] = []

  tell(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /**
   * Resolves when it is so, which is looked at whenever something has changed.
   *
   * @param time for which to wait, milliseconds; default: as long as it takes
   * @returns whether it came about in time
   */
  async until(isSo: () => boolean, time?: number): Promise<boolean> {
    let isLate = false
    const late = () => {
      isLate = true
      this.tell()
    }
    const timer = time === undefined ? undefined : setTimeout(late, time)
    while (!isSo() && !isLate) await new Promise<void>(resolve => this.#waiting.push(resolve))
    clearTimeout(timer)
    return isSo()
  }
}
