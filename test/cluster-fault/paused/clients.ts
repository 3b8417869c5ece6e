import { write } from '../../helpers/http-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { untilNothingWrong } from '../../rig/participant.ts'
import { PauseClient, type Place, type Steps } from './pause-client.ts'
import { Publisher, type PublisherSetup } from './publisher.ts'
import { checkValues, difference, LiveValues, settledWithin, storedIn } from './views.ts'

/**
 * A persistent session with one packet id: its PUBREL lies in the socket of the paused node, the other node gets it too, and
 * then a new write under that id, which is not released when the paused node goes on.
 */
class Releaser extends PauseClient {
  constructor(place: Place) {
    super(place, 'PUBREL', 'persistent')
  }

  async *steps(): Steps {
    const messageId = 1
    await this.begin()
    await this.#publish(1, { messageId })
    yield
    yield
    this.client.send({ cmd: 'pubrel', messageId })
    yield
    await this.move()
    this.takenOver()
    await this.client.release(messageId)
    await this.#publish(2, { messageId })
    yield
    const wrong = await this.checkFirst(`pubcomp ${messageId}`)
    // The node that was paused has to know by the store that it has the write.
    await this.connect(this.round.pausing)
    await this.#publish(2, { messageId, dup: true })
    await this.client.release(messageId)
    await this.#publish(3, { messageId })
    await this.client.release(messageId)
    return [...wrong, ...(await checkValues(this, 'v'))]
  }

  /** Until PUBREC. */
  async #publish(value: number, options: { readonly messageId: number; readonly dup?: boolean }) {
    const body = { values: [{ key: 'v', value }] }
    if (!options.dup) this.sent.send(String(value), 'once')
    await this.client.publishUntilPubrec(`things/${this.thing.thingId}/write`, body, options)
    this.sent.acked(String(value))
  }
}

/**
 * A persistent session whose subscriptions and acks change at the other node. Resources: `a` is subscribed throughout, `gone`
 * until the other node has it, `b` since then, and `late` with a packet that the paused node has not read.
 */
class Subscriber extends PauseClient {
  constructor(place: Place) {
    super(place, 'session', 'persistent')
  }

