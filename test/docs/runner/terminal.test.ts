import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { endAll, pageVariable } from './processes.ts'
import { Terminal } from './terminal.ts'

const how = { isOrdered: true, withErrors: false, deadline: 20_000 }

test('a shell keeps its variables, and tells its answers apart', async () => {
  const shell = await open(false)
  await shell.type('name=boat\necho one; printf two\nprintf three\n', true)
  expect(await shell.ended(20_000)).toEqual({ status: 0, hasJobs: false })
  expect(await shell.answers(['one', 'two', 'three'], how)).toBe(true)
  await shell.type('echo $name >&2; cat\n', true)
  expect(await shell.ended(20_000)).toEqual({ status: 0, hasJobs: false })
  expect(await shell.answers(['boat'], { ...how, deadline: 0 })).toBe(false)
  expect(await shell.answers(['boat'], { ...how, withErrors: true })).toBe(true)
})

test('a shell ends at a command that fails, and names it', async () => {
  const shell = await open(false)
  await shell.type('true\n(exit 3) || true\nls nothing-of-this-name\necho on\n', true)
  expect(await shell.ended(20_000)).toEqual({ status: 2, hasJobs: false })
  expect(await shell.failedCommand()).toBe('ls nothing-of-this-name')
  expect(await shell.said()).toMatchObject({ output: '', errors: expect.stringContaining('No such file') })
})

test('what a program in the background says belongs to later blocks, too', async () => {
  const shell = await open(false)
  await shell.type('(sleep 0.5; echo late) &\n', true)
  expect(await shell.ended(20_000)).toEqual({ status: 0, hasJobs: true })
  await shell.type('echo now\n', true)
  expect(await shell.answers(['now', 'late'], how)).toBe(true)
})

test('a terminal is one, and hears Ctrl-C', async () => {
  const terminal = await open(true)
  await terminal.type('export name=boat\ntest -t 0 && test -t 1 && echo watched\nsleep 300\n', false)
  expect(await terminal.answers(['watched'], how)).toBe(true)
  expect(await terminal.ended(0)).toBeUndefined()
  await terminal.type('echo $name\n', false)
  expect(await terminal.answers(['boat'], how)).toBe(true)
  expect(await terminal.ended(20_000)).toEqual({ status: 0, hasJobs: false })
})

/** Ended, with a program that has left its session, when the test has finished. */
async function open(isTerminal: boolean): Promise<Terminal> {
  const parent = await mkdtemp(join(tmpdir(), 'thingwire-test-'))
  const [directory, notes] = [join(parent, 'page'), join(parent, 'notes')]
  await mkdir(directory)
  await mkdir(notes)
  const run = `test-${process.pid}-${Date.now()}`
  const terminal = new Terminal(directory, notes, { ...process.env, [pageVariable]: run }, isTerminal)
  onTestFinished(async () => {
    await terminal.type('setsid --fork sleep 300\n', false)
    await terminal.ended(20_000)
    await endAll(run, directory)
    await rm(parent, { recursive: true })
  })
  return terminal
}
