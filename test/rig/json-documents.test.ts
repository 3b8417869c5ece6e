import { expect, it } from 'vitest'
import { JsonDocuments } from './subscriber.ts'

const documents = ['{"status":"x"}', '[{"key":"a","value":"]}\\"[{\\\\"},{"value":[[],{}]}]', '{}', '[]']

it.each([1, 2, 7, 1_000])('JsonDocuments takes documents apart that come in parts of %i letters', size => {
  const all = documents.join('')
  const splitter = new JsonDocuments()
  const found: string[] = []
  for (let at = 0; at < all.length; at += size) found.push(...splitter.take(all.slice(at, at + size)))
  expect(found).toEqual(documents)
})
