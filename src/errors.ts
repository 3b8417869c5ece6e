/**
 * The catalogue of every error, whichever door the request used.
 * `docs/reference/errors.md` lists the same rows; a test compares them.
 */

/**
 * The effect of the error on a publish or a CONNECT (contract §4 and §7):
 * `report` = the publish is acked, dropped and reported on `things/<ref>/errors`; `close` = the connection is closed without an
 * ack; `connack 3`, `connack 4`, `connack 5` = the CONNECT is refused with that return code; `none` = the error
 * cannot arise over MQTT.
 */
export type MqttEffect = 'report' | 'close' | 'connack 3' | 'connack 4' | 'connack 5' | 'none'

interface CatalogueEntry {
  /** HTTP status (contract §6, status codes). */
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 426 | 429 | 431 | 500 | 503
  /** Whether the same request can succeed later without being changed. */
  readonly retryable: boolean
  readonly mqtt: MqttEffect
  /**
   * Reason code of MQTT 5 (MQTT5-2.4) in the ack of a publish, or in the DISCONNECT or CONNACK if the effect is `close` or
   * `connack`. A publish is refused in its ack if the error is not retryable, even if the effect is not `report`.
   */
  readonly mqtt5: number | undefined
  /** The meaning of the error, for the documentation. */
  readonly text: string
}

const refusedContent = { status: 400, retryable: false, mqtt: 'report', mqtt5: 0x83 } as const
/** Only on the list of a thing's refused writes: no packet carries it. */
const onList = { ...refusedContent, mqtt5: undefined } as const
const refusedFormat = { ...refusedContent, mqtt5: 0x99 } as const
const tooMuch = { ...refusedContent, mqtt5: 0x97 } as const
const badRequest = { status: 400, retryable: false, mqtt: 'none', mqtt5: undefined } as const
const badCredential = { status: 401, retryable: false, mqtt: 'connack 4', mqtt5: 0x87 } as const
const notFound = { ...badRequest, status: 404 } as const
const overLimit = { status: 429, retryable: true, mqtt: 'close', mqtt5: 0x96 } as const
/** A bound that waiting does not lift. */
const noRoom = { status: 429, retryable: false, mqtt: 'report', mqtt5: 0x97 } as const
const storeAway = { status: 503, retryable: true, mqtt: 'close', mqtt5: 0x89 } as const

