import { describe, expect, it } from 'vitest'
import { addressOf, prefixOf } from '../../../web/src/api/address.ts'

/** The address of the page, and where its server is. */
const pages: readonly (readonly [page: string, root: string, prefix: string])[] = [
  ['http://host:8080/', 'http://host:8080', ''],
  ['http://host:8080/#/things/a?key=b/c', 'http://host:8080', ''],
  ['http://host/?from=mail#session=abc', 'http://host', ''],
  ['http://host/index.html', 'http://host', ''],
  ['https://host/iot/', 'https://host/iot', '/iot'],
  ['https://host/iot/#/operator', 'https://host/iot', '/iot'],
  ['https://host/iot/?a=/b/c', 'https://host/iot', '/iot'],
  ['https://host/iot/index.html#/', 'https://host/iot', '/iot'],
  ['https://host/a/b-c/d/', 'https://host/a/b-c/d', '/a/b-c/d'],
  ['http://[::1]:8080/x%20y/', 'http://[::1]:8080/x%20y', '/x%20y'],
]

describe('addressOf()', () => {
  it.each(pages)('finds the server of the page %s at %s', (page, root) => {
    expect(addressOf('/v2/things?limit=1', page)).toBe(`${root}/v2/things?limit=1`)
    expect(addressOf('/mqtt', page)).toBe(`${root}/mqtt`)
    expect(addressOf('/v2/things/a/resources/$settings.a:b', page)).toBe(
      `${root}/v2/things/a/resources/$settings.a:b`,
    )
  })

  it('leaves a whole address as it is', () => {
    expect(addressOf('https://host/iot/v2?cursor=a', 'https://host/iot/')).toBe(
      'https://host/iot/v2?cursor=a',
    )
  })
})

describe('prefixOf()', () => {
  it.each(pages)('is of the page %s behind %s the path %j', (page, _root, prefix) => {
    expect(prefixOf(page)).toBe(prefix)
  })
})
