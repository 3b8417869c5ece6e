import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accessFault } from '../../core/files/access-fault.ts'
import { parseJsonFile } from '../../core/json/json-file.ts'
import { assertObject, described, shown } from '../../core/options/given-options.ts'
import { packageRoot } from '../version.ts'
import {
  declarationOf,
  environmentName,
  flagName,
  type OptionName,
  optionNames,
  type ServerOptions,
} from './options.ts'

const shippedConfig = fileURLToPath(new URL('config/default.json', packageRoot))
const configVariable = 'THINGWIRE_CONFIG'

/** For each object that `mergeOptions` returned, the source of each option's value. */
const origins = new WeakMap<object, TypedNames>()

/** Option values from the command line, the environment, a file or a program. */
interface OptionSource {
  /** How a message names an option of this source, such as `httpPort in my.json` or `--http-port`. */
  readonly label: (name: OptionName) => string
  readonly values: Readonly<Partial<Record<OptionName, unknown>>>
}

/** How each option was typed on the command line, unless it was typed as `--<flag name>`. */
export type TypedNames = Readonly<Partial<Record<OptionName, string>>>

/**
 * Merges the options: the command line wins over the environment, the file and the defaults, in this order. Every source is
 * checked in full, even values that another source overrides.
 *
 * @param flags values of the command line by flag name (such as `http-port`), including `config`
 * @throws Error with a one-line message that names the source and the option, but never the value of a secret
 */
export async function loadOptions(
  flags: Readonly<Record<string, string | undefined>>,
  environment: NodeJS.ProcessEnv,
  typed: TypedNames = {},
): Promise<ServerOptions> {
  const file = flags.config ?? (environment[configVariable] || undefined)
  return mergeOptions([fromFlags(flags, typed), fromEnvironment(environment), await fromFile(file)])
}

/** The source of a value, such as `THINGWIRE_HTTP_PORT`, `httpPort in my.json` or `the default of httpPort`. */
export function originOf(options: Partial<ServerOptions>, name: OptionName): string | undefined {
  return origins.get(options)?.[name]
}

/**
 * Rethrows an error. An error for the operator then says who owns the files of `dataDir`, if this process may not use them, and
 * names the source of `dataDir`, which may be a forgotten variable.
 */
export function ofDataDir(options: ServerOptions): (error: unknown) => Promise<never> {
  return async error => {
    if (!(error instanceof Error && error.name === 'Error') || options.redisUrl !== undefined) throw error
    const { dataDir } = options
    const files = ['', 'admin-key', 'store', 'store/CURRENT', 'store/LOCK'].map(name => join(dataDir, name))
    const fault = await accessFault(files)
    const text = fault === undefined ? error.message : `cannot use the data directory ${dataDir}: ${fault}`
    throw new Error(`${text} (${originOf(options, 'dataDir')} names the data directory)`, { cause: error })
  }
}

/** Adds defaults to the options that a program passes. @throws TypeError with a message like those of `loadOptions` */
export function completeOptions(options: Partial<ServerOptions>): ServerOptions {
  const origin = 'the options of createServer'
  assertObject('createServer', options, "{ dataDir: './data' }")
  try {
    const label = (name: OptionName) => originOf(options, name) ?? `${name} in ${origin}`
    return mergeOptions([{ label, values: known(options, origin) }])
  } catch (error) {
    throw new TypeError((error as Error).message)
  }
}

/** The first source that has a value wins. */
function mergeOptions(sources: readonly OptionSource[]): ServerOptions {
  const merged: Partial<Record<OptionName, unknown>> = {}
  const labels: Partial<Record<OptionName, string>> = {}
  for (const name of optionNames) {
    const [source] = sources.filter(each => check(name, each) !== undefined)
    merged[name] = source?.values[name] ?? declarationOf(name).default
    labels[name] = source?.label(name) ?? `the default of ${name}`
  }
  origins.set(merged, labels)
  refuseSharedPort(merged as ServerOptions)
  return merged as ServerOptions
}

