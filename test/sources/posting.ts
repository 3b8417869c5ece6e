import { expect } from 'vitest'
import type { SourceOptions } from '../../src/access/access.ts'
import { formatDatetime } from '../../src/core/record/datetime.ts'
import { DoorService } from '../mqtt/door-service.ts'

interface Posted {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

interface StoredRecord {
  readonly value: unknown
  readonly datetime: string
}

/** A source of a server, to which programs post over HTTP. */
export class PostedSource {
  readonly service: DoorService
  readonly sourceId: string
  readonly token: string

  private constructor(service: DoorService, sourceId: string, token: string) {
    this.service = service
    this.sourceId = sourceId
    this.token = token
  }

  /** @param service default: a new one */
  static async open(formats: readonly string[], service?: DoorService): Promise<PostedSource> {
    const opened = service ?? (await DoorService.start())
    const terms: SourceOptions = { name: 'posts', formats }
    const { sourceId, sourceToken } = await opened.things.sources.create(terms)
    return new PostedSource(opened, sourceId, sourceToken)
  }

  async post({ path, headers = {}, body = '' }: Posted) {
    const response = await fetch(this.service.url + path, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }

  /** The records of each device by key, oldest first. */
  async records(): Promise<Record<string, Record<string, readonly StoredRecord[]>>> {
    const { registry, records } = this.service.things
    const { things } = await registry.list({ limit: 1000, sourceId: this.sourceId })
    const all: Record<string, Record<string, readonly StoredRecord[]>> = {}
    for (const { thingId, source } of things) {
      const ofDevice: Record<string, readonly StoredRecord[]> = {}
      for (const key of await records.resources(thingId)) {
        const page = await records.read(thingId, key, { order: 'asc', limit: 1000 })
        const found = page?.records ?? []
        ofDevice[key] = found.map(({ value, datetime }) => ({
          value: JSON.parse(value),
          datetime: formatDatetime(datetime),
        }))
      }
      all[source?.device ?? ''] = ofDevice
    }
    return all
  }

  /** The values of a device by key, oldest first. */
  async values(device: string): Promise<Record<string, readonly unknown[]>> {
    const { [device]: records = {} } = await this.records()
    return Object.fromEntries(
      Object.entries(records).map(([key, all]) => [key, all.map(({ value }) => value)]),
    )
  }

  /** What is on the list of the source, newest first. */
  async listed(): Promise<readonly string[]> {
    const listed = await this.service.things.refused.list(this.sourceId, 100)
    expect(listed.filter(({ door }) => door !== 'http')).toEqual([])
    return listed.map(({ reason, message }) => `${reason}: ${message}`)
  }
}

/** The value of an Authorization header. */
export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