export const catalogue = {
  // The write body as a whole
  invalid_utf8: { ...refusedFormat, text: 'The body is not UTF-8.' },
  invalid_json: { ...refusedFormat, text: 'The body is not JSON.' },
  invalid_body: {
    ...refusedFormat,
    text: 'The body is not what this request accepts, such as a JSON object, or the request accepts none.',
  },
  invalid_lines: { ...refusedFormat, text: 'A line of the body is not line protocol of InfluxDB.' },
  invalid_values: { ...refusedContent, text: '`values` is missing, empty or not an array.' },
  too_many_records: { ...tooMuch, text: '`values` holds more records than one write may carry.' },
  unknown_format: {
    ...refusedFormat,
    status: 404,
    text: 'The address of the write names no format that the server reads.',
  },
  invalid_flag: { ...refusedContent, text: '`store`, `broadcast` or `partial` is not true or false.' },
  invalid_write_id: {
    ...refusedContent,
    text: 'The write id is not 1 to 64 printable ASCII characters, or the write has two different ones.',
  },
  not_a_write_topic: {
    ...refusedContent,
    mqtt5: 0x90,
    text: 'The client may not publish on this topic. Readings go to `things/<ref>/write`.',
  },
  not_an_answer_topic: {
    ...refusedContent,
    mqtt5: 0x90,
    text: 'The Response Topic of a write is not `things/<ref>/answers/…` of the same thing.',
  },
  unread_message: {
    ...onList,
    text: 'A format of the source cannot read a message or a part of it. The message was relayed, and the rest was taken.',
  },
  subscription_refused: {
    ...onList,
    text: 'A filter of a SUBSCRIBE got SUBACK 128: the client may not read there.',
  },
  connect_refused: {
    ...onList,
    text: 'A CONNECT was refused although its credential names the thing.',
  },
  connection_closed: { ...onList, text: 'The server closed an MQTT connection of the thing.' },
  client_id_shared: {
    ...onList,
    text: 'Several MQTT connections with one client id keep disconnecting each other.',
  },
  forbidden_member: {
    ...refusedContent,
    text: 'An object member or a part of a settings path is named `__proto__`, `constructor` or `prototype`.',
  },

  // One field of one record
  invalid_record: { ...refusedContent, text: 'An item of `values` is not an object.' },
  invalid_key: {
    ...refusedContent,
    text: 'The key is not 1 to 128 letters, digits, `.`, `-` or `_`, or it is `.` or `..`.',
  },
  unknown_magic_resource: { ...refusedContent, text: 'The key starts with `$` but names no magic resource.' },
  invalid_value: {
    ...refusedContent,
    text: 'The value is missing, not something that JSON can represent, or null without `geo`.',
  },
  number_out_of_range: { ...refusedContent, text: 'A number is too large for a 64-bit float.' },
  value_too_large: { ...tooMuch, text: 'The value is larger than 64 KiB as JSON.' },
  value_too_deep: { ...refusedContent, text: 'The value is nested deeper than 32 levels.' },
  invalid_geo: { ...refusedContent, text: '`geo` is not `{lat, long}` in degrees.' },
  invalid_datetime: {
    ...refusedContent,
    text: '`datetime` is not a real time in an accepted form.',
  },
  datetime_out_of_range: {
    ...refusedContent,
    text: '`datetime` is before 1970, or more than 24 hours ahead of the server.',
  },
  invalid_position: { ...refusedContent, text: 'The value of `$geo` is not a position in degrees.' },
  invalid_settings: {
    ...refusedContent,
    text: 'The value of `$settings` is not an object, or it is over a limit.',
  },
  invalid_settings_path: {
    ...refusedContent,
    text: 'A part of the `$settings` path is not 1 to 64 letters, digits, `_` or `-`.',
  },
  settings_too_large: {
    ...tooMuch,
    text: 'The settings document would be over 64 KiB. The check comes after the ack: see the refused writes.',
  },
  invalid_meta: {
    ...refusedContent,
    text: 'The value of `$meta` is not an object of descriptions, or a member of a description is unknown or has a wrong value.',
  },
  meta_too_large: {
    ...tooMuch,
    text: 'The descriptions would be over 64 KiB. The check comes after the ack: see the refused writes.',
  },
  invalid_magic_value: {
    ...refusedContent,
    text: 'A magic resource that a host program adds refuses the value.',
  },

  // The request, apart from its body
  bad_request: { ...badRequest, text: 'The request is not valid HTTP.' },
  invalid_content_encoding: { ...badRequest, text: 'The body is not valid gzip.' },
  invalid_query: {
    ...badRequest,
    text: 'A query parameter is unknown, has an invalid value, or needs another one.',
  },
  invalid_limit: { ...badRequest, text: '`limit` is not a positive integer.' },
  invalid_cursor: { ...badRequest, text: '`cursor` does not come from an answer of this server.' },
  invalid_range: { ...badRequest, text: '`startDate` or `endDate` is not a datetime.' },
  invalid_keys: { ...badRequest, text: '`keys` is not 1 to 20 keys of resources, separated by commas.' },
  invalid_aggregate: { ...badRequest, text: '`aggregate` is missing or names an unknown function.' },
  invalid_interval: {
    ...badRequest,
    text: '`interval` is not a whole number followed by ms, s, m, h, d or mo.',
  },
  invalid_points: {
    ...badRequest,
    text: '`points` is not a positive integer, or it comes with `aggregate`, `interval` or `limit`.',
  },
  invalid_time_zone: { ...badRequest, text: '`tz` is not a name of the IANA time zone database.' },
  missing_thing_token: { ...badRequest, text: 'The query parameter `thingToken` is missing.' },
  too_many_tokens: { ...badRequest, text: 'The thing already has ten tokens.' },
  too_many_sources: { ...badRequest, text: 'There are already 1,000 sources.' },
  topics_overlap: {
    ...badRequest,
    status: 409,
    text: 'The topics of the source overlap those of another one.',
  },
  too_many_sessions: { ...badRequest, text: 'The thing already has 100 live sessions.' },
  request_timeout: { ...badRequest, status: 408, text: 'The request did not arrive in full in time.' },
  head_too_large: { ...badRequest, status: 431, text: 'The request line and the headers are too large.' },
  websocket_elsewhere: {
    ...badRequest,
    status: 426,
    text: 'MQTT over WebSocket is at `/mqtt`, with an upgrade.',
  },
  body_too_large: {
    status: 413,
    retryable: false,
    mqtt: 'close',
    mqtt5: 0x95,
    text: 'The body is over `bodyLimit`.',
  },
  unsupported_media_type: {
    ...refusedFormat,
    status: 415,
    text: 'The Content-Type names a binary format.',
  },
  unsupported_encoding: {
    ...badRequest,
    status: 415,
    text: 'The Content-Encoding is neither gzip nor identity.',
  },

  // Credentials
  unknown_thing_token: { ...badCredential, text: 'No thing has this token.' },
  invalid_session: { ...badCredential, text: 'The credential is unknown, revoked or expired.' },
  missing_credential: { ...badCredential, mqtt: 'close', text: 'A credential is needed.' },
  unknown_activation_code: {
    ...badCredential,
    mqtt: 'report',
    text: 'The activation code is unknown or used up.',
  },
  forbidden: { ...badCredential, status: 403, mqtt: 'close', text: 'The credential does not allow this.' },

  // Limits
  write_rate_exceeded: {
    ...overLimit,
    text: 'The thing writes more often than `writesPerSecond` allows.',
  },
  record_rate_exceeded: {
    ...overLimit,
    text: 'The thing writes more records than `recordsPerSecond` allows.',
  },
  too_many_waiting: {
    ...overLimit,
    mqtt5: 0x89,
    text: 'The server has too many live messages waiting to be sent.',
  },
  too_many_resources: {
    ...noRoom,
    text: 'The thing already has as many resources as `resourcesPerThing` allows.',
  },
  too_many_things: { ...noRoom, text: 'The source makes no more things: see contract §7.12.' },
  too_many_retained: { ...noRoom, text: 'There are as many retained messages as the server keeps.' },
  too_many_persistent_sessions: {
    ...noRoom,
    mqtt: 'connack 5',
    text: 'The thing, session or admin has 1,000 persistent MQTT sessions already. End one: connect its client with a clean session.',
  },
  too_many_streams: {
    ...overLimit,
    mqtt: 'none',
    mqtt5: undefined,
    text: 'The thing already has as many open streams as `streamsPerThing` allows.',
  },
  too_many_connections: {
    ...overLimit,
    mqtt5: 0x97,
    text: 'The address already has as many open connections as `connectionsPerAddress` allows.',
  },
  too_many_failed_credentials: {
    ...overLimit,
    mqtt: 'connack 5',
    mqtt5: 0x9f,
    text: 'The address has sent too many invalid credentials. A valid one is accepted at any time.',
  },

  // Not found
  not_found: { ...notFound, text: 'There is nothing at this path: a write is a POST to /v2/things/{token}.' },
  unknown_thing: { ...notFound, text: 'No thing has this id.' },
  unknown_resource: { ...notFound, text: 'Nothing was ever written to this key.' },
  method_not_allowed: {
    ...badRequest,
    status: 405,
    text: 'The path exists, but not with this method: a write is a POST to /v2/things/{token}.',
  },

  // The service
  store_timeout: { ...storeAway, text: 'The store did not commit the write in time.' },
  store_unavailable: { ...storeAway, text: 'The store cannot be reached or has failed.' },
  store_full: { ...storeAway, mqtt5: 0x97, text: 'The store has too little room for more writes.' },
  draining: { ...storeAway, mqtt: 'connack 3', mqtt5: 0x88, text: 'The server is stopping.' },
  service_closed: { ...badRequest, text: 'The host program has closed the service before this call.' },
  internal_error: {
    status: 500,
    retryable: true,
    mqtt: 'close',
    mqtt5: 0x80,
    text: 'The server failed: it has a defect.',
  },
} as const satisfies Record<string, CatalogueEntry>

