import { makeDist } from '../../tools/build/dist.ts'

let building: Promise<unknown> | undefined

/**
 * Makes `dist` if it is missing or stale: a process that is started from there is ready with half of the processor time
 * that it takes to compile on the way, and tests start hundreds.
 *
 * @throws Error if the compiler or a bundler fails
 */
export async function built(): Promise<void> {
  building ??= makeDist()
  await building
}

/** Of vitest: before any test, so that no two build at once. */
export default built
