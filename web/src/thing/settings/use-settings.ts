import { useEffect, useRef, useState } from 'preact/hooks'
import type { Api } from '../../api/http.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { type Document, isObject, mergePatch } from './document.ts'
import { changesOf, type Draft, draftOf, follow } from './draft.ts'

export type SaveStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'saving' }
  | { readonly kind: 'saved' }
  | { readonly kind: 'failed'; readonly message: string }

interface Sent {
  readonly id: string
  readonly changes: Document
  /** The stored document when the changes were sent. */
  readonly stored: Document
}

/** The thing's settings document, updated live, with the user's changes. */
export function useSettings({ api, live, principal }: SignedIn, thingId: string) {
  const [draft, setDraft] = useState<Draft>()
  const [status, setStatus] = useState<SaveStatus>({ kind: 'idle' })
  const sent = useRef<Sent>(undefined)
  const mayHearRefusals = principal.kind !== 'session' || principal.access === 'write'

  useEffect(() => {
    const abort = new AbortController()
    let isLive = false
    const onDocument = (document: unknown): void => {
      const stored = isObject(document) ? document : {}
      setDraft(before => (before ? follow(before, stored) : draftOf(stored)))
    }
    const unsubscribes = [
      live.subscribe(`things/${thingId}/values/$settings`, (_topic, payload) => {
        isLive = true
        onDocument((payload as { readonly value?: unknown } | undefined)?.value)
      }),
    ]
    // A refusal may come after the answer 201, for example if the document would be too large.
    if (mayHearRefusals) {
      unsubscribes.push(
        live.subscribe(`things/${thingId}/errors`, (_topic, payload) => {
          const { id, message } = payload as { readonly id?: string; readonly message: string }
          if (!sent.current || id !== sent.current.id) return
          const { stored, changes } = sent.current
          sent.current = undefined
          setDraft({ stored, edited: mergePatch(stored, changes), contested: [] })
          setStatus({ kind: 'failed', message: `Not saved: ${message}` })
        }),
      )
    }
    readSettings(api, thingId, abort.signal).then(
      document => {
        // A document that arrived live in the meantime is newer.
        if (!isLive) onDocument(document)
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        setStatus({ kind: 'failed', message: `The settings could not be read: ${messageOf(error)}` })
      },
    )
    return () => {
      abort.abort()
      for (const unsubscribe of unsubscribes) unsubscribe()
    }
  }, [api, live, thingId, mayHearRefusals])

  async function save(): Promise<void> {
    if (!draft) return
    const changes = changesOf(draft)
    const id = `dashboard-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
    sent.current = { id, changes, stored: draft.stored }
    setStatus({ kind: 'saving' })
    try {
      await api.send('POST', `/v2/things/${thingId}`, { id, values: [{ key: '$settings', value: changes }] })
      // If the changes were refused in the meantime, they are unsaved changes again.
      if (sent.current?.id !== id) return
      setDraft(before => before && follow(before, mergePatch(before.stored, changes)))
      setStatus({ kind: 'saved' })
    } catch (error) {
      sent.current = undefined
      setStatus({ kind: 'failed', message: `Not saved: ${messageOf(error)}` })
    }
  }

  return {
    draft,
    status,
    save,
    change(how: (before: Draft) => Draft): void {
      setDraft(before => before && how(before))
      setStatus({ kind: 'idle' })
    },
  }
}

/** Reads the document only if it exists, because browsers log every 404 in the console. */
async function readSettings(api: Api, thingId: string, signal: AbortSignal): Promise<unknown> {
  const path = `/v2/things/${thingId}/resources`
  const { resources } = await api.get<{ readonly resources: readonly string[] }>(path, signal)
  if (!resources.includes('$settings')) return undefined
  const [record] = await api.get<readonly { readonly value: unknown }[]>(`${path}/$settings`, signal)
  return record?.value
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
