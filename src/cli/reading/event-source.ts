import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, type ServerClient, UnreachableError } from '../client/client.ts'

interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

interface Watcher {
  /** Called when the stream is open; `isAgain` is true if it was lost before. */
  readonly onOpen: (isAgain: boolean) => void
  /** Called when the stream is lost or temporarily refused. `seconds` is the time until the next attempt. */
  readonly onLost: (why: string, seconds: number) => void
}

const keepAlive = 10_000
/** Silence after which the connection counts as lost, milliseconds. Three keep-alive comments are missing by then. */
const silence = 35_000
const longestPause = 30

/**
 * Yields the events of a stream of server-sent events (contract §8). If the connection is lost, connects again with the id of the
 * last event, so that the server sends the missed events.
 *
 * @throws CommandError if the first connection fails, or if the server refuses the stream for good
 */
export async function* eventsOf(
  client: ServerClient,
  path: string,
  watcher: Watcher,
): AsyncGenerator<ServerSentEvent> {
  let lastId: string | undefined
  let pause = 1
  for (let isAgain = false; ; isAgain = true) {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), silence)
    try {
      const resume = lastId === undefined ? {} : { 'last-event-id': lastId }
      const headers = { accept: 'text/event-stream', ...resume }
      const response = await client.open(`${path}?keepAlive=${keepAlive}`, { headers, signal: abort.signal })
      watcher.onOpen(isAgain)
      pause = 1
      for await (const { id, event, data } of parsed(response, () => timer.refresh())) {
        lastId = id ?? lastId
        if (data !== '') yield { event, data }
      }
      watcher.onLost('the server ended the stream', pause)
    } catch (error) {
      if (error instanceof RefusedError && error.retryAfter === undefined) throw error
      if (!isAgain && error instanceof UnreachableError) throw error
      watcher.onLost(abort.signal.aborted ? 'the connection went silent' : (error as Error).message, pause)
    } finally {
      clearTimeout(timer)
      abort.abort()
    }
    await delay(pause * 1000)
    pause = Math.min(pause * 2, longestPause)
  }
}

/**
 * Parses the stream. eventsource-parser would drop an id without data, but the server sends such ids to say where to resume.
 *
 * @param onBytes called for every chunk that arrives, even if it only contains comments
 */
async function* parsed(response: Response, onBytes: () => void) {
  const decoder = new TextDecoder()
  let open = ''
  for await (const chunk of response.body ?? []) {
    onBytes()
    const blocks = (open + decoder.decode(chunk, { stream: true })).split('\n\n')
    open = blocks.pop() ?? ''
    for (const block of blocks) yield parseBlock(block)
  }
}

function parseBlock(block: string) {
  let [id, event, data]: [string | undefined, string, string] = [undefined, 'message', '']
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? []
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data += value
  }
  return { id, event, data }
}
