import { JudgedLines } from '../helpers/judged-lines.ts'
import { seconds } from './participant.ts'
import { type Fault, type Round, Rounds, type RoundsSetup } from './rounds.ts'

/** What a program that breaks things reports, line by line. */
export class Report extends JudgedLines {
  /** @param violations in words */
  list(what: string, violations: readonly string[]): void {
    const some = violations.slice(0, 3).map(text => text.slice(0, 300))
    const text = `${violations.length} violations: ${some.join('; ')}`
    this.line(
      violations.length === 0,
      `${what}: ${violations.length === 0 ? 'everything as promised' : text}`,
    )
  }

  async round(rounds: Rounds, fault: Fault, number: number): Promise<Round> {
    const began = performance.now()
    const round = await rounds.run(fault)
    const { acks, violations, overdue, notes } = round
    const what = [
      `${fault.name}, round ${number}`,
      `${acks} acks`,
      ...notes,
      seconds(performance.now() - began),
    ]
    this.list(what.join(', '), [...violations, ...overdue])
    return round
  }
}

/** Runs the task on rounds that are ended afterwards, with a last look. */
export async function withRounds(
  report: Report,
  setup: RoundsSetup,
  task: (rounds: Rounds) => Promise<void>,
): Promise<void> {
  const rounds = await Rounds.start(setup)
  try {
    await task(rounds)
    const repeated = rounds.watchers?.repeated ?? 0
    report.list(
      `at the end, with ${rounds.acks} acks, ${rounds.acksOverMqtt()}, and ${repeated} messages that came again to sessions`,
      await rounds.finish(),
    )
  } finally {
    await rounds.end()
  }
}

/** The names of the scenarios that are asked for. @throws Error if there are none */
export function chosen(names: readonly string[], only: string | undefined): readonly string[] {
  const found = names.filter(name => only === undefined || name === only)
  if (found.length === 0) throw new Error(`--only takes one of ${names.join(', ')}`)
  return found
}
