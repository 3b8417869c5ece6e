import { expect, it } from 'vitest'
import { createThing, readAll, write } from '../../helpers/http-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

it('a server with retention removes what is too old, and keeps the newest of each resource over a restart', async () => {
  const dataDir = await temporaryDirectory()
  const environment = { THINGWIRE_RETENTION: '1h, kept=36500d' }
  const server = await serverOfTest({ dataDir, environment })
  const thing = await createThing(server)
  const values = ['a', 'kept'].flatMap(key =>
    ['20200101000000', '20210101000000'].map(datetime => ({ key, value: datetime, datetime })),
  )
  expect((await write(server, thing, { values })).status).toBe(201)
  await server.stop()

  const again = await serverOfTest({ dataDir, environment })
  await expect.poll(() => readAll(again, thing, 'a')).toMatchObject([{ value: '20210101000000' }])
  expect(await readAll(again, thing, 'kept')).toHaveLength(2)
  const sent = await write(again, thing, { values: values.slice(0, 1) })
  expect(sent.status).toBe(201)
  expect((await again.stop()).code).toBe(0)
})
