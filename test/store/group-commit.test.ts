import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { waitedFor } from '../../src/conformance/writes.ts'
import { promised } from '../../src/store/commit-ticket.ts'
import type { CommitTicket } from '../../src/store/contract.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'

interface Numbered {
  readonly number: number
  readonly ticket: CommitTicket<number>
}

/** A group commit of numbers. */
class Numbers extends GroupCommit<Numbered, number> {
  pushed(number: number): Promise<number> {
    return promised({ expired: false, deadline: Number.POSITIVE_INFINITY }, ticket =>
      this.push({ number, ticket }),
    )
  }
}

const numbersOf = (items: readonly Numbered[]) => items.map(({ number }) => number)

/** A group commit whose groups are committed by hand. */
function heldGroups(
  weigh: (item: number) => number = () => 1,
  maximumWeight = 100,
  turn: () => Promise<void> | undefined = () => undefined,
  prepare?: (item: number) => boolean,
) {
  const groups: (readonly number[])[] = []
  const waiting: ((results: readonly (number | Error)[] | Error) => void)[] = []
  let announce: () => void = () => {}
  const groupCommit = new Numbers(
    {
      commit: (items, begun) =>
        new Promise((resolve, reject) => {
          groups.push(numbersOf(items))
          waiting.push(results => (results instanceof Error ? reject(results) : resolve(results)))
          begun()
          announce()
        }),
      // Those of one hundred keep their order.
      mayPass: (item, before) => Math.floor(item.number / 100) !== Math.floor(before.number / 100),
      ...(prepare && { prepare: ({ number }) => prepare(number) }),
    },
    ({ number }) => weigh(number),
    maximumWeight,
    turn,
  )
  return {
    groupCommit,
    groups,
    /** Resolves when a group is being committed. */
    begun: () =>
      waiting.length > 0 ? Promise.resolve() : new Promise<void>(resolve => (announce = resolve)),
    finish: (results: readonly (number | Error)[] | Error) => waiting.shift()?.(results),
  }
}

