import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

/** Each imports those before it alone. */
const rooms = ['packets', 'relay', 'sessions', 'wills', 'delivery', 'host', 'connection', 'doors']

it('the rooms of src/mqtt depend on one another one way', () => {
  const folders = readdirSync('src/mqtt', { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect(folders.map(({ name }) => name).sort()).toEqual([...rooms].sort())
  const backwards = rooms.flatMap((room, place) =>
    readdirSync(join('src/mqtt', room)).flatMap(name => {
      const file = join('src/mqtt', room, name)
      const imported = [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']*)'/g)].map(([, path = '']) =>
        relative('src/mqtt', join(dirname(file), path)),
      )
      return imported.filter(path => rooms.indexOf(dirname(path)) > place).map(path => `${file} → ${path}`)
    }),
  )
  expect(backwards).toEqual([])
})
