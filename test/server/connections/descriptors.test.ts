import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import {
  connectionsWithin,
  Descriptors,
  descriptorLimit,
} from '../../../src/server/connections/descriptors.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'

test('connectionsWithin() keeps descriptors back for the process and the tables of its store', () => {
  expect(connectionsWithin(256)).toBe(256 - 64 - 51)
  expect(connectionsWithin(1_024)).toBe(1_024 - 64 - 204)
  expect(connectionsWithin(1_000_000)).toBe(1_000_000 - 64 - 1_000)
  expect(connectionsWithin(20)).toBe(1)
  expect(connectionsWithin(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY)
})

test('descriptorLimit() is that of this process', () => {
  expect(descriptorLimit()).toBeGreaterThan(20)
})

test('Descriptors lets as many connections in as there is room for, and says once that there is none', async () => {
  const log = new CollectedLog()
  const descriptors = new Descriptors(log.logger, 64 + 3)
  const [one, other] = [new Socket(), new Socket()]
  const most = connectionsWithin(64 + 3)
  expect(most).toBe(1)
  expect([descriptors.enter(one), descriptors.enter(other), descriptors.enter(other)]).toEqual([
    true,
    false,
    false,
  ])
  expect(
    log.lines(50).filter(line => line.includes('has descriptors for only 1 connections besides its files')),
  ).toHaveLength(1)
  await new Promise(resolve => one.once('close', resolve).destroy())
  expect(descriptors.enter(other)).toBe(true)
  other.destroy()
})
