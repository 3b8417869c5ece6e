import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendTo, waitedFor } from '../../../src/conformance/writes.ts'
import type { Append, Commit } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const wholeLog = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 100 } as const

test('append() whose time is up while it is committed is told and logged without broadcast', async () => {
  const driver = createLevelStore({ location: join(await temporaryDirectory(), 'store') })
  await driver.open()
  const { records } = driver
  const told: Commit[] = []
  records.onCommit(commit => told.push(commit))
  const late = { ...waitedFor(), expired: false }
  records.logWhen(({ thingId }) => {
    if (thingId === 'late') late.expired = true
    return true
  })
  const record = { key: 'depth', datetime: 1, value: '1', place: 0 }
  const fixed = { records: [record], store: true, answer: {}, broadcast: true }
  const write = (thingId: string): Append => ({ ...fixed, thingId })
  await Promise.all([
    appendTo(records, write('before'), waitedFor()),
    appendTo(records, write('late'), late),
    appendTo(records, write('after'), waitedFor()),
  ])
  expect(told.map(({ thingId, broadcast }) => [thingId, broadcast])).toEqual([
    ['before', true],
    ['late', false],
    ['after', true],
  ])
  // A snapshot stands behind what the commit has left to be done.
  await (await records.snapshot()).close()
  expect(await records.readLog(wholeLog)).toEqual(told)
  await driver.close()
})
