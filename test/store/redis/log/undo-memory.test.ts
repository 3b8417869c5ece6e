import { expect, test } from 'vitest'
import { UndoMemory } from '../../../../src/store/redis/log/follower.ts'
import { encodeNumberedState } from '../../../../src/store/redis/record-member.ts'

/** The commit `writeNumber` put a state over that of the commit `before`. */
function undo(writeNumber: number, before?: number) {
  const record = { key: 'a', datetime: 1, value: '1' }
  const state = before === undefined ? undefined : encodeNumberedState(before, record)
  return { thingId: 'thing', key: 'a', writeNumber, before: state }
}

function numbersSince(memory: UndoMemory, writeNumber: number): number[] {
  return memory.since(writeNumber).map(undo => undo.writeNumber)
}

test('since() gives what each open snapshot needs, and nothing of what came and went behind it', () => {
  const memory = new UndoMemory()
  memory.open(10)
  for (let number = 11; number <= 20; number++) memory.add([undo(number, number - 1)])
  memory.open(20)
  for (let number = 21; number <= 30; number++) memory.add([undo(number, number - 1), undo(number)])
  expect(numbersSince(memory, 10)).toEqual([11])
  expect(numbersSince(memory, 20)).toEqual([21])
})

test('add() keeps nothing where no snapshot is open', () => {
  const memory = new UndoMemory()
  memory.add([undo(6, 5)])
  memory.open(5)()
  memory.add([undo(7, 5)])
  expect(numbersSince(memory, 0)).toEqual([])
  memory.open(7)
  expect(numbersSince(memory, 0)).toEqual([])
})

test('open() gives back how to stop: the others go on, one of the same write among them', () => {
  const memory = new UndoMemory()
  const [stop, stopOfSame] = [memory.open(10), memory.open(10)]
  memory.open(12)
  memory.add([undo(13, 9)])
  stop()
  stop()
  expect(numbersSince(memory, 10)).toEqual([13])
  stopOfSame()
  memory.add([undo(14, 11), undo(15, 13)])
  expect(numbersSince(memory, 12)).toEqual([13, 14])
})
