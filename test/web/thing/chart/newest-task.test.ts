import { describe, expect, test } from 'vitest'
import { NewestTask } from '../../../../web/src/thing/chart/newest-task.ts'

/** Tasks that say when they begin and how they end, which is when they are told to or aborted. */
function loggedTasks() {
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const task = (name: string) => (signal: AbortSignal) =>
    new Promise<void>(resolve => {
      log.push(name)
      ends.set(name, resolve)
      signal.addEventListener('abort', () => {
        log.push(`${name} aborted`)
        resolve()
      })
    })
  return { log, task, end: (name: string) => ends.get(name)?.() }
}

describe('NewestTask', () => {
  test('runs one task at a time, then the newest of those that came meanwhile', async () => {
    const { log, task, end } = loggedTasks()
    const tasks = new NewestTask()
    for (const name of ['first', 'second', 'third']) tasks.run(task(name))
    expect(log).toEqual(['first'])
    end('first')
    await expect.poll(() => log).toEqual(['first', 'third'])
    tasks.run(task('fourth'))
    end('third')
    await expect.poll(() => log).toEqual(['first', 'third', 'fourth'])
  })

  test('does not wait long for a slow one', async () => {
    const { log, task } = loggedTasks()
    const tasks = new NewestTask()
    tasks.run(task('slow'))
    tasks.run(task('next'))
    await expect.poll(() => log).toEqual(['slow', 'slow aborted', 'next'])
  })

  test('aborts what runs when it is closed, and runs nothing more', async () => {
    const { log, task } = loggedTasks()
    const tasks = new NewestTask()
    tasks.run(task('running'))
    tasks.run(task('waiting'))
    tasks.close()
    await new Promise(setImmediate)
    expect(log).toEqual(['running', 'running aborted'])
  })
})
