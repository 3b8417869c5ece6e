import { readdirSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import config from '../../vitest.config.ts'

test('each pattern of a project of vitest is that of a file: none was left behind when a test moved', () => {
  const files = readdirSync('test', { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const projects = config.test?.projects ?? []
  const patterns = projects.flatMap(project => {
    if (typeof project !== 'object' || !('test' in project)) throw new Error('a project by its name alone')
    return [...(project.test?.include ?? []), ...(project.test?.exclude ?? [])]
  })
  expect(patterns.filter(pattern => !files.some(file => matchesGlob(file, pattern)))).toEqual([])
})
