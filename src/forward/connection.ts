import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import type { Redactor } from '../core/refusals/redactor.ts'
import { isToken } from '../core/token.ts'
import type { Target } from './target.ts'

/** The central server cannot be reached, or a connection to it has ended: it is to be tried again. */
export class LinkDown extends Error {}

/** Something is there that answers, but not as MQTT. */
export class NoMqttServer extends LinkDown {}

/** The central server does not take what is a thing's alone, or is no Thingwire: the other things may still go on. */
export class ThingHeld extends Error {}

class TokenRefused extends ThingHeld {
  constructor(which = 'the token') {
    super(`it refuses ${which}: the thing map needs one that the central server gave (thingwire tokens add)`)
  }
}

/** What the central server says of a write that it has refused for good (contract §7.2, `errors`), redacted (§1.1). */
export interface Refusal {
  readonly reason: string
  readonly message: string
  /** The records that are at fault, the first 20, where the message says which. */
  readonly errors?: readonly { readonly index: number; readonly reason: string; readonly message: string }[]
  /** Of the write. */
  readonly id?: string
}

/** Milliseconds. */
const connectTimeout = 30_000
/** How long a Thingwire may take for what it sends right behind SUBACK, milliseconds. */
const answerTimeout = 10_000
/** Characters of a text of the central server that are kept, and of a reason. */
const longestText = 1_000
const longestReason = 64
/** As many records as a Thingwire blames in one refusal. */
const mostErrors = 20
/** Bytes, as of the option `maxPacketSize`. */
const leastPacketSize = 1_024
const noMqtt = 'it does not answer as an MQTT server'

/**
 * One connection to the central server, as one thing there (contract §7.1: the username is its token). It sends one write at a
 * time, so that what is behind a refused record is not stored before what is left of its write.
 */
export class Connection {
  readonly #client: MqttClient
  readonly #topic: string
  readonly #redactor: Redactor
  /** Bytes of the largest packet that the central server takes, as announced. A Thingwire of before does not say. */
  #maxPacketSize = Number.POSITIVE_INFINITY
  /** Write id of the write that is under way, and its refusal. */
  #id = ''
  #refusal: Refusal | undefined
  #isClosed = false
  readonly #onClosed = new Set<(why: Error) => void>()

  private constructor(client: MqttClient, token: string, redactor: Redactor) {
    this.#client = client
    this.#redactor = redactor
    this.#topic = `things/${token}/write`
    let problem: Error | undefined
    client.on('error', error => {
      problem = error
    })
    client.once('close', () => this.#close(problem))
  }

  /**
   * Connects, and makes sure that a Thingwire is there: any broker would acknowledge what is published.
   *
   * @param clientId the same after each loss: the new connection ends the one before, and its writes
   * @throws LinkDown, ThingHeld
   */
  static async open(target: Target, token: string, clientId: string): Promise<Connection> {
    const client = connectTo(target, { username: token, clientId })
    const connection = new Connection(client, token, target.redactor)
    try {
      await connected(client, target)
      await connection.#greeted(token)
      return connection
    } catch (error) {
      connection.close()
      const isOwn = error instanceof TokenRefused && (await target.isOwnToken?.(token))
      throw isOwn ? new TokenRefused('the token, which is one of this server') : error
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** Bytes of the longest payload that the central server takes. */
  get longestPayload(): number {
    // In front of it are the topic with its length, and the packet id (MQTT-3.3.2).
    return this.#maxPacketSize - Buffer.byteLength(this.#topic) - 4
  }

  /**
   * Sends a write. When it resolves, the write is durable at the central server, or refused there for good.
   *
   * @returns undefined: it is stored
   * @throws LinkDown: it may be stored or not
   */
  async publish(payload: Buffer, id: string): Promise<Refusal | undefined> {
    this.#id = id
    this.#refusal = undefined
    await this.#untilClosed<void>((resolve, reject) => {
      this.#client.publish(this.#topic, payload, { qos: 1 }, error => {
        if (error) reject(new LinkDown(faultText(error, this.#redactor)))
        else resolve()
      })
    })
    // Its report is sent before its PUBACK, on the same connection.
    return this.#refusal
  }

  close(): void {
    this.#close()
  }

  async #greeted(token: string): Promise<void> {
    const errors = `things/${token}/errors`
    const limits = `things/${token}/limits`
    const date = `things/${token}/date`
    let timer: NodeJS.Timeout | undefined
    const greeted = this.#untilClosed<void>((resolve, reject) => {
      this.#client.on('message', (topic, payload) => {
        if (topic === errors) this.#takeRefusal(parseRefusal(payload, this.#redactor))
        else if (topic === limits) this.#takeLimits(payload)
        else if (topic === date) resolve()
      })
      this.#client.subscribe([errors, limits, date], { qos: 0 }, error => {
        const held = (why: string) => reject(new ThingHeld(`it is no Thingwire: ${why}`))
        if (isRefusedFilter(error)) held('it refuses the topics of a thing')
        else if (!error) timer = setTimeout(held, answerTimeout, 'it does not give its date')
      })
    })
    await greeted.finally(() => clearTimeout(timer))
  }

  #takeLimits(payload: Buffer): void {
    const { maxPacketSize } = objectIn(payload)
    // A limit of a few bytes would have every record refused.
    if (Number.isSafeInteger(maxPacketSize) && Number(maxPacketSize) >= leastPacketSize) {
      this.#maxPacketSize = Number(maxPacketSize)
    }
  }

  /** Other clients may write as the thing, too. */
  #takeRefusal(refusal: Refusal | undefined): void {
    if (refusal?.id === this.#id) this.#refusal = refusal
  }

  #untilClosed<Result>(
    begin: (resolve: (result: Result) => void, reject: (error: Error) => void) => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new LinkDown('the connection is closed'))
      this.#onClosed.add(reject)
      const settled = () => this.#onClosed.delete(reject)
      begin(
        result => {
          settled()
          resolve(result)
        },
        error => {
          settled()
          reject(error)
        },
      )
    })
  }

  #close(problem?: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const why = new LinkDown(problem ? faultText(problem, this.#redactor) : 'the connection was closed')
    for (const closed of this.#onClosed) closed(why)
    this.#onClosed.clear()
    end(this.#client)
  }
}

