import { describe, expect, it, onTestFinished } from 'vitest'
import { type HeldBack, LogSampling } from '../../../src/server/log/log.ts'
import { createThing, write } from '../../helpers/http-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'

const warn = 40
const error = 50

describe('LogSampling', () => {
  it('admits the first five lines of a kind, and tells how many more there were', () => {
    const { sampling, told } = collect()
    const admitted = Array.from({ length: 12 }, () => sampling.admits(warn, 'flood'))
    expect(admitted.filter(Boolean)).toHaveLength(5)
    expect(sampling.admits(warn, 'other')).toBe(true)
    sampling.endPeriod()
    expect(told).toEqual([{ level: warn, kind: 'flood', suppressed: 7 }])
  })

  it('begins anew with each period', () => {
    const { sampling, told } = collect()
    for (let line = 0; line < 6; line++) sampling.admits(warn, 'flood')
    sampling.endPeriod()
    expect(sampling.admits(warn, 'flood')).toBe(true)
    sampling.endPeriod()
    expect(told).toHaveLength(1)
  })

  it('tells by itself when the period is over', async () => {
    const told = await new Promise<HeldBack>(resolve => {
      const sampling = new LogSampling(resolve, 20)
      for (let line = 0; line < 6; line++) sampling.admits(error, 'flood')
      // Its timer alone does not keep a process alive.
      const alive = setInterval(() => {}, 1_000)
      onTestFinished(() => clearInterval(alive))
    })
    expect(told).toEqual({ level: error, kind: 'flood', suppressed: 1 })
  })

  it('keeps the levels of one text apart', () => {
    const { sampling } = collect()
    for (let line = 0; line < 6; line++) sampling.admits(warn, 'flood')
    expect(sampling.admits(error, 'flood')).toBe(true)
  })

  it('admits a bounded number of lines, however many kinds there are', () => {
    const { sampling, told } = collect()
    const admitted = Array.from({ length: 10_000 }, (_, line) => sampling.admits(warn, `kind ${line}`))
    expect(admitted.filter(Boolean)).toHaveLength(64 + 5)
    sampling.endPeriod()
    expect(told).toEqual([{ level: warn, kind: 'lines of other kinds', suppressed: 10_000 - 64 - 5 }])
  })
})

describe('the log of the server', () => {
  it('is not filled by a flood of requests that are each worth a line', async () => {
    const server = await serverOfTest({
      environment: { THINGWIRE_MIN_FREE_SPACE: `${Number.MAX_SAFE_INTEGER}` },
    })
    const thing = await createThing(server)
    const requests = 400
    for (let value = 0; value < requests; value++) {
      const answer = await write(server, thing, { values: [{ key: 'n', value }] })
      expect(answer.status).toBe(503)
    }
    const { stderr } = await server.stop()
    const lines = stderr.split('\n').filter(line => line.includes('too little room'))
    const told = lines.map(line => JSON.parse(line) as { level: number; suppressed?: number })
    expect(told.length).toBeLessThan(20)
    expect(new Set(told.map(line => line.level))).toEqual(new Set([warn]))
    const written = told.filter(line => line.suppressed === undefined).length
    const suppressed = told.reduce((sum, line) => sum + (line.suppressed ?? 0), 0)
    expect(written + suppressed).toBe(requests)
  })
})

function collect() {
  const told: HeldBack[] = []
  return { told, sampling: new LogSampling(heldBack => told.push(heldBack)) }
}
