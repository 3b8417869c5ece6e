import type { WebSocket } from 'ws'

/** Fields of a WebSocket of ws 8 that are not documented API: `test/server/http/unfinished-message.test.ts` holds what is relied on. */
interface ReceiverInternals {
  /** 0: between two frames. */
  readonly _state: number
  /** 0: between two messages. */
  readonly _fragmented: number
  /** Bytes received that no frame was made of yet. */
  readonly _bufferedBytes: number
  /** Bytes of the message in frames that are whole. */
  readonly _messageLength: number
}

/** Bytes of the frame or message that is begun; undefined if none is. */
export function unfinishedBytesOf(webSocket: WebSocket): number | undefined {
  const { _receiver: receiver } = webSocket as unknown as { _receiver: ReceiverInternals }
  const { _state, _fragmented, _bufferedBytes, _messageLength } = receiver
  const isBegun = _state !== 0 || _fragmented !== 0 || _bufferedBytes > 0
  return isBegun ? _messageLength + _bufferedBytes : undefined
}