/** Connects without a credential, to see what is there. @throws LinkDown, ThingHeld */
export async function reach(target: Target): Promise<void> {
  const client = connectTo(target, {})
  try {
    await connected(client, target)
  } finally {
    end(client)
  }
}

/** A token for a thing, in exchange for an activation code (contract §7.2). @throws LinkDown, ThingHeld */
export async function activate(target: Target, code: string): Promise<string> {
  const client = connectTo(target, {})
  let timer: NodeJS.Timeout | undefined
  try {
    await connected(client, target)
    return await new Promise<string>((resolve, reject) => {
      client.once('close', () => reject(new LinkDown('the connection was closed')))
      client.on('message', (_topic, payload) => {
        const token = tokenIn(payload)
        if (token === undefined) reject(new ThingHeld('it answers an activation with something else'))
        else resolve(token)
      })
      client.subscribe(`v2/activations/${code}/forward`, { qos: 1 }, error => {
        const held = (why: string) => reject(new ThingHeld(why))
        if (isRefusedFilter(error)) held('it refuses the activation code')
        else if (!error) timer = setTimeout(held, answerTimeout, 'it does not answer an activation')
      })
    })
  } finally {
    clearTimeout(timer)
    end(client)
  }
}

function connectTo({ url, ca }: Target, options: IClientOptions): MqttClient {
  return connect(url, {
    ...options,
    ...(ca && { ca }),
    protocolVersion: 4,
    clean: true,
    keepalive: 60,
    connectTimeout,
    // Whoever has the connection decides when it is tried again, and with what.
    reconnectPeriod: 0,
    resubscribe: false,
  })
}

function connected(client: MqttClient, { redactor }: Target): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve())
    client.on('error', (error: Error & { code?: unknown }) => {
      // CONNACK 4 and 5; 3 says that it does not know now.
      if (error.code === 4 || error.code === 5) reject(new TokenRefused())
      else if (isOfParser(error)) reject(new NoMqttServer(`${noMqtt}: is it the MQTT port?`))
      else reject(new LinkDown(faultText(error, redactor), { cause: error }))
    })
    client.once('close', () => reject(new LinkDown(noMqtt)))
  })
}

/** What MQTT, TLS or HTTP cannot read. Errors of sockets have a code, those of the parser of MQTT have none. */
function isOfParser({ code, message }: Error & { code?: unknown }): boolean {
  if (code === undefined) return message !== 'connack timeout'
  return String(code).startsWith('HPE_') || /wrong version number|packet length too long/.test(message)
}

/** For the operator. What is no error of the system may quote the central server, such as the names in its certificate. */
function faultText(error: Error & { code?: unknown; syscall?: unknown }, redactor: Redactor): string {
  const text = error.message || String(error.code)
  return error.syscall === undefined ? redactor.redact(text, longestText) : text
}

/** SUBACK 128. */
function isRefusedFilter(error: Error | null): boolean {
  return error !== null && 'code' in error && error.code === 128
}

function end(client: MqttClient): void {
  // What is still under way fails, and nobody waits for it any more.
  client.on('error', () => {})
  client.end(true)
}

/** @returns undefined: it is none */
function parseRefusal(payload: Buffer, redactor: Redactor): Refusal | undefined {
  const { id, errors, ...refusal } = objectIn(payload)
  const saidIn = ({ reason, message }: Readonly<Record<string, unknown>>) => ({
    reason: redactor.redact(typeof reason === 'string' ? reason : 'refused', longestReason),
    message: redactor.redact(typeof message === 'string' ? message : '', longestText),
  })
  const blamed = (Array.isArray(errors) ? errors.slice(0, mostErrors) : []).flatMap(error =>
    Number.isSafeInteger(error?.index) ? [{ index: error.index as number, ...saidIn(error) }] : [],
  )
  return typeof id === 'string' ? { ...saidIn(refusal), errors: blamed, id } : undefined
}

function tokenIn(payload: Buffer): string | undefined {
  const { thingToken } = objectIn(payload)
  return typeof thingToken === 'string' && isToken(thingToken) ? thingToken : undefined
}

/** Empty where it is no JSON object. */
function objectIn(payload: Buffer): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(payload.toString()) }
  } catch {
    return {}
  }
}
