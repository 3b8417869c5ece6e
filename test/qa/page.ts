/** A row of docs/inside/qa.md. */
export interface Suite {
  readonly name: string
  /** Such as `npm run soak -- --nodes 2`. */
  readonly command: string
  /** Of its newest run; undefined: there was none. */
  readonly minutes: number | undefined
}

const row = /^\| (\S+) \| `(npm run [^`]+)` \| (\d*) ?\| .*\|$/gm

export function suitesIn(page: string): Suite[] {
  return [...page.matchAll(row)].map(([, name = '', command = '', minutes]) => ({
    name,
    command,
    minutes: minutes ? Number(minutes) : undefined,
  }))
}

/** The page with how long a suite took, minutes, and how it ended. */
export function noteResult(page: string, suite: string, minutes: number, result: string): string {
  return page.replace(row, (line, name: string, command: string) =>
    name === suite ? `| ${name} | \`${command}\` | ${minutes} | ${result} |` : line,
  )
}
