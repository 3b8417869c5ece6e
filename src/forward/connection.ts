import { connect, ErrorWithSubackPacket, type IClientOptions, type MqttClient } from 'mqtt'
import type { Redactor } from '../core/refusals/redactor.ts'
import { isThingId, isToken } from '../core/token.ts'
import type { Target } from './target.ts'
import type { ActivatedThing } from './thing-map.ts'

/** The central server cannot be reached, or the connection has ended. Trying again may help. */
export class LinkDown extends Error {}

/** The target answers, but not as an MQTT server. */
export class NoMqttServer extends LinkDown {}

/** The central server refuses the thing, or does not answer it like a Thingwire server. Other things are still tried. */
export class ThingHeld extends Error {}

class TokenRefused extends ThingHeld {
  constructor(which = 'the token') {
    super(
      `it refuses ${which}: the thing map needs one that the central server issued (thingwire tokens add)`,
    )
  }
}

/** Why the central server has refused a write permanently (contract §7.2, `errors`); texts are redacted (§1.1). */
export interface Refusal {
  readonly reason: string
  readonly message: string
  /** The invalid records, at most 20, if the server names them. */
  readonly errors?: readonly { readonly index: number; readonly reason: string; readonly message: string }[]
  /** Id of the refused write. */
  readonly id?: string
}

/** How long connecting may take, milliseconds. */
const connectTimeout = 30_000
/** How long the central server may take to send its date after SUBACK, or to answer an activation, milliseconds. */
const answerTimeout = 10_000
/** Maximum number of characters of a message and of a reason from the central server. Longer texts are cut off. */
const longestText = 1_000
const longestReason = 64
/** Maximum number of records that a Thingwire server names in one refusal. */
const mostErrors = 20
/** Smallest plausible limit on packet size, bytes. If the central server announces a smaller limit, that limit is ignored. */
const leastPacketSize = 1_024
const noMqtt = 'it does not answer as an MQTT server'

/**
 * One connection to the central server, as one thing there (contract §7.1: the username is the thing's token). Writes are sent one
 * at a time: otherwise, after a write with a refused record, later records could be stored before the rest of that write.
 */
export class Connection {
  readonly #client: MqttClient
  readonly #topic: string
  readonly #redactor: Redactor
  /** Limit announced by the central server, bytes. Older versions of Thingwire do not announce it. */
  #maxPacketSize = Number.POSITIVE_INFINITY
  #takesMeta = false
  /** Id of the pending write; `#refusal` is the refusal of that write. */
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
    client.once('close', () => this.close(problem))
  }

  /**
   * Connects, and checks that the server is a Thingwire server, since any MQTT broker would acknowledge writes.
   *
   * @param clientId the same for every connection of a thing, so that a new connection ends the previous one with its writes
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
      throw isOwn ? new TokenRefused('the token, which this server itself issued') : error
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** Whether the central server takes `$meta`. Older versions of Thingwire do not. */
  get takesMeta(): boolean {
    return this.#takesMeta
  }

  /** Maximum length of a payload that the central server accepts, bytes. */
  get longestPayload(): number {
    // The topic, its length (2 bytes) and the packet id (2 bytes) precede the payload (MQTT 3.1.1, 3.3.2).
    return this.#maxPacketSize - Buffer.byteLength(this.#topic) - 4
  }

  /**
   * Sends a write. Resolves when the central server has stored it durably or refused it permanently.
   *
   * @returns undefined if the write is stored
   * @throws LinkDown if the write may or may not be stored
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
    // The central server sends a refusal before PUBACK, on the same connection.
    return this.#refusal
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
        const held = (why: string) => reject(new ThingHeld(`it is not a Thingwire server: ${why}`))
        const [refusesErrors, refusesLimits, refusesDate] = refusedIn(error)
        if (refusesErrors || refusesDate) held('it refuses the topics of a thing')
        // The topic `limits` may be refused, because older versions of Thingwire do not have it.
        else if (!error || refusesLimits) timer = setTimeout(held, answerTimeout, 'it did not send its date')
      })
    })
    await greeted.finally(() => clearTimeout(timer))
  }

  #takeLimits(payload: Buffer): void {
    const { maxPacketSize, meta } = objectIn(payload)
    this.#takesMeta = meta === true
    // A limit of a few bytes would be a mistake, and every record would be dropped as too large.
    if (Number.isSafeInteger(maxPacketSize) && Number(maxPacketSize) >= leastPacketSize) {
      this.#maxPacketSize = Number(maxPacketSize)
    }
  }

  /** Ignores refusals of writes that other clients have sent as the same thing. */
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

  close(problem?: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const why = new LinkDown(problem ? faultText(problem, this.#redactor) : 'the connection was closed')
    for (const closed of this.#onClosed) closed(why)
    this.#onClosed.clear()
    end(this.#client)
  }
}

/** Connects without a credential, to check that an MQTT server answers. @throws LinkDown, ThingHeld */
export async function reach(target: Target): Promise<void> {
  const client = connectTo(target, {})
  try {
    await connected(client, target)
  } finally {
    end(client)
  }
}

/** Exchanges an activation code for a thing of the central server (contract §7.2). @throws LinkDown, ThingHeld */
export async function activate(target: Target, code: string): Promise<ActivatedThing> {
  const client = connectTo(target, {})
  let timer: NodeJS.Timeout | undefined
  try {
    await connected(client, target)
    return await new Promise<ActivatedThing>((resolve, reject) => {
      client.once('close', () => reject(new LinkDown('the connection was closed')))
      client.on('message', (_topic, payload) => {
        const answer = objectIn(payload)
        const [token, thingId] = [String(answer.thingToken), String(answer.thingId)]
        if (isToken(token) && isThingId(thingId)) resolve({ token, thingId })
        else reject(new ThingHeld('its answer to the activation contains no token'))
      })
      client.subscribe(`v2/activations/${code}/forward`, { qos: 1 }, error => {
        const held = (why: string) => reject(new ThingHeld(why))
        if (refusedIn(error)[0]) held('it refuses the activation code: it is unknown, used up or revoked')
        else if (!error) timer = setTimeout(held, answerTimeout, 'it did not answer the activation')
      })
    })
  } finally {
    clearTimeout(timer)
    end(client)
  }
}

function connectTo({ url, ca, stop }: Target, options: IClientOptions): MqttClient {
  const client = connect(url, {
    ...options,
    ...(ca && { ca }),
    protocolVersion: 4,
    clean: true,
    keepalive: 60,
    connectTimeout,
    // `Link` decides when to reconnect.
    reconnectPeriod: 0,
    resubscribe: false,
  })
  // A server that accepts connections and never answers would otherwise hold up the end of this server for `connectTimeout`.
  const abort = () => end(client)
  stop?.addEventListener('abort', abort)
  client.once('close', () => stop?.removeEventListener('abort', abort))
  return client
}

function connected(client: MqttClient, { redactor }: Target): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve())
    client.on('error', (error: Error & { code?: unknown }) => {
      // Return codes 4 and 5 of CONNACK mean a refusal; 3 means that the server is unavailable now.
      if (error.code === 4 || error.code === 5) reject(new TokenRefused())
      else if (isOfParser(error)) reject(new NoMqttServer(`${noMqtt}: is it the MQTT port?`))
      else reject(new LinkDown(faultText(error, redactor), { cause: error }))
    })
    client.once('close', () => reject(new LinkDown(noMqtt)))
  })
}

