import { readFileSync, statSync } from 'node:fs'
import { isOpenToOthers, writePrivate } from '../core/files/private-file.ts'
import { parseJsonFile } from '../core/json/json-file.ts'
import { activationCodeForm, isThingId, isToken } from '../core/token.ts'

/** The map's entry for a thing: the thing's token at the central server, or an activation code for getting a token. */
export type Passage = { readonly token: string } | { readonly code: string }

/** A thing of the central server that an activation code made. */
export interface ActivatedThing {
  readonly token: string
  readonly thingId: string
}

type Entries = ReadonlyMap<string, Passage | undefined>

/** Stands for every thing that the map does not name. */
const others = '*'
/** Member of the tokens file with the ids of activated things. */
const activatedName = 'activated'
/** Interval at which the file is checked for changes, milliseconds. */
const watchEvery = 2_000

/** The things that are forwarded, each with its token at the central server (docs/use/forward.md). */
export class ThingMap {
  readonly #file: string
  readonly #tokensFile: string
  #entries: Entries
  /** Version of the file when it was last read, even if it was unusable. */
  #version: string
  /** Tokens obtained with activation codes, by thing id. */
  readonly #tokens: Map<string, string>
  /** The things that activation codes made at the central server: by thing id here, the thing id there. */
  readonly activated: Map<string, string>
  #keeping: Promise<void> = Promise.resolve()

  /**
   * @param file the operator's file
   * @param tokensFile file that keeps the tokens obtained with activation codes
   * @throws Error with one line for the operator, without a token
   */
  constructor(file: string, tokensFile: string) {
    this.#file = file
    this.#tokensFile = tokensFile
    // The version is taken before the file is read, so a change in between is noticed later.
    this.#version = versionOf(file)
    this.#entries = readEntries(file)
    const kept = readKept(tokensFile)
    this.#tokens = stringsIn(kept)
    this.activated = stringsIn(kept[activatedName])
  }

  /** The ids of the things that the map names. */
  get named(): readonly string[] {
    return [...this.#entries].flatMap(([name, passage]) => (passage && name !== others ? [name] : []))
  }

  /** Whether the map has neither the thing nor an entry for all others. */
  omits(thingId: string): boolean {
    return !this.#entries.has(thingId) && !this.#entries.has(others)
  }

  /** Whether the thing is forwarded. Called for every write, so this must be quick. */
  has(thingId: string): boolean {
    return this.#entryOf(thingId) !== undefined
  }

  /** The token or activation code of the thing; undefined if the thing is not forwarded. */
  passageOf(thingId: string): Passage | undefined {
    const entry = this.#entryOf(thingId)
    if (!entry || 'token' in entry) return entry
    const token = this.#tokens.get(thingId)
    return token === undefined ? entry : { token }
  }

  /** Stores the token of a thing durably, before its first use. */
  async keep(thingId: string, activated: ActivatedThing): Promise<void> {
    this.#tokens.set(thingId, activated.token)
    this.activated.set(thingId, activated.thingId)
    const keeping = this.#keeping.catch(() => {}).then(() => writePrivate(this.#tokensFile, this.#text()))
    this.#keeping = keeping
    await keeping
  }

  #text(): string {
    const [tokens, activated] = [this.#tokens, this.activated].map(each => Object.fromEntries(each))
    return `${JSON.stringify({ ...tokens, [activatedName]: activated }, null, 2)}\n`
  }

  /** Reads the file on each change. @param onChange called after a read, with an error if it failed @returns a stop function */
  watch(onChange: (fault?: Error) => void): () => void {
    const look = () => {
      const version = versionOf(this.#file)
      if (version === this.#version) return
      this.#version = version
      try {
        this.#entries = readEntries(this.#file)
        onChange()
      } catch (error) {
        onChange(error as Error)
      }
    }
    const timer = setInterval(look, watchEvery)
    timer.unref()
    return () => clearInterval(timer)
  }

  #entryOf(thingId: string): Passage | undefined {
    return this.#entries.has(thingId) ? this.#entries.get(thingId) : this.#entries.get(others)
  }
}

/** A text that changes when the file, its mode or its owner does; an error code if the file cannot be examined. */
function versionOf(file: string): string {
  try {
    // ctime changes with content, mode and owner: a file rejected because others could read it may be usable after `chmod`.
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

function readEntries(file: string): Entries {
  const entries = new Map(Object.entries(readObject(file)).map(([name, text]) => [name, text] as const))
  const passages = [...entries].map(([name, text]) => [name, passageFrom(file, name, text)] as const)
  if (!passages.some(([, passage]) => passage))
    throw new Error(
      `the thing map ${file} forwards no thing: give a thing id its token at the central server`,
    )
  assertNoTokenTwice(file, passages)
  return new Map(passages)
}

/** If two things had the same token, their records would be mixed at the central server. */
function assertNoTokenTwice(
  file: string,
  passages: readonly (readonly [string, Passage | undefined])[],
): void {
  const things = new Map<string, string>()
  for (const [thingId, passage] of passages) {
    if (!passage || !('token' in passage)) continue
    const other = things.get(passage.token)
    if (other !== undefined)
      throw new Error(
        `the thing map ${file} gives ${other} and ${thingId} the same token: each needs a thing of its own at the central server`,
      )
    things.set(passage.token, thingId)
  }
}

function passageFrom(file: string, name: string, text: unknown): Passage | undefined {
  const where = `the thing map ${file}`
  if (name !== others && !isThingId(name))
    throw new Error(`${where} must have thing ids (16 of a-z and 2-7) or "*" as names, not ${shown(name)}`)
  if (text === null) return undefined
  if (typeof text === 'string' && activationCodeForm.test(text)) return { code: text }
  if (name === others)
    throw new Error(
      `${where} must give "*" an activation code of the central server (34 characters), or null`,
    )
  if (typeof text === 'string' && isToken(text)) return { token: text }
  const given = typeof text === 'string' && isThingId(text) ? ', not the id of a thing' : ''
  throw new Error(
    `${where} must give ${name} a thing token (43 characters) or an activation code (34 characters) of the central server, or null${given}`,
  )
}

/** Hides a long text, since a name that is not a thing id may be a token. */
function shown(name: string): string {
  return name.length < 24 ? JSON.stringify(name) : `a name of ${name.length} characters`
}

function readKept(file: string): Readonly<Record<string, unknown>> {
  try {
    return { ...readObject(file) }
  } catch (error) {
    if ((error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ENOENT') return {}
    throw error
  }
}

function stringsIn(object: unknown): Map<string, string> {
  const entries = Object.entries(object ?? {})
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function readObject(file: string): object {
  const content = parseJsonFile(`the thing map ${file}`, readPrivate(file))
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content
  throw new Error(`the thing map ${file} must contain a JSON object`)
}

function readPrivate(file: string): string {
  try {
    if (!isOpenToOthers(statSync(file).mode)) return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read the thing map ${file}: ${(cause as Error).message}`, { cause })
  }
  throw new Error(`the thing map ${file} is open to other users: run chmod 600 ${file}`)
}
