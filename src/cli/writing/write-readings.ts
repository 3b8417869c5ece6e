import { randomUUID } from 'node:crypto'
import { parseDatetime } from '../../core/record/datetime.ts'
import { RefusedError } from '../client/client.ts'
import { connect } from '../client/connection.ts'
import { findThing } from '../client/named-thing.ts'
import { CommandError, usageError } from '../exit.ts'
import { withRetry } from '../load/with-retry.ts'
import { counted } from '../output.ts'
import { Progress } from '../progress.ts'
import { geoOf, notesOf, readingOf } from '../records/argument.ts'
import { type Flags, writeFlags } from './flags.ts'
import { tellResult } from './result.ts'

/** Writes the readings of a command line, in one write. */
export async function writeReadings(
  named: string | undefined,
  operands: readonly string[],
  flags: Flags,
): Promise<void> {
  if (flags.datetime !== undefined && parseDatetime(flags.datetime) === undefined) {
    throw usageError(`--datetime must be a time such as 2026-11-21T09:30:00Z: it is ${flags.datetime}`)
  }
  // As in a file: a clock without a zone could be that of the reader or UTC.
  if (flags.datetime?.includes(':') && !/(?:z|[+-]\d\d:?\d\d)$/i.test(flags.datetime)) {
    throw usageError(
      `--datetime ${flags.datetime} names no zone: end it with Z, or with an offset such as +02:00`,
    )
  }
  const geo = flags.geo === undefined ? undefined : geoOf(flags.geo)
  const values = operands.map(operand => ({ ...readingOf(operand), geo, datetime: flags.datetime }))
  for (const note of operands.flatMap(notesOf)) console.error(`thingwire: note: ${note}`)
  const client = await connect(flags, 'any')
  const progress = new Progress()
  const onWait = (why: string, seconds: number) => progress.say(`${why}: again in ${seconds} s`)
  const thing = await withRetry(() => findThing(client, named), {
    isExpected: false,
    isEndless: false,
    onWait,
  })
  // With an id of its own, a write whose answer was lost can be sent again.
  const body = { id: randomUUID(), ...writeFlags(flags), values }
  const rejected = await withRetry(
    () => client.post<{ rejected?: object[] }>(`/v2/things/${thing.thingId}`, body),
    { isExpected: true, isEndless: false, onWait },
  )
    .then(answer => answer.rejected ?? [])
    .catch((error: unknown) => {
      throw error instanceof RefusedError && error.errors.length > 0
        ? refusedReadings(error, operands)
        : error
    })
  const records = values.length - rejected.length
  await tellResult(
    thing,
    { records, before: 0, refused: rejected.length },
    { text: `${counted(records, 'record')} written to ${thing.name || thing.thingId}`, json: flags.json },
  )
}

function refusedReadings({ status, errors }: RefusedError, operands: readonly string[]): CommandError {
  const lines = errors.map(({ index, message, reason }) => `${operands[index]}: ${message} (${reason})`)
  return new CommandError(status, 'nothing was written: the server refused', lines)
}
