import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

interface Reference {
  readonly $ref: string
}

export interface AsyncApiDocument {
  readonly asyncapi: string
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, Operation>>
}

interface Channel {
  readonly address: string
  readonly parameters?: object
}

interface Operation {
  readonly channel: Reference
  readonly messages: readonly Reference[]
}

/**
 * What is wrong with a document of AsyncAPI 3: by the schema that the initiative publishes for its version, and by the
 * rules that a schema cannot express. Its own parser checks the same, but brings 160 packages, one of which reports each
 * installation.
 */
export async function asyncApiProblems(document: AsyncApiDocument): Promise<string[]> {
  const schemaProblems = await problemsBySchema(document)
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)
  const dangling = [...references]
    .map(([, reference = '']) => reference)
    .filter(reference => resolve(document, reference) === undefined)
    .map(reference => `${reference} is nowhere`)
  const ofChannels = Object.entries(document.channels).flatMap(problemsOfChannel)
  const ofOperations = Object.entries(document.operations).flatMap(problemsOfOperation)
  return [...schemaProblems, ...dangling, ...ofChannels, ...ofOperations]
}

async function problemsBySchema(document: AsyncApiDocument): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve(`@asyncapi/specs/schemas/${document.asyncapi}.json`)
  // The schema carries a draft 7 of its own, under the name of that of ajv.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
  addFormats.default(ajv)
  const validate = ajv.compile(JSON.parse(await readFile(path, 'utf8')))
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function problemsOfChannel([name, { address, parameters = {} }]: [string, Channel]): string[] {
  const named = [...address.matchAll(/\{([^}]+)\}/g)].map(([, parameter = '']) => parameter)
  const described = Object.keys(parameters)
  return [
    ...named.filter(parameter => !described.includes(parameter)).map(parameter => `${parameter} is missing`),
    ...described.filter(parameter => !named.includes(parameter)).map(parameter => `${parameter} is too many`),
    ...(/[?#]/.test(address) ? ['the address has a query or a fragment'] : []),
  ].map(problem => `${name}: ${problem}`)
}

function problemsOfOperation([name, { channel, messages }]: [string, Operation]): string[] {
  if (!channel.$ref.startsWith('#/channels/')) return [`${name}: ${channel.$ref} is no channel`]
  return messages
    .filter(({ $ref }) => !$ref.startsWith(`${channel.$ref}/messages/`))
    .map(({ $ref }) => `${name}: ${$ref} is no message of its channel`)
}

/** @param reference a JSON pointer into the document, as `#/channels/values` */
function resolve(document: unknown, reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/')
  return steps
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((found, step) => (found as Record<string, unknown> | undefined)?.[step], document)
}
