const width = 24

/**
 * Shows how far a long work is: one line that is drawn over on a terminal, a line every tenth elsewhere.
 *
 * @param describe says it in words; asked each time
 */
export function createProgress(total: number, describe: (done: number) => string): (done: number) => void {
  let shownTenth = -1
  return done => {
    const share = done / total
    if (process.stdout.isTTY) {
      const bar = '█'.repeat(Math.round(share * width)).padEnd(width, '░')
      process.stdout.write(`\r${bar} ${describe(done)}${done === total ? '\n' : ''}`)
      return
    }
    const tenth = Math.floor(share * 10)
    if (tenth === shownTenth) return
    shownTenth = tenth
    console.log(`${String(tenth * 10).padStart(3)} %  ${describe(done)}`)
  }
}
