import { expect, it } from 'vitest'
import type { Access } from '../../../src/access/access.ts'
import { connectTo, openHost, postText } from '../host.ts'

const write = (value: number) => ({ values: [{ key: 'k', value, datetime: '20260101000000' }] })

it('WriteOrder keeps pipelined writes in order though their credentials take longer and longer to look up', async () => {
  const waiting: (() => void)[] = []
  const { app, path } = await openHost({
    alter: things => {
      const authorise: Access['authorise'] = async (...request) => {
        if (waiting.length < 4) await new Promise<void>(resolve => waiting.push(resolve))
        return await things.access.authorise(...request)
      }
      return { ...things, access: { ...things.access, authorise } }
    },
  })
  const connection = await connectTo(app)
  connection.send([1, 2, 3, 4].map(value => postText(path, write(value))).join(''))
  while (waiting.length < 4) await new Promise(resolve => setImmediate(resolve))
  for (const resolve of waiting.toReversed()) {
    resolve()
    for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
  }
  connection.send(`GET ${path}/resources/k?limit=9&order=asc HTTP/1.1\r\nHost: a\r\n\r\n`)
  const received = await connection.received('[{')
  expect([...received.matchAll(/"value":(\d)/g)].map(([, value]) => Number(value))).toEqual([1, 2, 3, 4])
})

it('WriteOrder does not wait for a write that was refused on its way', async () => {
  const { app, path } = await openHost()
  const connection = await connectTo(app)
  const refused = postText('/v2/things/unknown', write(1))
  connection.send(`${refused}${postText(`${path}?store=x`, write(2))}${postText(path, write(3))}`)
  expect(await connection.received('"created"')).toContain('invalid_query')
})
