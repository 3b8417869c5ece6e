import type { NamedThing } from '../client/named-thing.ts'
import { failure } from '../exit.ts'
import type { LoadCounts } from '../load/loader.ts'
import { counted, printResult } from '../output.ts'

/**
 * Says what a write has done.
 *
 * @param text for people
 * @throws CommandError failed if something was refused and left out, with `--partial` too: a script must notice
 */
export async function showResult(
  { thingId }: NamedThing,
  done: LoadCounts,
  { text, json }: { readonly text: string; readonly json: true | undefined },
): Promise<void> {
  await printResult({ json }, { thingId, ...done }, text)
  if (done.refused > 0) throw failure(`${counted(done.refused, 'record')} refused and left out`)
}
