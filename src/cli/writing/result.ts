import type { NamedThing } from '../client/named-thing.ts'
import { failure } from '../exit.ts'
import type { LoadCounts } from '../load/loader.ts'
import { counted, printResult } from '../output.ts'

/**
 * Prints the result of a write.
 *
 * @param text the result in words
 * @throws CommandError failed if records were refused and left out, even with `--partial`, so that a script notices it
 */
export async function showResult(
  { thingId }: NamedThing,
  done: LoadCounts,
  { text, json }: { readonly text: string; readonly json: true | undefined },
): Promise<void> {
  await printResult({ json }, { thingId, ...done }, text)
  if (done.refused > 0) throw failure(`${counted(done.refused, 'record')} refused and left out`)
}