/** Port 0 may be shared: the system then chooses a free port for each listener. */
function refuseSharedPort(options: ServerOptions): void {
  const { host, tlsHost = host, tlsCert } = options
  const plain = ['httpPort', 'mqttPort', 'lenientPort'] as const
  const secure = tlsCert === undefined ? [] : (['httpsPort', 'mqttsPort'] as const)
  const taken = new Map<string, string>()
  const addresses = [
    ...plain.map(name => [name, host] as const),
    ...secure.map(name => [name, tlsHost] as const),
  ]
  for (const [name, address] of addresses) {
    const port = options[name]
    const other = taken.get(`${address} ${port}`)
    const label = originOf(options, name) ?? name
    if (port && other) throw new Error(`${other} and ${label} are both ${port}: each needs a port of its own`)
    taken.set(`${address} ${port}`, label)
  }
}

function check(name: OptionName, { label, values }: OptionSource): unknown {
  const value = values[name]
  if (value === undefined) return undefined
  const { schema, rule, secret, faultOf } = declarationOf(name)
  if (schema.safeParse(value).success) return value
  const must = `${label(name)} must be ${rule}`
  if (secret) throw new Error(must)
  // In a file, a list is an array also if it has one item.
  if (schema.safeParse([value]).success) throw new Error(`${must}: write [${shown(value)}]`)
  const fault = faultOf?.(value)
  if (fault !== undefined) throw new Error(`${must}: ${fault}`)
  throw new Error(`${must}, but it is ${isJson(value) ? shown(value) : described(value)}`)
}

/** False for a function or a cyclic object, which a program could pass. */
function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function fromFlags(flags: Readonly<Record<string, string | undefined>>, typed: TypedNames): OptionSource {
  const values: OptionSource['values'] = Object.fromEntries(
    optionNames.map(name => [name, fromText(name, flags[flagName(name)])]),
  )
  return { label: name => typed[name] ?? `--${flagName(name)}`, values }
}

/** Variables that Kubernetes and Docker links set for a service named `thingwire`. They are not options. */
const serviceVariable = /^THINGWIRE_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)/

function fromEnvironment(environment: NodeJS.ProcessEnv): OptionSource {
  const names = new Map(optionNames.map(name => [environmentName(name), name]))
  const values: Partial<Record<OptionName, unknown>> = {}
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('THINGWIRE_') || variable === configVariable) continue
    const name = names.get(variable)
    if (variable === 'THINGWIRE_PORT' && text && !text.includes('://'))
      throw new Error(
        'unknown option THINGWIRE_PORT in the environment: THINGWIRE_HTTP_PORT is the port of HTTP',
      )
    if (name === undefined && !serviceVariable.test(variable))
      throw unknownOption(variable, 'the environment')
    // Compose files pass an unset variable as an empty string.
    if (name !== undefined && text !== '') values[name] = fromText(name, text)
  }
  return { label: environmentName, values }
}

async function fromFile(file: string | undefined): Promise<OptionSource> {
  const origin = file ?? 'config/default.json'
  const text = await readFile(file ?? shippedConfig, 'utf8').catch((error: Error) => {
    throw new Error(`cannot read the configuration file ${origin}: ${error.message}`)
  })
  const label = (name: OptionName) => (file ? `${name} in ${origin}` : `the default of ${name}`)
  return { label, values: known(parseObject(text, origin), origin) }
}

function parseObject(text: string, origin: string): object {
  const content = parseJsonFile(`the configuration file ${origin}`, text)
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content
  throw new Error(`the configuration file ${origin} must contain a JSON object`)
}

function known(values: object, origin: string): OptionSource['values'] {
  const stranger = Object.keys(values).find(name => !(optionNames as readonly string[]).includes(name))
  if (stranger !== undefined) throw unknownOption(stranger, origin)
  return values
}

function unknownOption(name: string, origin: string): Error {
  return new Error(`unknown option ${name} in ${origin}: docs/reference/options.md lists all options`)
}

function fromText(name: OptionName, text: string | undefined): unknown {
  return text === undefined ? undefined : declarationOf(name).fromText(text)
}
