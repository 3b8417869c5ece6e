import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { generate, type Packet } from 'mqtt-packet'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { publishPacket } from '../helpers/mqtt-client.ts'
import { openDocumentedServer } from './documented-server.ts'

describe('docs/use/plugins.md', () => {
  it('shows what the examples run', async () => {
    const [text, ...sources] = await Promise.all(
      ['docs/use/plugins.md', 'examples/store/counting-store.ts', 'examples/store/conformance.ts'].map(path =>
        readFile(path, 'utf8'),
      ),
    )
    const blocks = blocksOf(text ?? '', 'ts')
    for (const source of sources) expect(blocks.some(block => source.includes(block))).toBe(true)
  })
})

describe('the pages', () => {
  it('wait for nothing without an end: a server that did not start would never answer', async () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']
    for (const folder of ['docs', 'examples'])
      for (const path of await readdir(folder, { recursive: true }))
        if (path.endsWith('.md')) pages.push(`${folder}/${path}`)
    const texts = await Promise.all(pages.map(async path => [path, await readFile(path, 'utf8')] as const))
    const endless = texts.flatMap(([path, text]) =>
      blocksOf(text, 'sh').flatMap(block =>
        block
          .split('\n')
          .flatMap(line => (/(^|[;\s])(until|while)\s/.test(line) ? [`${path}: ${line}`] : [])),
      ),
    )
    expect(endless).toEqual([])
  })
})

describe('docs/use/dashboards.md', () => {
  it('connects as the example does', async () => {
    const page = await readFile('examples/page/index.html', 'utf8')
    const [connects] = blocksOf(await readFile('docs/use/dashboards.md', 'utf8'), 'js')
    expect(page).toContain(connects?.replace(/\}\)\n$/, ''))
  })
})

describe('docs/use/devices.md', () => {
  it('says how large packets and answers are', async () => {
    const text = await readFile('docs/use/devices.md', 'utf8')
    const server = await openDocumentedServer()
    onTestFinished(() => server.close())
    const { thingId, thingToken } = await createThing(server)
    const write = { values: [{ key: 'temperature', value: 21.5 }] }
    const request = (body: string) =>
      `POST /v2/things/${thingToken} HTTP/1.1\r\nHost: example.com\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const good = request(JSON.stringify(write))
    const bad = request(JSON.stringify(write).replace('temperature', 'temp rature'))
    const connectPacket: Packet = {
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId: 'board',
      clean: true,
      keepalive: 60,
      username: thingToken,
    }
    const sizes = [
      generate(publishPacket(`things/${thingToken}/write`, write, { qos: 0 })).length,
      generate(publishPacket(`things/${thingToken}/write`, write, { messageId: 1 })).length,
      generate(publishPacket(`things/${thingId}/write`, write, { messageId: 1 })).length,
      generate(connectPacket).length,
      good.length,
      await answerSize(Number(new URL(server.url).port), good),
      await answerSize(Number(new URL(server.url).port), bad),
    ]
    const [, table = ''] = /\| bytes \| what \|\n(.*?)\n\n/s.exec(text) ?? []
    const numbers = [...table.matchAll(/\b\d{2,}\b/g)].map(([number]) => Number(number))
    expect(numbers).toEqual(expect.arrayContaining(sizes))
  })
})

function blocksOf(markdown: string, language: string): readonly string[] {
  const fences = markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))
  return [...fences].map(([, block = '']) => block)
}

/** Bytes of the answer's first segment, which is all of it. */
async function answerSize(port: number, request: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(request)
  return await new Promise((resolve, reject) => {
    socket.once('data', bytes => resolve(bytes.length))
    socket.once('error', reject)
  })
}
