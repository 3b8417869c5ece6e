import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Differences,
  type DocumentedOperation,
  type OpenApi,
  operationsOf,
  problemOf,
  request,
  setScene,
} from './documented-request.ts'
import { type DocumentedServer, openDocumentedServer } from './documented-server.ts'
import { type Matcher, matcherOf } from './matcher.ts'

/** What clients of InfluxDB ask: contract §6.10. */
const ofInflux = /^\/(api\/v2\/write|write|query|ping|health)$/

/** Files of pages, which are no operations. */
const pages = /^\/(docs(\/.*)?|dashboard\.json|[\w-]+\.\w+|assets\/.*)?$/

let server: DocumentedServer
let document: OpenApi
let matcher: Matcher
beforeAll(async () => {
  server = await openDocumentedServer()
  document = (await (await fetch(`${server.url}/docs/json`)).json()) as OpenApi
  matcher = matcherOf(document.components.schemas)
})
afterAll(() => server.close())

describe('/docs/json', () => {
  it('is OpenAPI 3.1 by the official schema', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone({ ...document }))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('has every route of the server that is no page, and no other', () => {
    const served = server.routes
      .filter(({ handler, url }) => handler.name !== 'refuse' && !pages.test(url) && !ofInflux.test(url))
      .flatMap(({ method, url }) =>
        [method].flat().map(name => `${name} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{format}')}`),
      )
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`)
    expect(documented.sort()).toEqual([...new Set(served)].sort())
  })

  it('shows requests that are answered as it says, with every parameter and in every media type', async () => {
    const shared = await setScene(server)
    const tries = operationsOf(document).map(async operation => {
      const [success] = Object.keys(operation.responses).map(Number)
      const problems: string[] = []
      for (const differences of variants(operation)) {
        // What reads leaves it as it is.
        const scene = operation.method === 'GET' ? shared : await setScene(server)
        const own = { ...differences, ...(await withCursor(operation, differences, scene)) }
        const received = await request(server, operation, scene, own)
        const wanted = operation.operationId === 'refuseBase' ? 401 : success
        const problem = received.status === wanted ? problemOf(matcher, operation, received) : received.text
        if (problem) problems.push(`${operation.operationId} ${JSON.stringify(own)}: ${problem}`)
      }
      return problems
    })
    expect((await Promise.all(tries)).flat()).toEqual([])
  })

  it('gives the page to try it on nothing to fill in where nothing has to be sent', () => {
    const filledIn = operationsOf(document).flatMap(({ operationId, parameters }) =>
      parameters
        .filter(({ required, example, schema }) => !required && (example ?? schema.default) !== undefined)
        .map(({ name }) => `${operationId} ${name}`),
    )
    expect(filledIn).toEqual([])
    const [write] = operationsOf(document).filter(({ operationId }) => operationId === 'writeRecords')
    expect(JSON.stringify(write?.requestBody?.content['application/json']?.example)).not.toContain(
      '"datetime"',
    )
  })
})

describe('/docs', () => {
  it('is a page whose files are all served from here', async () => {
    const response = await fetch(`${server.url}/docs`)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const files = [...(await response.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(
      ([, file = '']) => file,
    )
    expect(files.length).toBeGreaterThan(4)
    for (const file of files) {
      const url = new URL(file, `${server.url}/docs`)
      expect(url.origin).toBe(server.url)
      expect((await fetch(url)).status).toBe(200)
    }
  })

  it.each([
    ['GET', '/docs/unknown', 404, 'not_found'],
    ['GET', '/docs/static/unknown.js', 404, 'not_found'],
    ['POST', '/docs', 405, 'method_not_allowed'],
    ['DELETE', '/docs/asyncapi', 405, 'method_not_allowed'],
  ])('answers %s %s as everything else', async (method, path, status, reason) => {
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ status: 'error', code: status, reason })
  })
})

describe('a service path', () => {
  it.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/docs',
    '/docs/json',
    '/docs/asyncapi',
    '/dashboard.json',
    '/',
  ])('%s takes parameters that it does not know', async path => {
    expect((await fetch(`${server.url}${path}?_=1`)).status).toBe(200)
  })
})

/** What a parameter does not come without. */
const needed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  aggregate: { interval: '1h' },
  interval: { aggregate: 'avg' },
  tz: { points: '800' },
  empty: { points: '800' },
}

/** As it stands, with each optional parameter, and in each media type of the answer. */
function variants({ parameters, responses }: DocumentedOperation): readonly Differences[] {
  const alone = parameters
    .filter(parameter => parameter.in !== 'path')
    .map((parameter): Differences => {
      const value = { [parameter.name]: String(parameter['x-example'] ?? parameter.example) }
      if (parameter.in === 'header') return { headers: { accept: 'text/event-stream', ...value } }
      return { query: { ...value, ...needed[parameter.name] } }
    })
  const types = Object.values(responses).flatMap(({ content }) => Object.keys(content))
  return [{}, ...alone, ...[...new Set(types)].map(type => ({ headers: { accept: type } }))]
}

/** A cursor is good for what it was given out for. */
async function withCursor(
  operation: DocumentedOperation,
  { query = {} }: Differences,
  scene: Parameters<typeof request>[2],
): Promise<Differences> {
  if (!('cursor' in query) || operation.operationId !== 'readResource') return {}
  const { headers } = await request(server, operation, scene)
  const next = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
  return { query: { cursor: new URL(next, server.url).searchParams.get('cursor') ?? '' } }
}
