import { catalogue, type Reason } from '../../errors.ts'
import type { Answer, CredentialKind, Operation, Parameter } from '../../http/operation/operation.ts'
import { everywhere } from '../../http/operation/refusals.ts'
import { error } from '../../http/operation/shapes.ts'
import type { Schemas } from './schemas.ts'

export const introduction = `
An answer is JSON unless its description says otherwise, and it is never empty. Every error has the shape of \`Error\`: match
on its \`reason\`. A path with GET also answers HEAD. Every path answers OPTIONS for pages of other origins. Unknown query
parameters and members are ignored. A wrong method on a known path is 405 \`method_not_allowed\`.

[AsyncAPI](docs/asyncapi) describes MQTT: writes and live messages.
`.trim()

export const groups: Readonly<Record<Operation['group'], string>> = {
  Things: 'A thing writes, registers itself, and reads its refused writes.',
  Resources: 'Stored records.',
  Live: 'New writes as they arrive.',
  Credentials: 'Tokens of things, sessions of people and pages, activation codes.',
  Operator: 'Requests that need the admin key.',
  Service: 'Health and metrics of the server.',
}

export const securitySchemes = {
  credential: {
    type: 'http',
    scheme: 'bearer',
    description: 'A session token, the admin key, or the token of the thing. `Bearer` is optional.',
  },
  adminKey: { type: 'http', scheme: 'bearer', description: 'The admin key. `Bearer` is optional.' },
  sourceToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a source. It may also be the user or the password of Basic.',
  },
  session: {
    type: 'apiKey',
    in: 'query',
    name: 'session',
    description: 'The same as `credential`, for an EventSource, which cannot send headers.',
  },
  thingToken: { type: 'apiKey', in: 'query', name: 'thingToken', description: 'The token of a thing.' },
} as const

/** `{}`: if the path contains a token, no other credential is needed. */
const security: Readonly<Record<CredentialKind, readonly object[]>> = {
  thing: [{}, { credential: [] }],
  stream: [{}, { credential: [] }, { session: [] }],
  source: [{}, { sourceToken: [] }],
  any: [{ credential: [] }],
  admin: [{ adminKey: [] }],
  token: [{ thingToken: [] }],
  none: [],
}

/** The Operation Object of OpenAPI 3.1. @param schemas collects the named schemas that it uses */
export function operationObject(operation: Operation, schemas: Schemas): object {
  const { id, group, summary, description, credential, parameters = [], body, answers, refusals } = operation
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description && { description }),
    security: security[credential],
    parameters: parameters.map(parameter => parameterObject(parameter, schemas)),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: { 'application/json': { schema: schemas.of(body.schema), example: body.example } },
      },
    }),
    responses: {
      ...mapValues(answers, answer => answerObject(answer, schemas)),
      ...errorAnswers([...refusals, ...everywhere], schemas),
    },
  }
}

function parameterObject(parameter: Parameter, schemas: Schemas): object {
  const { name, description, example } = parameter
  const required = parameter.in === 'path' || parameter.isRequired === true
  const schema = schemas.of(parameter.schema)
  if (required) return { name, in: parameter.in, description, required, schema, example }
  // Not `example`, which Swagger UI would prefill: if every write had the same write id, only the first would be stored.
  const text = `${description} For example: \`${example}\`.`
  return { name, in: parameter.in, description: text, required, schema, 'x-example': example }
}

function answerObject({ description, content, headers }: Answer, schemas: Schemas): object {
  return {
    description,
    ...(headers && {
      headers: mapValues(headers, says => ({ description: says, schema: { type: 'string' } })),
    }),
    content: mapValues(content, ({ schema, example }) => ({ schema: schemas.of(schema), example })),
  }
}

/** The error answers by status, each with its reasons. */
function errorAnswers(reasons: readonly Reason[], schemas: Schemas): Record<string, object> {
  const sorted = [...new Set(reasons)].sort()
  const statuses = [...new Set(sorted.map(statusOf))].sort()
  const answers = statuses.map(status => {
    const reasons = sorted.filter(reason => statusOf(reason) === status)
    const description = reasons.map(reason => `- \`${reason}\`: ${catalogue[reason].text}`).join('\n')
    const properties = { code: { const: status }, reason: { enum: reasons } }
    const schema = { allOf: [schemas.of(error), { type: 'object', properties }] }
    const headers = {
      'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'string' } },
    }
    const isForNow = status === 429 || status === 503
    const content = { 'application/json': { schema } }
    return [status, { description, ...(isForNow && { headers }), content }]
  })
  return Object.fromEntries(answers)
}

function statusOf(reason: Reason): number {
  return catalogue[reason].status
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