/** Whether the MQTT, TLS or HTTP parser failed. Unlike socket errors, MQTT parser errors and the CONNACK timeout have no code. */
function isOfParser({ code, message }: Error & { code?: unknown }): boolean {
  if (code === undefined) return message !== 'connack timeout'
  return String(code).startsWith('HPE_') || /wrong version number|packet length too long/.test(message)
}

/** Redacts an error that may quote the server, such as a name in its certificate. System errors (`syscall`) do not quote it. */
function faultText(error: Error & { code?: unknown; syscall?: unknown }, redactor: Redactor): string {
  const text = error.message || String(error.code)
  return error.syscall === undefined ? redactor.redact(text, longestText) : text
}

/** For each filter, whether SUBACK refuses it; empty if the error has another cause. */
function refusedIn(error: Error | null): readonly boolean[] {
  // If the connection ends before SUBACK, mqtt.js makes this error without a packet, although the type requires one.
  const packet =
    error instanceof ErrorWithSubackPacket ? (error.packet as typeof error.packet | undefined) : undefined
  return packet?.granted.map(code => code === 128) ?? []
}

function end(client: MqttClient): void {
  // Pending requests fail now; their errors are ignored.
  client.on('error', () => {})
  client.end(true)
}

/** @returns undefined if the payload is not a refusal of a write with an id */
function parseRefusal(payload: Buffer, redactor: Redactor): Refusal | undefined {
  const { id, errors, ...refusal } = objectIn(payload)
  const textsIn = ({ reason, message }: Readonly<Record<string, unknown>>) => ({
    reason: redactor.redact(typeof reason === 'string' ? reason : 'refused', longestReason),
    message: redactor.redact(typeof message === 'string' ? message : '', longestText),
  })
  const blamed = (Array.isArray(errors) ? errors.slice(0, mostErrors) : []).flatMap(error =>
    Number.isSafeInteger(error?.index) ? [{ index: error.index as number, ...textsIn(error) }] : [],
  )
  return typeof id === 'string' ? { ...textsIn(refusal), errors: blamed, id } : undefined
}

/** @returns an empty object if the payload is not a JSON object */
function objectIn(payload: Buffer): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(payload.toString()) }
  } catch {
    return {}
  }
}
