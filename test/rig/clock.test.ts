import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { otherClock } from '../helpers/other-clock.ts'

const program = `
const wall = Date.now(), monotonic = performance.now()
setTimeout(() => console.log(JSON.stringify({
  wall, wallRan: Date.now() - wall, monotonicRan: performance.now() - monotonic,
})), 300)`

it.each([10, -10])('a process of a clock that is ahead by %i s has timers that run as ever', async ahead => {
  const env = { ...process.env, ...otherClock(`${ahead < 0 ? '' : '+'}${ahead}`) }
  const began = Date.now()
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program], { env })
  const ended = Date.now()
  const { wall, wallRan, monotonicRan } = JSON.parse(stdout)
  expect(wall - ahead * 1_000).toBeGreaterThanOrEqual(began)
  expect(wall - ahead * 1_000).toBeLessThanOrEqual(ended)
  expect(wallRan).toBeGreaterThanOrEqual(299)
  expect(monotonicRan).toBeGreaterThanOrEqual(299)
})