/** A stable code of the catalogue. */
export type Reason = keyof typeof catalogue

/** One refused field of one record of a write. */
export interface FieldError {
  /** Place of the record in `values`, from 0. */
  readonly index: number
  /** Dotted path inside the record, such as `geo.lat`. */
  readonly field: string
  readonly reason: Reason
  readonly message: string
}

/** Every error the service answers with; match on `reason`, never on `message`. */
export class ThingwireError extends Error {
  readonly reason: Reason
  /** For a refused write: one refused field of each bad record, for at most 20 records. */
  readonly errors: readonly FieldError[] | undefined
  /** The message without the sender's own texts, for senders of MQTT 5. */
  readonly toSender: string
  /** Seconds to wait before a retry, a whole number. If undefined, the door uses its default for errors that can be retried. */
  readonly retryAfter: number | undefined

  constructor(reason: Reason, message: string = catalogue[reason].text, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ThingwireError'
    this.reason = reason
    this.errors = details.errors
    this.toSender = details.toSender ?? message
    this.retryAfter = details.retryAfter
  }

  /** HTTP status of the reason. */
  get status(): number {
    return catalogue[this.reason].status
  }

  /** Whether the same request can succeed later without being changed. */
  get retryable(): boolean {
    return catalogue[this.reason].retryable
  }
}

interface ErrorDetails {
  readonly retryAfter?: number
  readonly errors?: readonly FieldError[]
  readonly cause?: unknown
  /** Default: `message`. */
  readonly toSender?: string
}