describe('GroupCommit', () => {
  it('push() tells the others of a group what came of theirs when one that is told throws, and goes on', async () => {
    const { groupCommit, begun, finish } = heldGroups()
    const thrown: (() => void)[] = []
    const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(task => void thrown.push(task))
    onTestFinished(() => later.mockRestore())
    const resolve = () => {
      throw new Error('a defect')
    }
    groupCommit.push({ number: 1, ticket: { ...waitedFor(), resolve, reject: () => {} } })
    const second = groupCommit.pushed(2)
    await begun()
    finish([10, 20])
    expect(await second).toBe(20)
    expect(thrown[0]).toThrow('a defect')
    const third = groupCommit.pushed(3)
    await begun()
    finish([30])
    expect(await third).toBe(30)
  })

  it('push() puts what is handed in during one commit into the next', async () => {
    const { groupCommit, groups, begun, finish } = heldGroups()
    const first = groupCommit.pushed(1)
    await begun()
    const others = [groupCommit.pushed(2), groupCommit.pushed(3)]
    finish([10])
    expect(await first).toBe(10)
    await begun()
    expect(groups).toEqual([[1], [2, 3]])
    finish([20, 30])
    expect(await Promise.all(others)).toEqual([20, 30])
  })

  it('push() takes into the first group what comes in the same turn', async () => {
    const { groupCommit, groups, begun, finish } = heldGroups()
    const pushed = [groupCommit.pushed(1), groupCommit.pushed(2)]
    await begun()
    finish([1, 2])
    await Promise.all(pushed)
    expect(groups).toEqual([[1, 2]])
  })

  it('push() waits for the turn of a group, which takes what comes meanwhile, and of none when nothing is to do', async () => {
    const turns: (() => void)[] = []
    const turn = () => new Promise<void>(resolve => turns.push(resolve))
    const { groupCommit, groups, begun, finish } = heldGroups(undefined, undefined, turn)
    const first = groupCommit.pushed(1)
    await setImmediate()
    const second = groupCommit.pushed(2)
    await setImmediate()
    expect(groups).toEqual([])
    turns[0]?.()
    await begun()
    finish([1, 2])
    expect(await Promise.all([first, second])).toEqual([1, 2])
    await setImmediate()
    expect(groups).toEqual([[1, 2]])
    expect(turns).toHaveLength(1)
  })

  it('push() rejects one item alone when its result is an Error', async () => {
    const { groupCommit, begun, finish } = heldGroups()
    const pushed = [groupCommit.pushed(1), groupCommit.pushed(2)]
    await begun()
    const error = new Error('refused')
    finish([error, 2])
    expect(await Promise.allSettled(pushed)).toEqual([
      { status: 'rejected', reason: error },
      { status: 'fulfilled', value: 2 },
    ])
  })

  it('push() rejects every item of a group whose commit fails and what waits behind it, and goes on after that', async () => {
    const { groupCommit, groups, begun, finish } = heldGroups()
    const pushed = [groupCommit.pushed(1), groupCommit.pushed(2)]
    await begun()
    const waiting = groupCommit.pushed(3)
    const task = groupCommit.alone(async () => 'run')
    const error = new Error('no disk')
    finish(error)
    const rejected = { status: 'rejected', reason: error }
    expect(await Promise.allSettled([...pushed, waiting])).toEqual([rejected, rejected, rejected])
    expect(await task).toBe('run')
    const next = groupCommit.pushed(4)
    await begun()
    finish([4])
    expect(await next).toBe(4)
    expect(groups).toEqual([[1, 2], [4]])
  })

  it('push() closes a group before the item that would be too much for it', async () => {
    const { groupCommit, groups, begun, finish } = heldGroups(item => item, 10)
    const pushed = [4, 6, 1, 50, 2].map(item => groupCommit.pushed(item))
    for (const results of [[4, 6], [1], [50], [2]]) {
      await begun()
      finish(results)
    }
    await Promise.all(pushed)
    expect(groups).toEqual([[4, 6], [1], [50], [2]])
  })

  it('push() has the next group prepared while one is committed, as far as that goes', async () => {
    const prepared: number[] = []
    const prepare = (item: number) => {
      prepared.push(item)
      return item !== 4 && item !== 6
    }
    const { groupCommit, begun, finish } = heldGroups(undefined, 3, undefined, prepare)
    const pushed = [1, 2].map(number => groupCommit.pushed(number))
    await begun()
    pushed.push(groupCommit.pushed(3))
    expect(prepared).toEqual([3])
    pushed.push(...[4, 5, 6, 7].map(number => groupCommit.pushed(number)))
    expect(prepared).toEqual([3, 4])
    finish([1, 2])
    await pushed[0]
    await begun()
    expect(prepared).toEqual([3, 4, 6])
    finish([3, 4, 5])
    await pushed[2]
    await begun()
    pushed.push(groupCommit.pushed(8))
    expect(prepared).toEqual([3, 4, 6, 8])
    finish([6, 7])
    await pushed[5]
    await begun()
    finish([8])
    expect(await Promise.all(pushed)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('push() has nothing prepared that is held back by alone(), nor anything between two commits', async () => {
    const prepared: number[] = []
    const prepare = (item: number) => prepared.push(item) > 0
    const { groupCommit, begun, finish } = heldGroups(undefined, undefined, undefined, prepare)
    const first = groupCommit.pushed(1)
    await begun()
    let release: () => void = () => {}
    const task = groupCommit.alone(() => new Promise<void>(resolve => (release = resolve)))
    const second = groupCommit.pushed(2)
    finish([1])
    await first
    await setImmediate()
    const third = groupCommit.pushed(3)
    release()
    await task
    await begun()
    expect(prepared).toEqual([])
    const failed = expect(Promise.all([second, third])).rejects.toThrow('no disk')
    finish(new Error('no disk'))
    await failed
    const fourth = groupCommit.pushed(4)
    await begun()
    finish([4])
    await fourth
    expect(prepared).toEqual([])
  })

  /** Commits what was handed in, group by group, and returns the groups. */
  async function groupsOf(numbers: readonly number[], group: ReturnType<typeof heldGroups>) {
    const all = numbers.map(number => group.groupCommit.pushed(number))
    let settled = false
    const done = Promise.all(all).then(() => (settled = true))
    while (!settled) {
      await Promise.race([group.begun(), done])
      const waiting = group.groups.at(-1)
      if (!settled) group.finish(waiting ?? [])
      await setImmediate()
    }
    return group.groups
  }
  const long = (number: number) => (number % 100 < 10 ? 200 : 30)

  it.each([
    ['a short one of others passes long ones', [100, 101, 102, 211], [[100], [211], [101], [102]]],
    ['one of the same sender stays behind', [100, 101, 150, 211], [[100], [211], [101], [150]]],
    [
      'one that waits with others of its kind passes them, too',
      [100, 150, 101, 151, 211],
      [[100], [150, 211], [101], [151]],
    ],
    [
      'it does not pass a long one of its own',
      [100, 101, 200, 102, 211],
      [[100], [101], [200], [211], [102]],
    ],
    [
      'those that do not fit in between stay behind',
      [100, 101, 211, 311, 411, 511],
      [[100], [211, 311, 411], [101], [511]],
    ],
    ['long ones never pass', [100, 200, 300], [[100], [200], [300]]],
  ])('push(): %s', async (_, numbers, wanted) => {
    expect(await groupsOf(numbers, heldGroups(long))).toEqual(wanted)
  })

  it('push() has nothing pass a task', async () => {
    const held = heldGroups(long)
    const first = [100, 101].map(number => held.groupCommit.pushed(number))
    const alone = held.groupCommit.alone(async () => void held.groups.push([]))
    await groupsOf([211], held)
    await Promise.all([...first, alone])
    expect(held.groups).toEqual([[100], [101], [], [211]])
  })

  it('alone() runs after what was handed in before it and holds back what comes after', async () => {
    const { groupCommit, groups, begun, finish } = heldGroups()
    const order: string[] = []
    const before = groupCommit.pushed(1)
    let release: () => void = () => {}
    const held = new Promise<void>(resolve => (release = resolve))
    let announceTask: () => void = () => {}
    const taskBegun = new Promise<void>(resolve => (announceTask = resolve))
    const task = groupCommit.alone(async () => {
      order.push('task begins')
      announceTask()
      await held
      order.push('task ends')
      return 'done'
    })
    const after = groupCommit.pushed(2).then(() => order.push('after'))
    await begun()
    expect(order).toEqual([])
    finish([1])
    await before
    await taskBegun
    expect(groups).toEqual([[1]])
    release()
    expect(await task).toBe('done')
    await begun()
    finish([2])
    await after
    expect(order).toEqual(['task begins', 'task ends', 'after'])
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
  ])('alone() passes on that its task %s, and goes on', async (_, task) => {
    const groupCommit = new Numbers({ commit: async items => numbersOf(items) }, () => 1, 100)
    await expect(groupCommit.alone(task)).rejects.toThrow('broken')
    expect(await groupCommit.pushed(1)).toBe(1)
  })

  it('between() runs behind the group that is being committed, before what waits, which is prepared meanwhile', async () => {
    const prepared: number[] = []
    const prepare = (item: number) => prepared.push(item) > 0
    const { groupCommit, groups, begun, finish } = heldGroups(undefined, undefined, undefined, prepare)
    const pushed = [groupCommit.pushed(1)]
    await begun()
    pushed.push(groupCommit.pushed(2))
    let release: (result: string) => void = () => {}
    let announce: () => void = () => {}
    const taskBegun = new Promise<void>(resolve => (announce = resolve))
    const task = groupCommit.between(() => {
      announce()
      return new Promise<string>(resolve => (release = resolve))
    })
    pushed.push(groupCommit.pushed(3))
    expect(prepared).toEqual([2, 3])
    finish([1])
    await taskBegun
    pushed.push(groupCommit.pushed(4))
    expect(prepared).toEqual([2, 3, 4])
    expect(groups).toEqual([[1]])
    release('done')
    expect(await task).toBe('done')
    await begun()
    finish([2, 3, 4])
    expect(await Promise.all(pushed)).toEqual([1, 2, 3, 4])
    expect(groups).toEqual([[1], [2, 3, 4]])
  })

  it('between() runs when there is nothing else to do, and passes on that its task rejects', async () => {
    const groupCommit = new Numbers({ commit: async items => numbersOf(items) }, () => 1, 100)
    await expect(groupCommit.between(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await groupCommit.pushed(1)).toBe(1)
    expect(await groupCommit.between(async () => 'done')).toBe('done')
  })

  it('push() is never left lying, however many ticks after a commit it comes', async () => {
    const groupCommit = new Numbers({ commit: async items => numbersOf(items) }, () => 1, 100)
    for (let ticks = 0; ticks < 20; ticks++) {
      await groupCommit.pushed(ticks)
      for (let tick = 0; tick < ticks; tick++) await undefined
      expect(await groupCommit.pushed(ticks)).toBe(ticks)
    }
  })
})
