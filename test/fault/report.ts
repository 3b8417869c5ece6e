import { JudgedLines } from '../helpers/judged-lines.ts'
import type { Answers } from './failing-disk.ts'
import type { Kill } from './kill.ts'
import { countViolations, type Violations } from './ledger.ts'

/** What `npm run fault` says, line by line. */
export class Report extends JudgedLines {
  violations(what: string, violations: Violations): void {
    const named = Object.entries(violations)
      .filter(([, names]) => names.length > 0)
      .map(([name, names]) => `${name}: ${names.length} (${names.slice(0, 3).join(', ')})`)
    this.line(countViolations(violations) === 0, `${what}: ${named.join('; ') || 'everything as promised'}`)
  }

  /** @param violations in words */
  list(what: string, violations: readonly string[]): void {
    const some = violations.slice(0, 3).map(text => text.slice(0, 300))
    const text = `${violations.length} violations: ${some.join('; ')}`
    this.line(
      violations.length === 0,
      `${what}: ${violations.length === 0 ? 'everything as promised' : text}`,
    )
  }

  answers(what: string, answers: Answers, expected: readonly string[]): void {
    const counts = Object.entries(answers).map(([answer, count]) => `${count} times ${answer}`)
    const isExpected = Object.keys(answers).every(answer => expected.includes(answer))
    this.line(isExpected, `${what}: answers: ${counts.join(', ')}`)
  }

  /** One row for each point. */
  table(kills: readonly Kill[]): void {
    const points = [...new Set(kills.map(({ point }) => point))]
    console.table(Object.fromEntries(points.map(point => [point, rowOf(kills, point)])))
  }
}

function rowOf(all: readonly Kill[], point: string) {
  const kills = all.filter(kill => kill.point === point)
  const sum = (count: (kill: Kill) => number) => kills.reduce((total, kill) => total + count(kill), 0)
  return {
    kills: kills.length,
    reached: kills.filter(({ proof }) => proof !== undefined).length,
    acks: sum(({ acks }) => acks),
    uncertain: sum(({ uncertain }) => uncertain),
    'of them kept': sum(({ kept }) => kept),
    'PUBREC only': sum(({ released }) => released),
    missing: sum(({ violations }) => violations.missing.length),
    halves: sum(({ violations }) => violations.halves.length),
    repeated: sum(({ violations }) => violations.repeated.length),
    unknown: sum(({ violations }) => violations.unknown.length),
    breaches: sum(({ violations }) => violations.breaches.length),
  }
}