  async *steps(): Steps {
    const { round } = this
    await this.begin({ acknowledges: false })
    await this.client.subscribeAll([this.#topic('a'), this.#topic('gone')])
    // Delivered, and not acknowledged.
    await this.#write('a', 1)
    await this.#delivered('a', 1)
    yield
    yield
    this.client.send(
      { cmd: 'subscribe', messageId: 100, subscriptions: [{ topic: this.#topic('late'), qos: 1 }] },
      { cmd: 'unsubscribe', messageId: 101, unsubscriptions: [this.#topic('a')] },
    )
    yield
    await this.move()
    this.takenOver()
    await this.client.subscribe(this.#topic('b'))
    await this.client.unsubscribe(this.#topic('gone'))
    if (this.isTakenOver) await this.#delivered('a', 1)
    else {
      // The packets to the first node may have been executed before the other one had the session.
      await this.client.subscribe(this.#topic('a'))
      await this.client.unsubscribe(this.#topic('late'))
    }
    await this.#write('a', 2)
    await this.#delivered('a', 2)
    // The server has read its acks.
    await this.client.ping()
    yield
    const wrong = await this.checkFirst()
    await this.client.disconnect()
    for (const key of ['late', 'gone', 'b', 'a']) await this.#write(key, 3)
    await this.connect(round.pausing)
    const { client } = this
    const isPresent = client.connack.sessionPresent
    // It comes last, whatever is subscribed.
    await client.subscribe(this.#topic('end'))
    await this.#write('end', 1)
    await this.#delivered('end', 1)
    // Of its newest subscriptions, and nothing that was acknowledged.
    const expected = 'b 3, a 3, end 1'
    const got = client.received
      .flatMap(packet => (packet.cmd === 'publish' && !packet.retain ? [textOf(packet)] : []))
      .join(', ')
    return [
      ...wrong,
      ...(isPresent ? [] : ['the session is not present']),
      ...(got === expected ? [] : [`the session received ${got}, expected ${expected}`]),
    ]
  }

  #topic(key: string): string {
    return `things/${this.thing.thingId}/values/${key}`
  }

  /** Through the other node. */
  async #write(key: string, value: number): Promise<void> {
    const { status } = await write(this.round.other, this.thing, { values: [{ key, value }] })
    if (status !== 201) throw new Error(`${key} ${value}: ${status}`)
  }

  /** Resolves when it has come over the latest connection. */
  async #delivered(key: string, value: number): Promise<void> {
    await this.client.next(
      packet => packet.cmd === 'publish' && !packet.retain && textOf(packet) === `${key} ${value}`,
    )
  }
}

function textOf({ topic, payload }: { readonly topic: string; readonly payload: string | Buffer }): string {
  const { value } = JSON.parse(payload.toString()) as { value: unknown }
  return `${topic.slice(topic.lastIndexOf('/') + 1)} ${value}`
}

/** For a will of a client that is lost, milliseconds: its node may have to count as dead first. */
const writtenWithin = 60_000

/** Will Delay of version 5, seconds: over before the end of a round, or behind it. */
const delays = { 'is lost': 3, moves: 90, 'takes leave': 90 } as const

/** A client that writes `online` whenever it has connected, and whose will is `offline`. */
class Testator extends PauseClient {
  readonly #course: keyof typeof delays
  /** It goes on with its session before its will is due. */
  readonly #isBack: boolean

  constructor(place: Place, course: keyof typeof delays, session: 'clean' | 'persistent') {
    super(place, `will, ${session}, ${course}`, session)
    this.#course = course
    this.#isBack = place.version === 5 && session === 'persistent' && course === 'moves'
  }

  async *steps(): Steps {
    const { round, sent } = this
    const moves = this.#course === 'moves'
    await this.begin(this.#willOf(1))
    await this.#writeOnline(1)
    // From now on it may be lost.
    sent.send('offline 1', 'once')
    yield
    yield
    if (this.#course === 'takes leave') this.client.send({ cmd: 'disconnect' })
    if (this.#course === 'is lost') this.client.stream.destroy()
    yield
    let moved = 1
    if (moves) {
      moved = await this.move(this.#willOf(2))
      this.takenOver()
      // Whatever a dead node leaves is dropped, or was written before the client was back (contract §7.8).
      if (this.#isBack) sent.allow('offline 1', 'never')
      else if (round.countsAsDead !== false) sent.allow('offline 1', 'at most once')
      // It was written before the client had its CONNACK.
      else sent.acked('offline 1')
      await this.#writeOnline(2)
    }
    yield
    const wrong = moves ? [...(await this.checkFirst())] : []
    if (this.#course === 'takes leave') {
      await this.client.untilClosed()
      // The node may have counted as dead before it read that the client has gone.
      sent.allow('offline 1', round.plan.pause < 15_000 ? 'never' : 'at most once')
    }
    if (this.#course === 'is lost') wrong.push(...(await this.#untilWritten('offline 1')))
    const attempts = await this.connect(round.pausing, this.#willOf(3))
    if (moves && !this.#isBack) {
      sent.send('offline 2', moved > 1 ? 'at least once' : 'once')
      sent.acked('offline 2')
    }
    if (attempts > 1 && !this.#isBack) sent.send('offline 3', 'at most once')
    await this.#writeOnline(3)
    return [...wrong, ...(await checkValues(this, 'state'))]
  }

  #willOf(number: number) {
    const payload = { values: [{ key: 'state', value: `offline ${number}` }] }
    const delay = { properties: { willDelayInterval: delays[this.#course] } }
    const topic = `things/${this.thing.thingId}/write`
    return { will: { topic, payload, qos: 1, ...(this.version === 5 && delay) } } as const
  }

  async #writeOnline(number: number): Promise<void> {
    const value = `online ${number}`
    const body = { values: [{ key: 'state', value }] }
    this.sent.send(value, 'once')
    await this.client.publish(`things/${this.thing.thingId}/write`, body)
    this.sent.acked(value)
  }

  #untilWritten(value: string): Promise<readonly string[]> {
    return untilNothingWrong(async () => {
      const stored = await storedIn(this.round.other, this.thing, 'state')
      if (!stored.includes(value))
        return [`${value} of ${this.thing.thingId} is not written: stored ${stored.join(', ')}`]
      this.sent.acked(value)
      return []
    }, writtenWithin)
  }
}

/** A lamp that is switched over HTTP through both nodes at nearly the same time, and then through one after the other. */
class Lamp extends PauseClient {
  /** At the paused node. */
  #staying: LiveValues | undefined
  #number = 0

  constructor(place: Place) {
    super(place, 'lamp over HTTP', 'clean')
  }

  async *steps(): Steps {
    const { round, thing } = this
    const { pausing, other } = round
    const staying = await LiveValues.at(pausing, thing, this.version)
    this.#staying = staying
    await this.#switchThroughBoth()
    yield
    const answers: Promise<unknown>[] = [this.#switch(pausing), this.#switch(other)]
    yield
    answers.push(this.#switch(pausing))
    // It comes to both nodes under one id.
    const twice = this.#next()
    answers.push(this.#post(pausing, twice, 'twice'))
    yield
    await this.#post(other, twice, 'twice')
    for (let count = 0; count < 3; count++) await this.#switch(other)
    yield
    await Promise.all(answers)
    await this.#switchThroughBoth()
    const wrong = await checkValues(this, 'lamp')
    const atPaused = await untilNothingWrong(async () => {
      const stored = await storedIn(other, thing, 'lamp')
      const live = staying.of('lamp').map(String)
      const wanted = staying.isClosed ? stored.slice(0, live.length) : stored
      return difference(['stored', wanted], ['delivered live at the node that was paused', live])
    }, settledWithin)
    return [...wrong, ...atPaused]
  }

  override async end(): Promise<void> {
    await super.end()
    await this.#staying?.end()
  }

  async #switchThroughBoth(): Promise<void> {
    const { pausing, other } = this.round
    for (let count = 0; count < 10; count++) await Promise.all([this.#switch(pausing), this.#switch(other)])
    for (const server of [pausing, other, pausing, other]) await this.#switch(server)
  }

  /** Resolves when it is answered. */
  async #switch(server: ServerProcess): Promise<void> {
    await this.#post(server, this.#next())
  }

  #next(): string {
    const value = `${this.#number % 2 === 0 ? 'on' : 'off'} ${++this.#number}`
    // Nobody knows of one that is not acknowledged.
    this.sent.send(value, 'at most once', value)
    return value
  }

  async #post(server: ServerProcess, value: string, id?: string): Promise<void> {
    const body = { values: [{ key: 'lamp', value }], ...(id !== undefined && { id }) }
    const answer = await write(server, this.thing, body).catch(() => undefined)
    if (answer?.status !== 201) return
    this.sent.acked(value)
    this.sent.allow(value, 'once')
  }
}

/** Make one of each kind. */
export const kinds: readonly ((place: Place) => PauseClient)[] = [
  ...([0, 1, 2] as const).flatMap(qos =>
    (['clean', 'persistent', 'anonymous'] as const).map(session => publisher({ qos, session })),
  ),
  publisher({ qos: 1, session: 'clean', isIdle: true }),
  publisher({ qos: 2, session: 'persistent', isIdle: true }),
  publisher({ qos: 1, session: 'clean', stays: true }),
  publisher({ qos: 2, session: 'persistent', stays: true }),
  publisher({ qos: 2, session: 'persistent', isMagic: true }),
  publisher({ qos: 2, session: 'persistent', isMagic: true, isIdle: true }),
  publisher({ qos: 2, session: 'persistent', isMagic: true, stays: true }),
  place => new Releaser(place),
  place => new Subscriber(place),
  place => new Testator(place, 'moves', 'clean'),
  place => new Testator(place, 'moves', 'persistent'),
  place => new Testator(place, 'is lost', 'clean'),
  place => new Testator(place, 'is lost', 'persistent'),
  place => new Testator(place, 'takes leave', 'clean'),
  place => new Lamp(place),
]

function publisher(setup: PublisherSetup): (place: Place) => PauseClient {
  return place => new Publisher(place, setup)
}
